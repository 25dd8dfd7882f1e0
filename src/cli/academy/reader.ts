import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { findShown } from '../dataset/find.ts'
import type { Names } from '../dataset/names.ts'
import { externalKeyOf, recordPages } from '../dataset/shown-records.ts'
import type { WriteNotes } from '../operation/write-notes.ts'
import type { Pacing } from '../session/pacing.ts'
import type { Entry } from './entry.ts'
import type { PartDataset } from './load-part.ts'

/** Access to an academy. */
export interface Reader {
  readonly caller: Caller
  readonly names: Names
  readonly signal: AbortSignal
  /** Limits concurrent writes; slows down when the platform asks for that. */
  readonly pacing: Pacing
  /** Collects written fields that the platform does not show. */
  readonly notes: WriteNotes
}

/** Returns the id for a key; undefined if the record does not exist yet. */
export type IdOf = (key: string) => string | undefined

/** Maximum number of records to request one by one instead of reading the whole list. */
const few = 50
const pageSize = 100

/**
 * Yields the records, as the API shows them, that may match entries; duplicates are possible. Reads the whole list,
 * page by page, if there are many entries or `whole` is set.
 */
export async function* shownFor(
  reader: Reader,
  dataset: PartDataset,
  entries: readonly Entry[],
  { whole, idOf }: { readonly whole: boolean; readonly idOf: IdOf },
): AsyncGenerator<JsonObject> {
  if (whole || (entries.length > few && dataset.name !== 'lessons')) {
    yield* shownIn(reader, dataset)
    return
  }
  yield* dataset.name === 'lessons'
    ? lessonsFor(reader, dataset, entries, idOf)
    : foundFor(reader, dataset, entries)
}

/**
 * Yields the lessons of the courses that entries are in, since lessons may be matched by title. An entry with an
 * external id may also match a lesson elsewhere.
 */
async function* lessonsFor(
  reader: Reader,
  dataset: PartDataset,
  entries: readonly Entry[],
  idOf: IdOf,
): AsyncGenerator<JsonObject> {
  const seen = new Set<unknown>()
  const courses = [...new Set(entries.map(({ record }) => String(record['courseId'])))].map(idOf)
  // A new course has no lessons; read one page anyway, because if lessons cannot be listed the next apply would
  // create them again.
  if (courses.includes(undefined)) for await (const _ of shownIn(reader, dataset, { limit: '1' })) break
  for (const courseId of courses) {
    if (courseId === undefined) continue
    for await (const shown of shownIn(reader, dataset, { course_id: courseId })) {
      seen.add(externalKeyOf(shown))
      yield shown
    }
  }
  const moved = entries.filter(
    ({ record: { externalId } }) => externalId !== undefined && !seen.has(externalId),
  )
  yield* foundFor(reader, dataset, moved)
}

async function* foundFor(
  { caller, signal }: Reader,
  dataset: PartDataset,
  entries: readonly Entry[],
): AsyncGenerator<JsonObject> {
  for (const { record } of entries) {
    for (const sought of dataset.name === 'users' ? namesOf(record) : [record]) {
      const shown = await findShown(caller, dataset, sought, signal).catch(noneOf)
      if (shown) yield shown
    }
  }
}

/**
 * Yields all records of a dataset, as the API shows them; includes deleted users unless the query excludes them.
 *
 * @param list operation to list with, such as the history of progress
 */
export async function* shownIn(
  { caller, signal }: Reader,
  { name, operations }: PartDataset,
  query: Readonly<Record<string, string>> = {},
  list: Call = operations.all ?? operations.list,
): AsyncGenerator<JsonObject> {
  const asked = { limit: pageSize, ...(name === 'users' && { include_deleted: 'true' }), ...query }
  const pages = caller.pages<Operation>(list, { query: asked, signal })
  for await (const { data } of recordPages(caller, list, pages)) {
    for (const item of data) if (isJsonObject(item)) yield item
  }
}

/** Returns null for a user who does not exist yet. */
function noneOf(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** Returns one record for each name of a user, since either name may have changed. */
function namesOf({ externalId, email }: JsonObject): JsonObject[] {
  return [...(typeof externalId === 'string' ? [{ externalId }] : []), { email }]
}
