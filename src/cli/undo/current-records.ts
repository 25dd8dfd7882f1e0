import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Writing } from '../records/execute.ts'
import type { NetChange, NewIds } from './net-change.ts'
import type { RecordKind } from './record-kinds.ts'

/** Records to read one by one at most; more are read from the list, if that takes fewer requests. */
const maxSingly = 20

/** Returns the records of a kind as they are now, by the id that the change has recorded. Missing ones are left out. */
export async function readCurrent(
  reading: Writing,
  kind: RecordKind,
  changed: readonly NetChange[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>()
  const left =
    kind.listed === null || changed.length <= maxSingly
      ? changed
      : await readListed(reading, kind, changed, found)
  for (const net of left) {
    await reading.pacing.run(async () => {
      const shown = await readOne(reading, kind, net)
      if (shown) found.set(net.id, shown)
    })
  }
  await reading.pacing.settled()
  return found
}

/** Reads the list if it is shorter than a request for each record. Returns the records that it cannot show. */
async function readListed(
  { caller, signal }: Writing,
  { dataset, listed, sought, isMarked }: RecordKind,
  changed: readonly NetChange[],
  found: Map<string, JsonObject>,
): Promise<readonly NetChange[]> {
  const ids = new Map(changed.map(({ id }) => [id, id]))
  const keyOf = (record: JsonObject) => (sought ? jsonText(sought(record)) : '')
  // A record that was deleted and created again has another id.
  const idsByKey = new Map(sought ? changed.map(({ known, id }) => [keyOf(known), id]) : [])
  const query = { ...listed, limit: maxPageSize, include_total: true }
  let isFirst = true
  for await (const { data, around } of caller.pages<Operation>(dataset.operations.list, { query, signal })) {
    const total = Number(around['total'] ?? Number.NaN)
    if (isFirst && !(total / maxPageSize <= changed.length)) return changed
    isFirst = false
    for (const item of data.filter(isJsonObject)) {
      const id = ids.get(String(item['id'])) ?? idsByKey.get(keyOf(item))
      if (id !== undefined) found.set(id, item)
    }
  }
  // Deleted enrolments are not listed; those that were deleted are read for their version.
  return isMarked ? changed.filter(({ id, isThere }) => !found.has(id) && !isThere) : []
}

async function readOne(
  { caller, signal }: Writing,
  { dataset, sought, name }: RecordKind,
  { id, known }: NetChange,
): Promise<JsonObject | null> {
  const { get, list, params } = dataset.operations
  const record = { ...known, id }
  try {
    if (get) {
      const { data } = await caller.call<Operation>(get, { params: params(record), signal })
      return isJsonObject(data) ? data : null
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  if (!sought) return null
  const query = { ...sought(record), limit: 1 }
  const inPath = name === 'mapping' ? { params: { lmsKind: String(known['lmsKind']) } } : {}
  try {
    for await (const { data } of caller.pages<Operation>(list, { ...inPath, query, signal })) {
      const [first] = data
      return isJsonObject(first) ? first : null
    }
  } catch (error) {
    // The record that it belongs to was deleted, too.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  return null
}

/**
 * Adds the present ids of terms that records named, but that have been deleted and created again since, by another
 * change: the audit log knows what they were called.
 */
export async function addTermIds(
  { caller, signal }: Writing,
  records: readonly NetChange[],
  newIds: NewIds,
): Promise<void> {
  const own = new Set(records.map(({ id }) => id))
  const named = new Set(
    records.flatMap(({ noun, fields, known }) => {
      const id = newIds.of('term', fields.get('termId')?.from ?? known['termId'])
      return noun === 'course' && typeof id === 'string' && !own.has(id) ? [id] : []
    }),
  )
  if (named.size === 0) return
  try {
    const terms: JsonObject[] = []
    for await (const { data } of caller.pages(calls.terms.list, { query: { limit: maxPageSize }, signal }))
      terms.push(...data)
    for (const id of named) {
      if (terms.some((term) => term['id'] === id)) continue
      const query = { noun: 'term', subject_id: id, limit: 1 } as const
      const { data } = await caller.call(calls.audit.list, { query, signal })
      const [entry] = data.data
      const { externalId = null, name } = { ...entry?.after, ...entry?.before }
      const same = terms.find((term) =>
        externalId === null ? term['name'] === name : term['externalId'] === externalId,
      )
      if (same) newIds.set('term', id, same['id'])
    }
  } catch (error) {
    if (!(error instanceof ApiError && [403, 404].includes(error.status))) throw error
  }
}
