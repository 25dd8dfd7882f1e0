import { type Setting, settings } from '../../config/setting.ts'

/**
 * Value types of flags by kind. `texts` is repeated once per text, `words` accepts commas as well; `time` is a day, a
 * time or a duration, converted to the API's format.
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
 * Meaning of a duration given as a time: `past` is that long ago, `future` that far ahead, `start` and `end` bound a
 * period (`end` includes its day), and `ago` accepts only a duration.
 */
export type TimeUse = 'past' | 'future' | 'start' | 'end' | 'ago'

/** A flag of a command. */
export interface Flag {
  /** In kebab-case, without dashes. */
  readonly name: string
  /** Single letter, used with a single dash. */
  readonly short?: string
  /** Other accepted names that are not listed, as typed: `--former`, `-f`. */
  readonly unlisted?: readonly string[]
  readonly kind: keyof Kinds
  /** Placeholder of its value in help (default by kind). */
  readonly placeholder?: string
  readonly summary: string
  /** Use of a time (default `past`). */
  readonly time?: TimeUse
  /** True for a nullable time: `never` is null. */
  readonly never?: true
  /** True for a nullable number: `none` is null. */
  readonly none?: true
  /** True for a switch with a `--no-…` form, since its default may be on. */
  readonly negatable?: true
  /** Values that the contract knows. Checked here only for the local academy: other platforms may have more. */
  readonly choices?: readonly string[]
  /** True if the summary lists the choices, so help does not repeat them. */
  readonly choicesTold?: true
  /** True to prompt for it on a terminal and refuse its absence without one. */
  readonly required?: true
  /** True to prompt for it when the command prompts anyway; an empty answer is the default. */
  readonly asked?: true
  /** The default, as a value or in words. */
  readonly default?: string
}

/** Declaration of a field's flag; its name comes from the field by default. */
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
    : string extends keyof NonNullable<Value[Name]>
      ? // An object with free keys is given as a whole.
        `${Before}${Name}`
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
 * Flags by field of a body; nested fields by dotted path. The type is derived from the contract, so a field
 * without a flag is a compile error.
 */
export type FieldFlags<Body> = { readonly [Where in Path<Body>]: FieldFlag<KindOf<At<Body, Where>>> }

/** Paging parameters of lists, covered by `--limit` and `--all`. */
type Paging = 'limit' | 'cursor' | 'include_total'

/** Flags by query parameter, except paging. */
export type QueryFlags<Query> = {
  readonly [Name in Exclude<keyof Query & string, Paging>]-?: FieldFlag<
    ParameterKind<NonNullable<Query[Name]>>
  >
}

/** A text parameter may be a comma list. */
type ParameterKind<Value> =
  KindOf<Value> extends 'text' | 'time' ? 'text' | 'time' | 'texts' | 'words' : KindOf<Value>

/** A flag with the place of its value: a dotted path in a body, or a query parameter. */
export interface BoundFlag {
  readonly place: string
  readonly flag: Flag
}

/** Returns the flags of query parameters. If a flag has a name of its own, the parameter's name is accepted, too. */
export function bound(table: Readonly<Record<string, FieldFlag>> = {}): BoundFlag[] {
  const names = Object.entries(table).map(([place, { name }]) => name ?? kebab(place))
  const places = Object.keys(table).map(kebab)
  // A name shared by several fields, or used for something else, is ambiguous.
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

/** Returns the flags of a body's fields, each named after the last part of its path; switches are negatable. */
export function fieldFlags(table: Readonly<Record<string, FieldFlag>> = {}): BoundFlag[] {
  return bound(table).map(({ place, flag }) => ({
    place,
    flag: flag.kind === 'switch' ? { ...flag, negatable: true } : flag,
  }))
}

/** Converts a path to kebab-case: `assessmentCriteria.passingScore` and `passing_score` become `passing-score`. */
function kebab(place: string): string {
  const leaf = place.slice(place.lastIndexOf('.') + 1)
  return leaf.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
