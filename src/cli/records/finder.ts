import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { chosenOf, findByKeys, findShown, type Match, SeenRecords } from '../dataset/find.ts'
import { externalKeyOf, idAtAddress, recordPages } from '../dataset/names.ts'
import { type KnownIds, plainReference, referencesTo, valueName } from './identity.ts'
import type { Writer } from './write.ts'

export interface Finder {
  find(record: JsonObject): Promise<Match>
}

const pageSize = 100

export function oneByOne(caller: Caller, dataset: Dataset, signal: AbortSignal): Finder {
  const find = (key: JsonObject) => findShown(caller, dataset, key, signal)
  return { find: (record) => findByKeys(dataset, record, find) }
}

type Listed = ReadonlyMap<string, readonly JsonObject[]>

/**
 * Reads the whole list of another platform, which would be searched for each new record. Records whose keys have several
 * fields, such as enrolments, are looked up one by one.
 */
export async function inWholeList(caller: Caller, dataset: Dataset, signal: AbortSignal): Promise<Finder> {
  const fields = singleKeys(dataset)
  if (fields.length === 0) return oneByOne(caller, dataset, signal)
  const { list } = dataset.operations
  const seen = new SeenRecords(dataset)
  const found = new Map<string, JsonObject>()
  for await (const { data } of recordPages(caller, list, caller.pages<Operation>(list, { signal }))) {
    seen.add(caller, data)
    for (const item of data.filter(isJsonObject)) {
      for (const name of namesOfShown(fields, item)) found.set(name, item)
    }
  }
  const find = async (key: JsonObject, [field = '']: readonly string[]) => {
    const id = idAtAddress(caller, list, key['externalId'])
    if (id !== null) return found.get(valueName('id', id)) ?? null
    return found.get(valueName(field, key[field])) ?? seen.recognise(caller, key)
  }
  return { find: (record) => findByKeys(dataset, record, find) }
}

/**
 * Reads lists of a learnctl server if that takes fewer requests than to look up each of many records: that of all, or where
 * a key has several fields, as that of enrolments, those of each course or group.
 */
export async function inLists(
  caller: Caller,
  dataset: Dataset,
  records: readonly JsonObject[],
  signal: AbortSignal,
): Promise<Finder> {
  const single = oneByOne(caller, dataset, signal)
  const fields = singleKeys(dataset)
  const lists = new Map<string, Listed>()
  const scopeOf = (record: JsonObject) => scopeIn(dataset, fields, record)
  for (const [name, scopes] of Map.groupBy(records.map(scopeOf), ({ query }) => nameOf(query))) {
    const [{ query }] = scopes as [Scope]
    const wanted = new Set(scopes.flatMap(({ names }) => names))
    const found = await read(query, wanted, Math.floor(scopes.length / 2))
    if (found) lists.set(name, found)
  }
  return {
    async find(record) {
      const { query, names } = scopeOf(record)
      const known = lists.get(nameOf(query))
      if (!known || idAtAddress(caller, dataset.operations.list, record['externalId']) !== null)
        return single.find(record)
      if (fields.length === 0) {
        const search = dataset.find(record)
        const found = names.flatMap((name) => known.get(name) ?? [])
        return { shown: (search && chosenOf(found, search)) ?? null, other: null }
      }
      const find = async (key: JsonObject, [field = '']: readonly string[]) =>
        known.get(valueName(field, key[field]))?.at(-1) ?? null
      return findByKeys(dataset, record, find)
    },
  }

  /** Null for a list of more pages, and for one of an unknown course. */
  async function read(
    query: Scope['query'],
    wanted: ReadonlySet<string>,
    maxPages: number,
  ): Promise<Listed | null> {
    if (maxPages === 0) return null
    const found = new Map<string, JsonObject[]>()
    const list = dataset.operations.all ?? dataset.operations.list
    const asked = { ...query, limit: String(pageSize), include_total: 'true' }
    try {
      for await (const { data, around } of caller.pages<Operation>(list, { query: asked, signal })) {
        if (Number(around['total']) > maxPages * pageSize) return null
        for (const item of data.filter(isJsonObject)) {
          for (const name of namesOfShown(fields, item)) {
            if (wanted.has(name)) found.set(name, [...(found.get(name) ?? []), item])
          }
        }
      }
      return found
    } catch (error) {
      const isUnknown = error instanceof ApiError && [400, 404, 422].includes(error.status)
      if (fields.length > 0 || !isUnknown) throw error
      return null
    }
  }
}

