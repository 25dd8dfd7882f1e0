import type { Page } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Dataset, Search } from './dataset.ts'
import { idAtAddress, isOwnId, recordPages, shownRecord } from './shown-records.ts'

/** Maximum pages of a list to search for one record if the platform does not filter. */
const maximumPages = 100

/** Transforms the pages of a list before the search, for example by applying its filters. */
export type Keep = <P extends Pick<Page<Operation>, 'data' | 'strict'>>(
  pages: AsyncIterable<P>,
) => AsyncIterable<P>

/**
 * Finds the existing record with the key of this one, as the API shows it; null if there is none or the record has no
 * key. Throws a NotOfferedError if the platform offers neither a single record nor a list.
 */
export async function findShown(
  caller: Caller,
  dataset: Dataset,
  record: JsonObject,
  signal: AbortSignal,
  keep: Keep = (pages) => pages,
): Promise<JsonObject | null> {
  const search = searchFor(caller, dataset, record)
  if (search === null) return null
  const { get, list } = dataset.operations
  if (search.reference && get) {
    try {
      const asked = { params: search.reference, signal } as const
      const shown = shownRecord(caller, list, await caller.call(get, asked))
      if (isJsonObject(shown) && search.matches(shown)) return shown
    } catch (error) {
      if (error instanceof ApiError && error.status === 404 && isOurs(error)) return null
      // A remote platform may not support such references, or not show single records.
      if (!(error instanceof NotOfferedError || error instanceof ApiError)) throw error
      if (error instanceof ApiError && ![400, 404, 422].includes(error.status)) throw error
    }
  }
  let left = maximumPages
  const seen = seenRecords(dataset)
  const pages = caller.pages<Operation>(list, {
    params: search.params,
    query: search.query,
    handling: 'strict',
    signal,
  })
  for await (const { data, strict } of keep(recordPages(caller, list, pages))) {
    const check = strict ? null : await checkOf(list, search.query)
    const checked = data.filter(isJsonObject).filter((item) => check === null || check(item))
    const found = chosenOf(checked, search)
    if (found) return found
    if (!strict) seen.add(data)
    left -= 1
    if (left === 0) break
  }
  return seen.recognise(caller, record)
}

/** Returns the item that a search is for; undefined if there is none. */
export function chosenOf(shown: readonly JsonObject[], { matches, prefers }: Search): JsonObject | undefined {
  const matching = shown.filter(matches)
  return matching.find((item) => prefers?.(item)) ?? matching[0]
}

/** Result of a lookup by keys. */
export interface Match {
  /** Matching record as the API shows it; null for none. */
  readonly shown: JsonObject | null
  /** A different record: it shares a key but differs in an earlier one. */
  readonly other: JsonObject | null
}

/**
 * Looks up a record by each of its keys, the most specific first: a user by external id, then by e-mail address among
 * users without an external id.
 *
 * @param find looks up by the fields of one key
 */
export async function findByKeys(
  { keys }: Pick<Dataset, 'keys'>,
  record: JsonObject,
  find: (key: JsonObject, fields: readonly string[]) => Promise<JsonObject | null>,
): Promise<Match> {
  const earlier: string[] = []
  const has = (field: string) => record[field] !== undefined && record[field] !== null
  for (const fields of keys) {
    if (!fields.every(has) || fields.some((field) => earlier.includes(field))) continue
    const others = Object.entries(record).filter(([field]) => !earlier.includes(field))
    const found = await find(Object.fromEntries(others), fields)
    if (found) {
      const isIt = earlier.every((field) => (found[field] ?? null) === null || found[field] === record[field])
      return isIt ? { shown: found, other: null } : { shown: null, other: found }
    }
    earlier.push(...fields)
  }
  return { shown: null, other: null }
}

/** Returns a test that rejects items outside a query, which a remote platform may have ignored. */
async function checkOf(list: Call, query: Search['query']): Promise<(item: JsonObject) => boolean> {
  const { createFilterCheck } = await import('../../client/foreign/asked.ts')
  return (item) => {
    // Our server also accepts external ids without the prefix; our ids cannot be compared with that.
    const comparable = Object.entries(query).filter(([name, value]) => {
      const filter = list.filters?.[name]
      return filter?.by !== 'reference' || isOwnId(value) || !isOwnId(item[filter.field])
    })
    const check = createFilterCheck(list, Object.fromEntries(comparable))
    return check === null || check.judge(item) !== false
  }
}

/** Records without an external id on a list of a remote platform. */
interface SeenRecords {
  add(items: readonly unknown[]): void
  /**
   * Returns the user with the record's address; null for a new record. Throws a CommandError for another record with
   * the same title, which an earlier run may have created and this one would duplicate.
   */
  recognise(caller: Caller, record: JsonObject): JsonObject | null
}

/** Creates an empty collection. */
export function seenRecords({ name, noun, keys, operations: { list } }: Dataset): SeenRecords {
  const seen = new Map<string, JsonObject>()
  const isKeyed = keys[0]?.[0] === 'externalId'
  const field = keys[1]?.[0] ?? 'title'
  let hasKeys = false
  return {
    add(items) {
      for (const item of isKeyed ? items : []) {
        if (!isJsonObject(item) || item['status'] === 'deleted') continue
        const text = textOf(item[field])
        if ((item['externalId'] ?? '') !== '') hasKeys = true
        else if (text !== '' && seen.size < maxSeen && !seen.has(text)) seen.set(text, item)
      }
    },
    recognise(caller, record) {
      const { externalId } = record
      const shown = typeof externalId === 'string' ? seen.get(textOf(record[field])) : undefined
      if (shown === undefined) return null
      if (field !== 'title') return shown
      const { host } = new URL(caller.request<Operation>(list).url)
      const hidden = `the external ids of ${hasKeys ? `all ${name}` : name}`
      const message = `${host} does not show ${hidden}, so ${noun} ${externalId} cannot be recognised`
      throw new CommandError('not_recognised', 'failure', message, {
        why: [
          `It has a ${noun} with the same title, "${record['title']}" (${shown['id']}), which would be created again`,
        ],
        hint: `Use the URL of the ${noun} as its external id, as learnctl ${name} export writes it`,
      })
    },
  }
}

const maxSeen = 100_000

function textOf(value: unknown): string {
  return String(value ?? '')
    .trim()
    .toLowerCase()
}

/** Returns the lookup of a record: by id if its external id is its URL on the caller's platform. */
function searchFor(caller: Caller, dataset: Dataset, record: JsonObject): Search | null {
  const { get, list } = dataset.operations
  const id = idAtAddress(caller, list, record['externalId'])
  const [, parameter] = /\{(\w+)\}$/.exec(get?.path ?? '') ?? []
  if (id === null || parameter === undefined) return dataset.find(record)
  return { reference: { [parameter]: id }, query: {}, matches: (shown) => String(shown['id']) === id }
}
