import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { bare } from '../../contract/fields.ts'
import { valueAt } from '../../tables/column.ts'
import { type Dataset, referencesIn, referredNouns } from '../dataset/dataset.ts'
import { type Names, withoutIds, withoutOwnId } from '../dataset/names.ts'

/** `field` is a dotted path. */
export interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** Fields that the API accepts and never shows. */
const writeOnly = ['password', 'extraCredit']
/** Time field of each dataset whose earlier records must not replace later ones. */
const timeFields: Readonly<Record<string, string>> = { progress: 'lastAccessed', grades: 'gradedAt' }

/** Absent fields are ignored, lists are compared as wholes. `current` is in the form of files. */
export function changesOf(
  { schema, name }: Pick<Dataset, 'schema' | 'name'>,
  record: JsonObject,
  current: JsonObject,
): Change[] {
  if (isIncluded(record, current)) return []
  const [before, after] = [normal(schema, current), normal(schema, merge(current, record))]
  const changes: Change[] = []
  const compare = (path: string, given: unknown, from: unknown, to: unknown) => {
    if (given === undefined) return
    if (isJsonObject(given) && isJsonObject(to)) {
      for (const [field, member] of Object.entries(given)) {
        compare(`${path}.${field}`, member, isJsonObject(from) ? from[field] : undefined, to[field])
      }
      return
    }
    const [then, now] = [withoutOwnIds(path, from), withoutOwnIds(path, to)]
    if (!isDeepStrictEqual(then, now)) changes.push({ field: path, from: then ?? null, to: now })
  }
  for (const [field, given] of Object.entries(record)) {
    if (!writeOnly.includes(field)) compare(field, given, before[field], after[field])
  }
  return changes.filter((change) => name !== 'enrollments' || !isReopening(change))
}

/** Throws a RecordError if the record cannot be sent. */
export async function columnsChanged(
  { dataset, names }: { readonly dataset: Dataset; readonly names: Names },
  record: JsonObject,
  shown: JsonObject,
): Promise<readonly string[]> {
  await dataset.toBody(record, shown, names)
  const current = await dataset.toRecord(shown, names)
  const given = { ...withoutOwnId(record, shown) }
  for (const { field, to, reference } of referencesIn(dataset, given)) {
    const isKey = dataset.keys.some((fields) => fields.includes(field))
    const id = shown[field] ?? shown[`${field}Id`]
    const isSame = isKey || (await names[referredNouns[to]](reference))?.['id'] === id
    if (isSame) given[field] = current[field]
  }
  const changes = changesOf(dataset, given, current).map(({ field }) => field)
  const isWithin = (path: string, field: string) => path === field || path.startsWith(`${field}.`)
  return dataset.columns.flatMap(({ name, path, secret }) => {
    const isSet = secret && valueAt(record, path) !== undefined
    return isSet || changes.some((field) => isWithin(path, field) || isWithin(field, path)) ? [name] : []
  })
}

/** Days of the record get the existing times, in UTC. */
export function withTimesOf(record: JsonObject, days: readonly string[], current: JsonObject): JsonObject {
  const same = days.filter((field) => {
    const day = dayOf(record[field])
    return day !== null && day === dayOf(current[field])
  })
  if (same.length === 0) return record
  return { ...record, ...Object.fromEntries(same.map((field) => [field, current[field]])) }
}

/** Returns the day of a time in UTC, `YYYY-MM-DD`; null for other values. */
function dayOf(time: unknown): string | null {
  return typeof time === 'string' && time.endsWith('Z') ? time.slice(0, 10) : null
}

/** True if each declared value equals the existing one, so that both have one form; write-only fields always differ. */
function isIncluded(record: JsonObject, current: JsonObject): boolean {
  for (const field of Object.keys(record)) {
    const [given, value] = [record[field], current[field]]
    if (given === undefined || given === value) continue
    if (!isJsonObject(given) || !isJsonObject(value) || !isIncluded(given, value)) return false
  }
  return true
}

/** True for progress and grades that are older than the existing record. */
export function isOlder({ name }: Pick<Dataset, 'name'>, record: JsonObject, shown: JsonObject): boolean {
  const field = timeFields[name]
  const time = field === undefined ? undefined : record[field]
  return (
    field !== undefined && typeof time === 'string' && Date.parse(time) < Date.parse(String(shown[field]))
  )
}

/** Restores a deleted user if the record has no status. */
export function restoring(record: JsonObject, shown: JsonObject): JsonObject {
  const isDeleted = shown['status'] === 'deleted' && record['status'] === undefined
  return isDeleted ? { ...record, status: 'active' } : record
}

/** RFC 7396, but null is a value. */
function merge(value: unknown, patch: JsonObject): JsonObject {
  const merged: JsonObject = isJsonObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    merged[name] = isJsonObject(member) ? merge(merged[name], member) : member
  }
  return merged
}

/** Values that the schema rejects, as from another platform, stay unchanged. */
function normal(schema: z.ZodObject, record: JsonObject): JsonObject {
  const whole = schema.safeParse(record)
  if (whole.success) return whole.data
  const known = Object.entries(schema.shape).flatMap(([name, member]) => {
    // A shape holds schemas; zod's type for them is wider.
    const field = (member as z.ZodType).safeParse(record[name])
    return field.success && field.data !== undefined ? [[name, field.data] as const] : []
  })
  return { ...record, ...Object.fromEntries(known) }
}

function withoutOwnIds(path: string, value: unknown): unknown {
  if (path === 'contentBlocks') return withoutIds(value)
  return path === 'assessments' ? withoutIds(value, 'questions') : value
}

/** True if a completed enrolment would be reopened. */
function isReopening({ field, from, to }: Change): boolean {
  return field === 'status' && from === 'completed' && to === 'active'
}

export function withoutDefaults(schema: z.ZodType, value: unknown): unknown {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => withoutDefaults(inner.element as z.ZodType, item))
  }
  if (!(inner instanceof z.ZodObject) || !isJsonObject(value)) return value
  const result: JsonObject = {}
  for (const [name, member] of Object.entries(inner.shape)) {
    // A shape holds schemas; zod's type for them is wider.
    const field = member as z.ZodType
    const short = withoutDefaults(field, value[name])
    if (short === undefined) continue
    const standard = field.safeParse(undefined)
    if (standard.success && isDeepStrictEqual(short, withoutDefaults(field, standard.data))) continue
    result[name] = short
  }
  return result
}
