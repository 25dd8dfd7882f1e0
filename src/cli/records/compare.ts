import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { withoutIds } from '../dataset/record.ts'

/** A field that differs, as a dotted path. */
export interface Change {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/** Fields that the API takes and never shows. */
const writeOnly = ['password', 'extraCredit']
/** When a record of these was true: an earlier one never replaces a later one. */
const timeFields: Readonly<Record<string, string>> = { progress: 'lastAccessed', grades: 'gradedAt' }

/**
 * Returns the fields in which a record differs from the one that is there. Only fields that it has count, lists as wholes,
 * and both are compared in the form that the schema gives them.
 *
 * @param current as files have it
 */
export function changesOf(
  { schema, name }: Pick<Dataset, 'schema' | 'name'>,
  record: JsonObject,
  current: JsonObject,
): Change[] {
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

/** True for progress and grades of a time before that of the record that is there. */
export function isOlder({ name }: Pick<Dataset, 'name'>, record: JsonObject, shown: JsonObject): boolean {
  const field = timeFields[name]
  const time = field === undefined ? undefined : record[field]
  return (
    field !== undefined && typeof time === 'string' && Date.parse(time) < Date.parse(String(shown[field]))
  )
}

/** A record that restores the user that is there, if it was deleted and the record says nothing of its status. */
export function restoring(record: JsonObject, shown: JsonObject): JsonObject {
  const isDeleted = shown['status'] === 'deleted' && record['status'] === undefined
  return isDeleted ? { ...record, status: 'active' } : record
}

/** What a merge patch makes of a value (RFC 7396), null being a value here. */
function merge(value: unknown, patch: JsonObject): JsonObject {
  const merged: JsonObject = isJsonObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    merged[name] = isJsonObject(member) ? merge(merged[name], member) : member
  }
  return merged
}

/** A record as its schema has it; fields with a value that it does not know, as of another platform, stay as they are. */
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

/** Content without the ids that the server gave it. */
function withoutOwnIds(path: string, value: unknown): unknown {
  if (path === 'contentBlocks') return withoutIds(value)
  return path === 'assessments' ? withoutIds(value, 'questions') : value
}

/** A course that was completed since stays completed. */
function isReopening({ field, from, to }: Change): boolean {
  return field === 'status' && from === 'completed' && to === 'active'
}
