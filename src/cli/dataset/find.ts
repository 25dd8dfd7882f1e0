import type { Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Dataset, Search } from './dataset.ts'
import { idAtAddress, isOwnId, recordPages, shownRecord } from './shown-records.ts'

/** How many pages of a list are looked through for one record, where a platform does not filter. */
const maximumPages = 100

/** What is done with the pages of a list before they are looked through, such as keeping to its filters. */
export type Keep = <P extends Pick<Page<Operation>, 'data' | 'strict'>>(
  pages: AsyncIterable<P>,
) => AsyncIterable<P>

/**
 * The record that is there under the key of this one, as the API shows it; null where there is none, or the record has
 * no key. Throws a NotOfferedError where the platform shows neither one nor a list.
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
      const asked = { params: search.reference, handling: 'strict', signal } as const
      const shown = shownRecord(caller, list, await caller.call(get, asked))
      if (isJsonObject(shown) && search.matches(shown)) return shown
    } catch (error) {
      if (error instanceof ApiError && error.status === 404 && isOurs(error)) return null
      // A platform elsewhere may not know such references, or not show one record.
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
    const found = data
      .filter(isJsonObject)
      .find((item) => search.matches(item) && (check === null || check(item)))
    if (found) return found
    if (!strict) seen.add(data)
    left -= 1
    if (left === 0) break
  }
  return seen.recognise(caller, record)
}

/** The record behind the keys of another one. */
export interface Match {
  /** As the API shows it; null for none. */
  readonly shown: JsonObject | null
  /** A record that has one of its keys, and another value in an earlier one: it is another record. */
  readonly other: JsonObject | null
}

/**
 * Looks for a record by each of its keys, the surest first: a user by the external id, then by the e-mail address among
 * users who have no external id.
 *
 * @param find looks by the fields of one key
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

/** Returns false for the items that a query rules out: a platform elsewhere may have ignored it. */
async function checkOf(list: Call, query: Search['query']): Promise<(item: JsonObject) => boolean> {
  const { createFilterCheck } = await import('../../client/foreign/asked.ts')
  return (item) => {
    // A server of ours takes an external id without its prefix, too; no id of ours can be compared with that.
    const comparable = Object.entries(query).filter(([name, value]) => {
      const filter = list.filters?.[name]
      return filter?.by !== 'reference' || isOwnId(value) || !isOwnId(item[filter.field])
    })
    const check = createFilterCheck(list, Object.fromEntries(comparable))
    return check === null || check.judge(item) !== false
  }
}

/** Records without an external id on a list of a platform elsewhere. */
export interface SeenRecords {
  add(items: readonly unknown[]): void
  /**
   * The user with the address of a record, who is known by it as well; null for a record that is new. Throws a CommandError
   * for another record that is on the list by its title: it may be the one that an earlier run made, and would be made
   * again.
   */
  recognise(caller: Caller, record: JsonObject): JsonObject | null
}

/** None of the records yet. */
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

/** How a record is looked for on the platform of a caller: by its id, where its external id is its URL there. */
function searchFor(caller: Caller, dataset: Dataset, record: JsonObject): Search | null {
  const { get, list } = dataset.operations
  const id = idAtAddress(caller, list, record['externalId'])
  const [, parameter] = /\{(\w+)\}$/.exec(get?.path ?? '') ?? []
  if (id === null || parameter === undefined) return dataset.find(record)
  return { reference: { [parameter]: id }, query: {}, matches: (shown) => String(shown['id']) === id }
}
