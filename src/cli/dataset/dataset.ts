import type * as z from 'zod'
import type { JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Column } from './column.ts'
import type { Names } from './names.ts'

/** What can be imported and exported. */
export const datasetNames = ['courses', 'lessons', 'users', 'enrollments', 'progress', 'grades'] as const
export type DatasetName = (typeof datasetNames)[number]

/**
 * Records of one kind as files have them: with the names of the school in place of ids, and without what the server
 * makes. Imports, exports, course files and declarative academies read and write records by it.
 */
export interface Dataset {
  readonly name: DatasetName | 'mappings'
  /** One of them, in messages: `course`. */
  readonly noun: string
  /** Fields that an import checks and sends with each record that does not have them. */
  readonly presumed?: JsonObject
  /** A whole record; a field that is absent has its default. */
  readonly schema: z.ZodObject
  readonly columns: readonly Column[]
  /** The fields that tell one record from all others: the first of these sets of which a record has all fields. */
  readonly keys: readonly (readonly string[])[]
  /** Fields with values that no two records have, and that may move from one to another. */
  readonly unique?: readonly string[]
  /** The field whose records are made in the order of a file: the lessons of one course, which follow each other. */
  readonly inOrderOf?: string
  /** What each field that names another record refers to. */
  readonly references: Readonly<Record<string, 'courses' | 'users'>>
  /** A field that names a record of a kind that another field says, and that kind. */
  readonly refersTo?: (record: JsonObject) => { readonly field: string; readonly to: 'course' | 'user' }
  readonly operations: DatasetOperations
  /** How a record is looked for among those that are there; null where it has no key. */
  find(record: JsonObject): Search | null
  /** A record as files have it, from the one that the API shows. */
  toRecord(shown: JsonObject, names: Names): Promise<JsonObject>
  /**
   * What is sent for a record; `current` is the one that the API shows, null for a new one. Throws a RecordError on what
   * cannot be sent, such as a module that the course does not have.
   */
  toBody(record: JsonObject, current: JsonObject | null, names: Names): Promise<JsonObject>
}

/** The operations behind a dataset. One that can be changed has `update`, or `create` does both (progress). */
export interface DatasetOperations {
  readonly list: Call
  /** The list of all of them, where `list` shows those of one user alone. */
  readonly all?: Call
  /** How they came to be what they are, as records that lead there one after the other. */
  readonly history?: Call
  readonly get?: Call
  readonly create: Call
  readonly update?: Call
  readonly delete?: Call
  /** Many in one request, each found by its key by the server. */
  readonly batch?: Call
  /** The path's parameters of an operation on one record, which the API shows, or which is to be made. */
  params(record: JsonObject): Readonly<Record<string, string>>
}

/** How to find a record: by one operation that shows it, or among the items of a list. */
export interface Search {
  /** The path's parameters of the operation that shows one record, where it has a reference (`ext:…`, `email:…`). */
  readonly reference?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** True for the item that is the record; platforms may ignore what a list is filtered by. */
  readonly matches: (shown: JsonObject) => boolean
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

/** The fields that a file may have because some list shows them, as dotted paths. */
export function shownFields({ operations: { list, all, history } }: Pick<Dataset, 'operations'>): string[] {
  return [list, all, history].flatMap((each) => each?.holds.answer ?? [])
}

/** The values of the fields by which a record is known; null where it has no such set of them. */
export function keyOf({ keys }: Pick<Dataset, 'keys'>, record: JsonObject): readonly string[] | null {
  const has = (field: string) => record[field] !== undefined && record[field] !== null
  const key = keys.find((fields) => fields.every(has))
  return key ? key.map((field) => String(record[field])) : null
}

/**
 * All names under which a record is the same one: its key, and every other field that is a key by itself. Addresses are
 * the same in any case.
 */
export function namesOf({ keys }: Pick<Dataset, 'keys'>, record: JsonObject): readonly string[] {
  const has = (field: string) => record[field] !== undefined && record[field] !== null
  const first = keys.find((fields) => fields.every(has))
  const sets = keys.filter((fields) => fields === first || (fields.length === 1 && fields.every(has)))
  return sets.map((fields) =>
    [...fields, ...fields.map((field) => String(record[field]))]
      .map((text, index) => (fields[index - fields.length] === 'email' ? text.toLowerCase() : text))
      .join('\n'),
  )
}
