import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { findByKeys, findShown, type Match, seenRecords } from '../dataset/find.ts'
import { externalKeyOf, idAtAddress, recordPages } from '../dataset/shown-records.ts'

/** Looks for the records of rows among those that are there. */
export interface Finder {
  /** Gets ready for these records, which are looked for next. */
  prepare(records: readonly JsonObject[]): Promise<void>
  /** The record that is there under a key of this one. */
  find(record: JsonObject): Promise<Match>
}

/** A page of a list holds so many records, the most that the API gives. */
const pageSize = 100

/** Asks for each record by itself. */
export function oneByOne(caller: Caller, dataset: Dataset, signal: AbortSignal): Finder {
  const find = (key: JsonObject) => findShown(caller, dataset, key, signal)
  return { prepare: async () => {}, find: (record) => findByKeys(dataset, record, find) }
}

/**
 * Reads the whole list where that takes fewer requests than to ask for each of many records, else asks for each. Records
 * whose key has several fields, such as enrolments, are always asked for.
 *
 * @param always where the platform shows no single record; then all of the list is kept
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
    const pages = caller.pages<Operation>(list, { query, handling: 'strict', signal })
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
          // Of those that are deleted, the external id alone is still a name.
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
  // Addresses are the same in any case.
  return `${field}=${field === 'email' ? String(value).toLowerCase() : String(value)}`
}
