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

/** How an academy is read. */
export interface Reader {
  readonly caller: Caller
  readonly names: Names
  readonly signal: AbortSignal
  /** How much is written at once; it slows down when the platform asks for that. */
  readonly pacing: Pacing
  /** What the platform did not show of what was written. */
  readonly notes: WriteNotes
}

/** The id of what files call so; undefined where it is not there yet. */
export type IdOf = (key: string) => string | undefined

/** So few records are asked for one by one: the academy may have many more. */
const few = 50
const pageSize = 100

/**
 * The records of a dataset that may be those of entries, as the API shows them, some of them twice: the whole list, a page
 * at a time, where there are many entries, or where it is `whole`.
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

/** The lessons of the courses that entries are in: some are known by their titles there. Others may come from elsewhere. */
async function* lessonsFor(
  reader: Reader,
  dataset: PartDataset,
  entries: readonly Entry[],
  idOf: IdOf,
): AsyncGenerator<JsonObject> {
  const seen = new Set<unknown>()
  const courses = [...new Set(entries.map(({ record }) => String(record['courseId'])))].map(idOf)
  // A course that is not there yet has none; but where lessons cannot be listed, the next apply would make them again.
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
 * All records of a dataset, as the API shows them; of users also those who are deleted, unless the query says no.
 *
 * @param list the operation that lists them, such as the one of the history of progress
 */
export async function* shownIn(
  { caller, signal }: Reader,
  { name, operations }: PartDataset,
  query: Readonly<Record<string, string>> = {},
  list: Call = operations.all ?? operations.list,
): AsyncGenerator<JsonObject> {
  const asked = { limit: pageSize, ...(name === 'users' && { include_deleted: 'true' }), ...query }
  const pages = caller.pages<Operation>(list, { query: asked, handling: 'strict', signal })
  for await (const { data } of recordPages(caller, list, pages)) {
    for (const item of data) if (isJsonObject(item)) yield item
  }
}

/** What a user has who is not there yet. */
function noneOf(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** A user by each of the names that tell one: either may have changed. */
function namesOf({ externalId, email }: JsonObject): JsonObject[] {
  return [...(typeof externalId === 'string' ? [{ externalId }] : []), { email }]
}
