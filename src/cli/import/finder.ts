import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { findByKeys, findShown, type Match, seenRecords } from '../dataset/find.ts'
import { externalKeyOf, idAtAddress, recordPages } from '../dataset/shown-records.ts'

/** Finds the existing records that rows refer to. */
export interface Finder {
  /** Prefetches these records, which are looked up next. */
  prepare(records: readonly JsonObject[]): Promise<void>
  /** Returns the existing record that shares a key with this one. */
  find(record: JsonObject): Promise<Match>
}

/** Number of records per page; the API's maximum. */
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
    for await (const { data, around, strict } of recordPages(caller, list, pages)) {
      const total = Number(around['total'] ?? Number.NaN)
      if (total > atMostPages * pageSize || left === 0) return null
      left -= 1
      if (!strict) seen.add(data)
      for (const item of data) {
        if (!isJsonObject(item)) continue
        if (wanted === null) found.set(keyText('id', item['id']), item)
        for (const field of fields) {
          const text = keyText(field, field === 'externalId' ? externalKeyOf(item) : item[field])
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
    fields.flatMap((field) => ((record[field] ?? null) === null ? [] : [keyText(field, record[field])]))
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
        const shown = all.get(id === null ? keyText(field, key[field]) : keyText('id', id))
        return shown ?? (id === null ? seen.recognise(caller, key) : null)
      })
    },
  }
}

function keyText(field: string, value: unknown): string {
  // E-mail addresses are compared without case.
  return `${field}=${field === 'email' ? String(value).toLowerCase() : String(value)}`
}
