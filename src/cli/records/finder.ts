import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { joinReferences, splitReferences } from '../../codec/reference.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { chosenOf, findByKeys, findShown, type Match, seenRecords } from '../dataset/find.ts'
import { externalKeyOf, idAtAddress, recordPages } from '../dataset/shown-records.ts'
import { type KnownIds, plainReference, referencesTo, valueName } from './identity.ts'
import type { Writer } from './write.ts'

export interface Finder {
  /** Prefetches these records, which are looked up next. */
  prepare(records: readonly JsonObject[]): Promise<void>
  /** Returns the existing record that shares a key with this one. */
  find(record: JsonObject): Promise<Match>
}

/** The maximum that the API allows. */
const pageSize = 100

/** Looks up each record in a request of its own. */
export function oneByOne(caller: Caller, dataset: Dataset, signal: AbortSignal): Finder {
  const find = (key: JsonObject) => findShown(caller, dataset, key, signal)
  return { prepare: async () => {}, find: (record) => findByKeys(dataset, record, find) }
}

/**
 * Reads the whole list if that takes fewer requests than to look up each of many records. Records whose key has
 * several fields, such as enrolments, are always looked up one by one.
 *
 * @param always true if the platform shows no single record; the whole list is then cached
 */
export function byPages(caller: Caller, dataset: Dataset, signal: AbortSignal, always: boolean): Finder {
  const single = oneByOne(caller, dataset, signal)
  const fields = dataset.keys.flatMap((set) => (set.length === 1 ? set : []))
  if (fields.length === 0) return single
  let known: ReadonlyMap<string, JsonObject> | null = null
  let seen = seenRecords(dataset)

  async function read(wanted: ReadonlySet<string> | null, atMostPages: number) {
    const found = new Map<string, JsonObject>()
    seen = seenRecords(dataset)
    let left = atMostPages
    const query = always ? {} : { limit: String(pageSize), ...inAll }
    const { list } = dataset.operations
    const pages = caller.pages<Operation>(list, { query, signal })
    for await (const { data, around } of recordPages(caller, list, pages)) {
      const total = Number(around['total'] ?? Number.NaN)
      if (total > atMostPages * pageSize || left === 0) return null
      left -= 1
      if (!caller.isOurs()) seen.add(caller, data)
      for (const item of data) {
        if (!isJsonObject(item)) continue
        if (wanted === null) found.set(valueName('id', item['id']), item)
        for (const field of fields) {
          const text = valueName(field, field === 'externalId' ? externalKeyOf(item) : item[field])
          // A deleted record is found by its external id only.
          const named = field === 'externalId' || item['status'] !== 'deleted'
          if (named && (wanted === null || wanted.has(text))) found.set(text, item)
        }
      }
    }
    return found
  }

  const inAll = { include_total: 'true', ...(dataset.name === 'users' && { include_deleted: 'true' }) }
  const textsOf = (record: JsonObject) =>
    fields.flatMap((field) => ((record[field] ?? null) === null ? [] : [valueName(field, record[field])]))
  return {
    async prepare(records) {
      known = always
        ? await read(null, Number.POSITIVE_INFINITY)
        : await read(new Set(records.flatMap(textsOf)), Math.floor(records.length / 2))
    },
    async find(record) {
      const all = known
      if (all === null) return single.find(record)
      return findByKeys(dataset, record, async (key, [field = '']) => {
        const id = idAtAddress(caller, dataset.operations.list, key['externalId'])
        const shown = all.get(id === null ? valueName(field, key[field]) : valueName('id', id))
        return shown ?? (id === null ? seen.recognise(caller, key) : null)
      })
    },
  }
}

/** Maximum number of users in one request; keeps its URL below the usual limit of servers (8 KiB). */
const maxUsers = 40
const maxCharacters = 3000
/** Maximum number of pages to read per request; a user has few records of one kind in a course. */
const maxPagesPerLookup = 10

/** Lookup of several users: everything but the user is the same. */
interface Lookup {
  readonly query: Readonly<Record<string, string>>
  readonly users: Set<string>
}

