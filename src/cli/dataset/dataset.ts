import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Column } from './column.ts'
import type { Names } from './names.ts'

export const datasetNames = [
  'terms',
  'courses',
  'lessons',
  'users',
  'groups',
  'memberships',
  'enrollments',
  'progress',
  'grades',
] as const
export type DatasetName = (typeof datasetNames)[number]

/** `UserRecord` of `users`. */
export function recordName(dataset: string): string {
  return `${dataset.charAt(0).toUpperCase()}${dataset.slice(1).replace(/(?<!gres)s$/, '')}Record`
}

/** Datasets whose records name no people; a group names its members. */
export const withoutPeople: readonly Dataset['name'][] = ['terms', 'courses', 'lessons']

/** Values of such records are not shown to all readers of a repository. */
export function isAboutPeople({ name }: Pick<Dataset, 'name'>): boolean {
  return !withoutPeople.includes(name)
}

export type ReferredName = Extract<DatasetName, 'terms' | 'courses' | 'users' | 'groups'>

export const referredNouns = {
  terms: 'term',
  courses: 'course',
  users: 'user',
  groups: 'group',
} as const satisfies Readonly<Record<ReferredName, keyof Names>>

/** Records of one kind in files: with external ids and addresses in place of ids. */
export interface Dataset {
  readonly name: DatasetName | 'mappings' | `${'term' | 'group' | 'membership'}s`
  readonly noun: string
  /** Defaults that an import checks and sends if a record lacks them. */
  readonly presumed?: JsonObject
  /** An absent field has its default. */
  readonly schema: z.ZodObject
  readonly columns: readonly Column[]
  /** Sets of fields; the first one that a record has in full identifies it. */
  readonly keys: readonly (readonly string[])[]
  /** Fields with unique values, which may move from one record to another. */
  readonly unique?: readonly string[]
  /** Field whose equal values require creating records in file order, such as the course of lessons. */
  readonly inOrderOf?: string
  /** Datasets that reference fields refer to; the API may name a field `term` with `Id` behind. */
  readonly references: Readonly<Record<string, ReferredName>>
  /** Returns the reference of a record that depends on more than its kind. */
  readonly refersTo?: (record: JsonObject) => { readonly field: string; readonly to: ReferredName }
  readonly operations: DatasetOperations
  /** Null if the record has no key. */
  find(record: JsonObject): Search | null
  toRecord(shown: JsonObject, names: Names): Promise<JsonObject>
  /** `current` is null for a new record. Throws a RecordError, such as for a module that the course lacks. */
  toBody(record: JsonObject, current: JsonObject | null, names: Names): Promise<JsonObject>
  /** Default: the record itself. */
  toItem?(record: JsonObject): JsonObject
}

/** `create` updates as well where there is no `update` (progress). */
interface DatasetOperations {
  readonly list: Call
  /** Lists all records, if `list` shows only those of one user. */
  readonly all?: Call
  /** Lists earlier states of records, oldest first. */
  readonly history?: Call
  readonly get?: Call
  readonly create: Call
  readonly update?: Call
  readonly delete?: Call
  /** Writes many records in one request; the server matches each by its key. */
  readonly batch?: Call
  params(record: JsonObject): Readonly<Record<string, string>>
}

export interface Search {
  /** Path parameters that show the record, if it has a reference (`ext:…`, `email:…`). */
  readonly reference?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Needed because platforms may ignore filters. */
  readonly matches: (shown: JsonObject) => boolean
  /** Chooses among several matches. */
  readonly prefers?: (shown: JsonObject) => boolean
}

/** A record that cannot be sent; the message continues the name of the field. */
export class RecordError extends Error {
  override readonly name = 'RecordError'
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

export function referencesIn(
  { references, refersTo }: Pick<Dataset, 'references' | 'refersTo'>,
  record: JsonObject,
): { readonly field: string; readonly to: ReferredName; readonly reference: string }[] {
  const own = refersTo?.(record)
  const all = [...Object.entries(references), ...(own ? [[own.field, own.to] as const] : [])]
  return all.flatMap(([field, to]) =>
    record[field] === undefined || record[field] === null
      ? []
      : [{ field, to, reference: String(record[field]) }],
  )
}

export function shownFields({ operations: { list, all, history } }: Pick<Dataset, 'operations'>): string[] {
  return [list, all, history].flatMap((each) => each?.holds.answer ?? [])
}

/** Null without a complete key. */
export function keyOf({ keys }: Pick<Dataset, 'keys'>, record: JsonObject): readonly string[] | null {
  const has = (field: string) => record[field] !== undefined && record[field] !== null
  const key = keys.find((fields) => fields.every(has))
  return key ? key.map((field) => String(record[field])) : null
}

/**
 * Returns all names of a record: its key, and every other field that is a key by itself. E-mail addresses are
 * compared without case.
 */
export function namesOf({ keys }: Pick<Dataset, 'keys'>, record: JsonObject): readonly string[] {
  const has = (field: string) => record[field] !== undefined && record[field] !== null
  const first = keys.find((fields) => fields.every(has))
  const sets = keys.filter((fields) => fields === first || (fields.length === 1 && fields.every(has)))
  const textOf = (field: string) =>
    field === 'email' ? String(record[field]).toLowerCase() : String(record[field])
  return sets.map((fields) => [...fields, ...fields.map(textOf)].join('\n'))
}