/** Returns the fields that are keys by themselves; none for records of users, such as enrolments. */
function singleKeys({ keys }: Dataset): readonly string[] {
  return keys.flatMap((set) => (set.length === 1 ? set : []))
}

interface Scope {
  readonly query: Readonly<Record<string, string>>
  readonly names: readonly string[]
}

function scopeIn(dataset: Dataset, fields: readonly string[], record: JsonObject): Scope {
  if (fields.length > 0) {
    const own = fields.filter((field) => (record[field] ?? null) !== null)
    const query = dataset.name === 'users' ? { include_deleted: 'true' } : {}
    return { query, names: own.map((field) => valueName(field, record[field])) }
  }
  const { user_id: _user, learner_id: _learner, ...query } = dataset.find(record)?.query ?? {}
  return { query, names: [plainReference(String(record['userId'] ?? record['learnerId']))] }
}

function nameOf(query: Scope['query']): string {
  return JSON.stringify(query)
}

function namesOfShown(fields: readonly string[], shown: JsonObject): readonly string[] {
  const { userId, learnerId, userExternalId: externalId, userEmail: email } = shown
  if (fields.length === 0) return referencesTo({ id: userId ?? learnerId, externalId, email })
  // A deleted record is found by its external id only.
  const own = fields.filter((field) => field === 'externalId' || shown['status'] !== 'deleted')
  return [
    valueName('id', shown['id']),
    ...own.map((field) => valueName(field, field === 'externalId' ? externalKeyOf(shown) : shown[field])),
  ]
}

type Reader = Pick<Writer, 'caller' | 'signal'>

/** Records to look up one by one instead of reading the whole list. */
const maxSingleReads = 50
const readsAtOnce = 8

/** Duplicates are possible. Reads the whole list if there are many records or `whole` is set. */
export function shownFor(
  reader: Reader,
  dataset: Dataset,
  records: readonly JsonObject[],
  whole: boolean,
): AsyncGenerator<JsonObject> {
  const reads = whole || records.length > maxSingleReads
  return reads ? shownIn(reader, dataset) : foundFor(reader, dataset, records)
}

/** Lessons may be matched by title, and one with an external id also elsewhere. */
export async function* lessonsIn(
  reader: Reader,
  dataset: Dataset,
  { courses, records }: { readonly courses: Iterable<string>; readonly records: readonly JsonObject[] },
  idOf: KnownIds['idOf'],
): AsyncGenerator<JsonObject> {
  const seen = new Set<unknown>()
  for (const key of new Set([...courses, ...records.map(({ courseId }) => String(courseId))])) {
    const courseId = idOf('courses', key)
    if (courseId === undefined) continue
    for await (const shown of shownIn(reader, dataset, { course_id: courseId })) {
      seen.add(externalKeyOf(shown))
      yield shown
    }
  }
  const moved = records.filter(({ externalId }) => externalId !== undefined && !seen.has(externalId))
  yield* foundFor(reader, dataset, moved)
}

/**
 * Yields the members of groups, named by their keys; of many groups with the members of all others. New groups have
 * none.
 */
export async function* membersFor(
  reader: Reader,
  dataset: Dataset,
  groups: Iterable<string>,
  idOf: KnownIds['idOf'],
): AsyncGenerator<JsonObject> {
  const ids = [...groups].flatMap((key) => idOf('groups', key) ?? [])
  if (ids.length > maxSingleReads) yield* shownIn(reader, dataset)
  else for (const id of ids) yield* shownIn(reader, dataset, { group_id: id })
}

async function* foundFor(
  { caller, signal }: Reader,
  dataset: Dataset,
  records: readonly JsonObject[],
): AsyncGenerator<JsonObject> {
  const sought = dataset.name === 'users' ? records.flatMap(namesOf) : records
  for (let from = 0; from < sought.length; from += readsAtOnce) {
    const some = sought.slice(from, from + readsAtOnce)
    const found = some.map((record) => findShown(caller, dataset, record, signal).catch(nullIfMissing))
    for (const shown of await Promise.all(found)) if (shown) yield shown
  }
}

/** Includes deleted users unless the query excludes them. `list` may be that of the history of progress. */
export async function* shownIn(
  { caller, signal }: Reader,
  { name, operations }: Dataset,
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
function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/** Returns one record for each name of a user, since either name may have changed. */
function namesOf({ externalId, email }: JsonObject): JsonObject[] {
  return [...(typeof externalId === 'string' ? [{ externalId }] : []), { email }]
}
