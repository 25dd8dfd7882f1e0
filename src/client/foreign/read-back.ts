import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Written } from '../call.ts'
import type { ProtocolError } from '../errors.ts'
import { nounOf } from './names.ts'
import type { ReadRecord } from './references.ts'
import { sameReference } from './same-value.ts'
import { type ComparedField, compareFields, isObjection } from './written.ts'

/** Reads of the platform that was written to. */
export interface Readers {
  readonly read: ReadRecord
  readonly pages: (
    operation: Operation,
    input: AnyInput,
  ) => AsyncIterable<{ readonly data: readonly unknown[] }>
}

/** A record that shows that a write was done. */
interface ReadBack {
  readonly record: JsonObject
  readonly written: Written
}

/** Maximum number of pages to search for a record. */
const maxPages = 25

/**
 * Reads the record of a write that the response did not confirm (`not_shown`), where each platform publishes a read of it: a
 * course by its id or external id, progress in the rows of analytics. Returns the record if it has the values that were
 * sent; null if it does not, if it cannot be read, and if the response objected. A new record is never recognised by its
 * title: another one may have the same.
 */
export async function readBack(
  readers: Readers,
  operation: Operation,
  input: AnyInput,
  { answer }: ProtocolError,
): Promise<ReadBack | null> {
  if (isObjection(answer)) return null
  const record = await readRecord(readers, operation, input).catch(() => null)
  input.signal?.throwIfAborted()
  if (!isJsonObject(record)) return null
  const fields = compareFields({ operation, input }, [record], nounOf(operation))
  return isConfirmed(fields)
    ? { record, written: { shown: true, other: [], unshown: unshownIn(fields) } }
    : null
}

/** Reads the record that a write is about; null if no published read shows it. */
async function readRecord({ read, pages }: Readers, { id }: Operation, input: AnyInput): Promise<unknown> {
  const { params = {}, signal } = input
  const body = isJsonObject(input.body) ? input.body : {}
  switch (id) {
    case calls.courses.update.id:
      return (await read(calls.courses.get, { params, signal })).data
    case calls.courses.create.id: {
      const { externalId } = body
      if (typeof externalId !== 'string') return null
      const query = { external_id: externalId }
      return firstOf(
        pages(calls.courses.list, { query, signal }),
        (course) => course['externalId'] === externalId,
      )
    }
    case calls.progress.set.id: {
      const { learnerId = '' } = params
      const { courseId } = body
      const query = { learner_id: learnerId, course_id: String(courseId) }
      return firstOf(
        pages(calls.analytics.learners, { query, signal }),
        (row) =>
          sameReference(learnerId, row['learnerId']) === true &&
          sameReference(courseId, row['courseId']) === true,
      )
    }
    default:
      return null
  }
}

async function firstOf(
  pages: AsyncIterable<{ readonly data: readonly unknown[] }>,
  matches: (record: JsonObject) => boolean,
): Promise<JsonObject | null> {
  let left = maxPages
  for await (const { data } of pages) {
    const found = data.filter(isJsonObject).find(matches)
    if (found) return found
    left -= 1
    if (left === 0) break
  }
  return null
}

/** True if a value that was sent is shown and none differs. */
function isConfirmed(fields: readonly ComparedField[]): boolean {
  return (
    fields.some(({ verdict, inBody, field }) => verdict === true && inBody && !isKey(field)) &&
    fields.every(({ verdict }) => verdict !== false)
  )
}

/** True for a field that the record was found by, which shows nothing about the others. */
function isKey(field: string): boolean {
  return field === 'externalId' || field === 'courseId'
}

function unshownIn(fields: readonly ComparedField[]): string[] {
  return fields.flatMap(({ field, verdict, inBody, isHidden }) =>
    inBody && verdict === null && isHidden ? [field] : [],
  )
}
