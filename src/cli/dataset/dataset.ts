import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Column } from './column.ts'
import type { Names } from './names.ts'

/** Names of the datasets that can be imported and exported. */
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

/** Returns the name of the schema of a dataset's records in files: `UserRecord` of `users`. */
export function recordName(dataset: string): string {
  return `${dataset.charAt(0).toUpperCase()}${dataset.slice(1).replace(/(?<!gres)s$/, '')}Record`
}

/** Datasets whose records name no people; a group names its members. */
export const withoutPeople: readonly Dataset['name'][] = ['terms', 'courses', 'lessons']

/** True for records of which a field identifies a person: what all readers of a repository see has none of their values. */
export function isAboutPeople({ name }: Pick<Dataset, 'name'>): boolean {
  return !withoutPeople.includes(name)
}

/** Datasets that records of others refer to. */
export type ReferredName = Extract<DatasetName, 'terms' | 'courses' | 'users' | 'groups'>

/** The function of `Names` that reads a record of each of them. */
export const referredNouns = {
  terms: 'term',
  courses: 'course',
  users: 'user',
  groups: 'group',
} as const satisfies Readonly<Record<ReferredName, keyof Names>>

/**
 * Records of one kind in files: with external ids and addresses in place of ids, and without fields that the server
 * sets. Imports, exports, course files and declarative academies use it to read and write records.
 */
export interface Dataset {
  readonly name: DatasetName | 'mappings' | `${'term' | 'group' | 'membership'}s`
  /** Noun for one record in messages: `course`. */
  readonly noun: string
  /** Default fields that an import checks and sends if a record lacks them. */
  readonly presumed?: JsonObject
  /** Schema of a whole record; an absent field has its default. */
  readonly schema: z.ZodObject
  readonly columns: readonly Column[]
  /** Sets of fields that identify a record: the first set that the record has in full. */
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
  /** Returns null if the record has no key. */
  find(record: JsonObject): Search | null
  /** Converts a record from the API's form to the form of files. */
  toRecord(shown: JsonObject, names: Names): Promise<JsonObject>
  /**
   * Returns the body for a record; `current` is the existing one as the API shows it, null for a new one. Throws a
   * RecordError if it cannot be sent, such as for a module that the course lacks.
   */
  toBody(record: JsonObject, current: JsonObject | null, names: Names): Promise<JsonObject>
  /** Returns the item for a record in a batch (default the record itself). */
  toItem?(record: JsonObject): JsonObject
}

/** Operations of a dataset. Records are changed by `update`, or by `create` if that does both (progress). */
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
  /** Returns the path parameters for a record, existing or new. */
  params(record: JsonObject): Readonly<Record<string, string>>
}

/** Lookup of a record, by one operation or among the items of a list. */
export interface Search {
  /** Path parameters of the operation that shows the record, if it has a reference (`ext:…`, `email:…`). */
  readonly reference?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** True for the item that is the record, since platforms may ignore filters. */
  readonly matches: (shown: JsonObject) => boolean
  /** True for the item to take if several match. */
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

/** Returns the references of a record: the field of each, and the function that reads what it refers to. */
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

/** Returns the dotted paths of fields that files may have because a list shows them. */
export function shownFields({ operations: { list, all, history } }: Pick<Dataset, 'operations'>): string[] {
  return [list, all, history].flatMap((each) => each?.holds.answer ?? [])
}

/** Returns the key values of a record; null if it has no complete key. */
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