/**
 * Returns a finder that looks up the records of several users of a course in one request, such as enrolments, if the
 * platform's list takes several users. Records that such a list cannot answer for are looked up one by one.
 *
 * @param parameter of the list, for the user
 * @param field of a record, in which its user stands
 */
export function byReferences(
  caller: Caller,
  dataset: Dataset,
  signal: AbortSignal,
  { parameter, field }: { readonly parameter: string; readonly field: string },
): Finder {
  const single = oneByOne(caller, dataset, signal)
  /** Records found, by lookup and user; an absent lookup was not answered. */
  let answers = new Map<string, Map<string, JsonObject[]>>()

  async function lookUp(name: string, { query, users }: Lookup): Promise<void> {
    const asked = { ...query, [parameter]: joinReferences([...users]), limit: String(pageSize) }
    const found = new Map<string, JsonObject[]>([...users].map((user) => [plainReference(user), []]))
    let left = maxPagesPerLookup
    try {
      const { list } = dataset.operations
      const pages = caller.pages<Operation>(list, { query: asked, signal })
      for await (const { data } of recordPages(caller, list, pages)) {
        for (const shown of data.filter(isJsonObject)) {
          const { [field]: id, userExternalId: externalId, userEmail: email } = shown
          const lists = referencesTo({ id, externalId, email }).flatMap((user) => {
            const list = found.get(user)
            return list ? [list] : []
          })
          // The record does not show its user by the field that was requested.
          if (lists.length === 0) return
          for (const list of lists) list.push(shown)
        }
        left -= 1
        if (left === 0) return
      }
      answers.set(name, new Map([...(answers.get(name) ?? []), ...found]))
    } catch (error) {
      // Some user is unknown or malformed; looking up each alone shows which.
      if (!(error instanceof ApiError) || ![400, 404, 422].includes(error.status)) throw error
    }
  }

  return {
    async prepare(records) {
      answers = new Map()
      const open = new Map<string, Lookup>()
      for (const record of records) {
        const own = lookupOf(dataset, record, parameter)
        if (own === null) continue
        const lookup = open.get(own.name) ?? { query: own.query, users: new Set() }
        lookup.users.add(own.user)
        open.set(own.name, lookup)
        const characters = [...lookup.users].reduce((sum, user) => sum + user.length, 0)
        if (lookup.users.size < maxUsers && characters < maxCharacters) continue
        await lookUp(own.name, lookup)
        open.delete(own.name)
      }
      for (const [name, lookup] of open) if (lookup.users.size > 1) await lookUp(name, lookup)
    },
    async find(record) {
      const lookup = lookupOf(dataset, record, parameter)
      const found = lookup === null ? undefined : answers.get(lookup.name)?.get(plainReference(lookup.user))
      if (!found) return single.find(record)
      const search = dataset.find(record)
      return { shown: (search && chosenOf(found, search)) ?? null, other: null }
    },
  }
}

/** Returns the lookup for a record and its user; null if the record has no key or names the user in another form. */
function lookupOf(dataset: Dataset, record: JsonObject, parameter: string) {
  const { [parameter]: user, ...query } = dataset.find(record)?.query ?? {}
  const [name] = splitReferences(user ?? '')
  return name === undefined || name === '' ? null : { name: JSON.stringify(query), query, user: name }
}

type Reader = Pick<Writer, 'caller' | 'signal'>

/** Maximum number of records to request one by one instead of reading the whole list. */
const maxSingleReads = 50
const readsAtOnce = 8

/**
 * Yields the existing records that may match records of files; duplicates are possible. Reads the whole list, page by
 * page, if there are many records or `whole` is set.
 */
export function shownFor(
  reader: Reader,
  dataset: Dataset,
  records: readonly JsonObject[],
  whole: boolean,
): AsyncGenerator<JsonObject> {
  const reads = whole || records.length > maxSingleReads
  return reads ? shownIn(reader, dataset) : foundFor(reader, dataset, records)
}

/**
 * Yields the lessons of courses, and of those that records are in, since lessons may be matched by title. A record with an
 * external id may also match a lesson elsewhere.
 */
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

/**
 * Yields all records of a dataset, as the API shows them; includes deleted users unless the query excludes them.
 *
 * @param list operation to list with, such as the history of progress
 */
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
