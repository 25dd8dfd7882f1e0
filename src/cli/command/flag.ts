import { type Setting, settings } from '../../config/setting.ts'

/**
 * What a flag of each kind holds. `texts` is given once for each text, `words` takes commas as well; `time` is a day, a
 * time or a duration, which a command gets as the API takes it.
 */
export interface Kinds {
  text: string
  time: string
  number: number
  switch: boolean
  texts: readonly string[]
  words: readonly string[]
  json: unknown
}

/**
 * What a time is good for, which decides what a duration is: `past` is that long ago, `future` that far ahead, `start`
 * and `end` bound a period (`end` with its whole day), and `ago` takes nothing but a duration.
 */
export type TimeUse = 'past' | 'future' | 'start' | 'end' | 'ago'

/** One flag of a command. */
export interface Flag {
  /** In kebab-case, without dashes. */
  readonly name: string
  /** One letter, which goes with one dash. */
  readonly short?: string
  /** Other names that are accepted, but not listed, as they are typed: `--former`, `-f`. */
  readonly unlisted?: readonly string[]
  readonly kind: keyof Kinds
  /** How its value is shown in help; by its kind unless told otherwise. */
  readonly placeholder?: string
  readonly summary: string
  /** What a time is good for; `past` unless told otherwise. */
  readonly time?: TimeUse
  /** True for a time that there may be none of: `never` is null. */
  readonly never?: true
  /** True for a number that there may be none of: `none` is null. */
  readonly none?: true
  /** A switch that `--no-…` switches off: what it stands for may be on by default. */
  readonly negatable?: true
  /** The values that the contract knows. Checked here only for the local academy: other platforms may have others. */
  readonly choices?: readonly string[]
  /** The summary names the choices: help does not list them again. */
  readonly choicesTold?: true
  /** Asked for on a terminal, refused without one. */
  readonly required?: true
  /** Asked for where something else is; an empty answer is the default. */
  readonly asked?: true
  /** What holds where it is not given, in words or as a value. */
  readonly default?: string
}

/** A flag as it is declared for a field: its name comes from the field unless given. */
export type FieldFlag<Kind extends keyof Kinds = keyof Kinds> = Omit<Flag, 'kind' | 'name' | 'negatable'> & {
  readonly name?: string
} & (Kind extends 'text' ? { readonly kind?: 'text' } : { readonly kind: Kind })

type KindOf<Value> = unknown extends Value
  ? keyof Kinds
  : Value extends 'true' | 'false' | boolean
    ? 'switch'
    : Value extends string
      ? 'text' | 'time'
      : Value extends number
        ? 'number'
        : Value extends readonly string[]
          ? 'texts' | 'words'
          : 'json'

type Path<Value, Before extends string = ''> = {
  [Name in keyof Value & string]: NonNullable<Value[Name]> extends readonly unknown[]
    ? `${Before}${Name}`
    : NonNullable<Value[Name]> extends object
      ? Path<NonNullable<Value[Name]>, `${Before}${Name}.`>
      : `${Before}${Name}`
}[keyof Value & string]

type At<Value, Where extends string> = Where extends `${infer Name}.${infer Rest}`
  ? Name extends keyof Value
    ? At<NonNullable<Value[Name]>, Rest>
    : never
  : Where extends keyof Value
    ? NonNullable<Value[Where]>
    : never

/**
 * A flag for every field of a body, nested ones by their dotted path: the contract's type says which there are and of
 * what kind each is, so that a field without its flag is a compile error.
 */
export type FieldFlags<Body> = { readonly [Where in Path<Body>]: FieldFlag<KindOf<At<Body, Where>>> }

/** The query parameters that every list has, and that `--limit` and `--all` take care of. */
type Paging = 'limit' | 'cursor' | 'include_total'

/** A flag for every parameter of a query but those of paging. */
export type QueryFlags<Query> = {
  readonly [Name in Exclude<keyof Query & string, Paging>]-?: FieldFlag<
    ParameterKind<NonNullable<Query[Name]>>
  >
}

/** A parameter may be a comma list where its type is text. */
type ParameterKind<Value> =
  KindOf<Value> extends 'text' | 'time' ? 'text' | 'time' | 'texts' | 'words' : KindOf<Value>

/** A flag together with the place its value goes to: a dotted path in a body, or a query parameter. */
export interface BoundFlag {
  readonly place: string
  readonly flag: Flag
}

/** The flags of a query's parameters, each named after its own, whose name is accepted where the flag has another. */
export function bound(table: Readonly<Record<string, FieldFlag>> = {}): BoundFlag[] {
  const names = Object.entries(table).map(([place, { name }]) => name ?? kebab(place))
  const places = Object.keys(table).map(kebab)
  // A name that stands for several fields, or for something else, says nothing about this one.
  const isFree = (own: string) =>
    !names.includes(own) &&
    places.filter((each) => each === own).length === 1 &&
    Object.values<Setting>(settings).every(({ flag }) => flag !== own)
  return Object.entries(table).map(([place, flag]) => {
    const [name, own] = [flag.name ?? kebab(place), kebab(place)]
    const unlisted = [...(flag.unlisted ?? []), ...(isFree(own) ? [`--${own}`] : [])]
    return { place, flag: { kind: 'text', ...flag, name, ...(unlisted.length > 0 && { unlisted }) } }
  })
}

/** The flags of a body's fields, each named after the last part of its path; what is on can be switched off. */
export function fieldFlags(table: Readonly<Record<string, FieldFlag>> = {}): BoundFlag[] {
  return bound(table).map(({ place, flag }) => ({
    place,
    flag: flag.kind === 'switch' ? { ...flag, negatable: true } : flag,
  }))
}

/** `assessmentCriteria.passingScore` and `passing_score` alike become `passing-score`. */
function kebab(place: string): string {
  const leaf = place.slice(place.lastIndexOf('.') + 1)
  return leaf.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
