import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Dataset, Search } from './dataset.ts'
import { idAtAddress, recordPages, shownRecord } from './names.ts'

/** Pages to search for one record if the platform does not filter. */
const maximumPages = 100

/** Null without a match or a key. Throws a NotOfferedError if the platform offers neither a single record nor a list. */
export async function findShown(
  caller: Caller,
  dataset: Dataset,
  record: JsonObject,
  signal: AbortSignal,
  mustShow: readonly string[] = [],
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
  const seen = new SeenRecords(dataset)
  const pages = caller.pages<Operation>(list, {
    params: search.params,
    query: search.query,
    // A platform that ignores the query sends all of its records, among which this one is found.
    handling: 'lenient',
    signal,
  })
  for await (const { data } of recordPages(caller, list, pages)) {
    const found = chosenOf(data.filter(isJsonObject), search)
    if (found) return found
    if (!caller.isOurs()) seen.add(caller, data, mustShow)
    left -= 1
    if (left === 0) break
  }
  return seen.recognise(caller, record)
}

/** Undefined if no item matches. */
export function chosenOf(shown: readonly JsonObject[], { matches, prefers }: Search): JsonObject | undefined {
  const matching = shown.filter(matches)
  return matching.find((item) => prefers?.(item)) ?? matching[0]
}

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

/** Records without an external id on a list of a remote platform. */
export class SeenRecords {
  readonly #dataset: Dataset
  /** Field that is shown also by records without an external id. */
  readonly #field: string
  readonly #seen = new Map<string, JsonObject>()
  #hasKeys = false

  constructor(dataset: Dataset) {
    this.#dataset = dataset
    this.#field = dataset.keys[1]?.[0] ?? 'title'
  }

  /** Throws a CommandError for a record that shows none of its keys: what an earlier run created could not be recognised. */
  add(caller: Caller, items: readonly unknown[], mustShow: readonly string[] = []): void {
    const { keys } = this.#dataset
    for (const item of items) {
      if (!isJsonObject(item) || item['status'] === 'deleted') continue
      const isNamed = keys.some((fields) => fields.every((each) => textOf(item[each]) !== ''))
      const text = textOf(item[this.#field])
      const hidesKey = mustShow.some((each) => item[each] === undefined)
      if (hidesKey || (!isNamed && text === '')) throw this.#unrecognisable(caller, item, mustShow)
      if (keys[0]?.[0] !== 'externalId') continue
      if ((item['externalId'] ?? '') !== '') this.#hasKeys = true
      else if (text !== '' && !this.#seen.has(text)) this.#seen.set(text, item)
    }
  }

  /** Null for a new record. Throws a CommandError for another with the same title, which this one would duplicate. */
  recognise(caller: Caller, record: JsonObject): JsonObject | null {
    const { name, noun } = this.#dataset
    const { externalId } = record
    const shown = typeof externalId === 'string' ? this.#seen.get(textOf(record[this.#field])) : undefined
    if (shown === undefined) return null
    if (this.#field !== 'title') return shown
    const hidden = `the external ids of ${this.#hasKeys ? `all ${name}` : name}`
    const message = `${this.#hostOf(caller)} does not show ${hidden}, so ${noun} ${externalId} cannot be recognised`
    throw new CommandError('not_recognised', 'failure', message, {
      why: [
        `It has a ${noun} with the same title, "${record['title']}" (${shown['id']}), which would be created again`,
      ],
      hint: `Use the URL of the ${noun} as its external id, as learnctl ${name} export writes it`,
    })
  }

  #unrecognisable(caller: Caller, item: JsonObject, hidden: readonly string[]): CommandError {
    const { name, noun, keys } = this.#dataset
    const fields = hidden.length > 0 ? hidden : [...new Set([...keys.flat(), this.#field])]
    const message = `${this.#hostOf(caller)} does not show ${fields.join(' or ')} of ${name}, so what is there cannot be recognised`
    return new CommandError('not_recognised', 'failure', message, {
      why: [`It sent ${Object.keys(item).slice(0, 20).join(', ')}`],
      hint: `Say in a platform file where they stand: records: { ${noun}: { ${fields[0]}: /… } }`,
    })
  }

  #hostOf(caller: Caller): string {
    return new URL(caller.request<Operation>(this.#dataset.operations.list).url).host
  }
}

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
