import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { withoutIds } from '../dataset/record.ts'
import type { Entry } from './entry.ts'
import type { PartDataset } from './load-part.ts'
import type { Change } from './plan.ts'

/** Fields that no comparison looks at: they are never shown. */
const unseen = ['password', 'extraCredit']

/**
 * The fields in which a record differs from what is declared: only those that are declared count, and lists count as
 * wholes. What a server brings into another form, such as a time, is compared in that form.
 *
 * @param current as files have it
 */
export function changesOf({ schema, name }: PartDataset, { record }: Entry, current: JsonObject): Change[] {
  const parsed = schema.safeParse(record)
  // Platforms elsewhere may have choices that the schema does not know.
  const normal = parsed.success ? parsed.data : record
  const changes: Change[] = []
  const compare = (path: string, given: unknown, meant: unknown, there: unknown) => {
    if (given === undefined) return
    if (isJsonObject(given) && isJsonObject(meant)) {
      for (const [field, member] of Object.entries(given)) {
        compare(`${path}.${field}`, member, meant[field], isJsonObject(there) ? there[field] : undefined)
      }
    } else if (!isDeepStrictEqual(asShown(path, meant), there ?? null)) {
      changes.push({ field: path, from: there ?? null, to: asShown(path, meant) })
    }
  }
  for (const [field, given] of Object.entries(record)) {
    if (!unseen.includes(field)) compare(field, given, normal[field], current[field])
  }
  return changes.filter((change) => name !== 'enrollments' || !isCompletion(change))
}

/** What a server shows of a value: content has ids of the server's own. */
function asShown(path: string, value: unknown): unknown {
  if (path === 'contentBlocks') return withoutIds(value)
  return path === 'assessments' ? withoutIds(value, 'questions') : value
}

/** A course that has been completed since stays completed. */
function isCompletion({ field, from, to }: Change): boolean {
  return field === 'status' && from === 'completed' && to === 'active'
}

/** What is sent to change these fields alone: objects hold no more than what is declared of them. */
export function changedPart({ record }: Entry, changes: readonly Change[]): JsonObject {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}
