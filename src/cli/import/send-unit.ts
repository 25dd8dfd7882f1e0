import { AmbiguousError, ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { type Dataset, keyOf } from '../dataset/dataset.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { Abilities } from '../records/abilities.ts'
import { restoring } from '../records/compare.ts'
import { restoreLesson } from '../records/restore-lessons.ts'
import {
  createRecord,
  type OnExists,
  type Refusal,
  type Refusals,
  updateRecord,
  versionOf,
  type Writer,
  writeBatch,
} from '../records/write.ts'
import type { Finder } from './finder.ts'
import type { Intent } from './journal.ts'
import type { Outcome } from './outcome.ts'
import type { Row } from './row.ts'
import type { Unit } from './unit.ts'

/** State that sending a unit needs. */
export interface Sending extends Writer {
  readonly dataset: Dataset
  readonly abilities: Abilities
  readonly finder: Finder
  readonly onExists: OnExists
  /** True if the next row is probably new: it is then created at once, and looked up only on a conflict. */
  readonly luck: { isNew: boolean }
  /** Number of rows with warnings, and the first warning. */
  readonly warned: { rows: number; first: string }
  /** Replaces references that a remote platform may not know. */
  readonly settle: (record: JsonObject) => Promise<JsonObject>
  /** Called before a record is changed. */
  readonly noteChange: () => Promise<void>
  readonly refusals: Refusals
  /** True for a row from an errors file that may have been written already. */
  readonly isDoubtful: (row: Row) => boolean
}

/** Rejection code of a row that may or may not have been written. */
export const unconfirmed = 'unconfirmed'

/** State of a unit before it is sent. */
export interface Attempt {
  /** Stable for the same unit of the same import. */
  readonly idempotencyKey: string
  /** Intent recorded by an earlier process that ended without an answer; null if there was none. */
  readonly before: Intent | null
  /** True if the earlier attempt is so old that the platform has dropped its key. */
  readonly forgotten: boolean
  /** Records that the unit is about to be sent; send it only after this resolves. */
  readonly begin: (intent?: Intent) => Promise<void>
}

/** Sends a unit as one request; the server validates each row separately. */
export async function sendBatch(
  sending: Sending,
  { rows }: Unit,
  { idempotencyKey, before, begin }: Attempt,
): Promise<Outcome[]> {
  const { dataset, onExists, warned } = sending
  if (before === null) await begin()
  const items = rows.map(({ record }) => ({ ...dataset.presumed, ...record }))
  const results = await writeBatch(sending, dataset, items, onExists, idempotencyKey)
  return results.map((result, index): Outcome => {
    const line = rows[index]?.line ?? 0
    if (result.kind === 'failed') return rejected(dataset, line, result)
    noteWarning(warned, result.warning)
    return { line, kind: result.kind }
  })
}

function noteWarning(warned: Sending['warned'], warning: string | null): void {
  if (warning === null) return
  if (warned.rows === 0) warned.first = warning
  warned.rows += 1
}

/** Sends the rows of a unit one by one: looks each up, then creates or updates it. */
export async function sendSingly(sending: Sending, { rows }: Unit, attempt: Attempt): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const row of rows) {
    const key = `${attempt.idempotencyKey}-${row.line}`
    try {
      const record = await sending.settle(row.record)
      outcomes.push(await sendRow(sending, { ...row, record }, { ...attempt, idempotencyKey: key }))
      sending.refusals.reset()
    } catch (error) {
      outcomes.push(rejected(sending.dataset, row.line, sending.refusals.of(error)))
    }
  }
  return outcomes
}

async function sendRow(sending: Sending, row: Row, attempt: Attempt): Promise<Outcome> {
  const { dataset, abilities, finder, onExists, luck } = sending
  const { line, record } = row
  const { before, begin } = attempt
  const keys = abilities.keys && !attempt.forgotten
  if (dataset.operations.update === undefined) return setRow(sending, row, attempt)
  const findable = abilities.find && keyOf(dataset, record) !== null
  if (before !== null && !keys && !findable) return unknownOutcome(line)
  if (before === null && sending.isDoubtful(row)) {
    if (!findable) return unknownOutcome(line)
    const { shown } = await finder.find(record)
    // Created by the earlier import.
    if (shown !== null && onExists !== 'update') return { line, kind: 'created' }
    if (shown !== null) return changeRow(sending, row, shown, attempt)
  }
  // With idempotency keys, a refused creation changed nothing, and a repeated one gets its first answer.
  const first = before?.kind === 'created' || (before === null && luck.isNew && !mayBeId(record))
  const isLookedFor = findable && !(keys && (onExists === 'fail' || first))
  if (isLookedFor) {
    const { shown } = await finder.find(record)
    // Created by this import before it was interrupted.
    if (shown !== null && before?.kind === 'created') return { line, kind: 'created' }
    if (shown !== null) return changeRow(sending, row, shown, attempt)
    luck.isNew = true
  }
  if (before === null) await begin({ kind: 'created' })
  try {
    return await createRow(sending, row, attempt, findable)
  } catch (error) {
    const refused = error instanceof ApiError && [400, 409, 422].includes(error.status)
    if (!refused || onExists === 'fail' || !findable) throw error
    if (isLookedFor) {
      // The record did not exist before the request: only a 409 can mean that another import has created it since.
      if (error.status !== 409) throw error
      await finder.prepare([record])
    }
    // The record may exist, or another one may have its name, such as the e-mail address.
    const found = (await finder.find(record)).shown
    const restored =
      found === null && onExists === 'update' ? await restoreLesson(sending, dataset, record, error) : null
    const shown = found ?? restored
    if (shown === null) throw error
    luck.isNew = false
    const outcome = await changeRow(sending, row, shown, { ...attempt, before: null })
    return restored && outcome.kind === 'unchanged' ? { line, kind: 'updated' } : outcome
  }
}

/** Returns the outcome of a row whose record exists and is not to be updated. */
function existing({ noun }: Dataset, line: number, onExists: 'skip' | 'fail'): Outcome {
  if (onExists === 'skip') return { line, kind: 'skipped' }
  return { line, kind: 'failed', code: 'duplicate', message: `the ${noun} already exists` }
}

async function changeRow(
  sending: Sending,
  { line, record }: Row,
  shown: JsonObject,
  { before, begin }: Attempt,
): Promise<Outcome> {
  const { dataset, names, onExists } = sending
  if (onExists !== 'update') return existing(dataset, line, onExists)
  await sending.noteChange()
  const version = before === null ? versionOf(shown) : before.version
  if (before === null) await begin({ kind: 'updated', ...(version !== undefined && { version }) })
  const body = await dataset.toBody(restoring(record, shown), shown, names)
  const { data } = await updateRecord(sending, dataset, shown, body)
  const same = version !== undefined && versionOf(data) === version
  return { line, kind: same ? 'unchanged' : 'updated' }
}

/** True if the external id may be the id of a record without one, as exports write it. */
function mayBeId({ externalId }: JsonObject): boolean {
  return typeof externalId === 'string' && /^[a-z]+_/.test(externalId)
}

/** Sends a record that is always set as a whole; repeating that is harmless. */
async function setRow(sending: Sending, { line, record }: Row, { before, begin }: Attempt): Promise<Outcome> {
  const { dataset, finder, onExists, warned } = sending
  if (onExists !== 'update' && before === null && (await finder.find(record)).shown !== null) {
    return existing(dataset, line, onExists)
  }
  if (before === null) await begin()
  const { data } = await createRecord(sending, dataset, { ...dataset.presumed, ...record })
  const warnings = isJsonObject(data) ? data['warnings'] : undefined
  const [warning] = Array.isArray(warnings) ? warnings.filter(isJsonObject) : []
  noteWarning(warned, warning?.['code'] === 'unweighted' ? String(warning['detail']) : null)
  return { line, kind: 'updated' }
}

async function createRow(
  sending: Sending,
  { line, record }: Row,
  { idempotencyKey }: Attempt,
  findable: boolean,
): Promise<Outcome> {
  const { abilities, dataset, finder } = sending
  try {
    await createRecord(sending, dataset, record, idempotencyKey)
  } catch (error) {
    // With idempotency keys, repeating the request on resume gives its outcome.
    if (!(error instanceof AmbiguousError) || abilities.keys) throw error
    if (!findable) return unknownOutcome(line)
    // A missing record may still appear: the import stops, and looks again when it resumes.
    await finder.prepare([record])
    if ((await finder.find(record)).shown === null) throw error
  }
  return { line, kind: 'created' }
}

/** Outcome of a row that may have been created and cannot be looked up: sending it again could duplicate it. */
function unknownOutcome(line: number): Outcome {
  const message =
    'may have been created: nothing shows it, and the platform cannot be asked; check before you retry'
  return { line, kind: 'failed', code: unconfirmed, message }
}

/** Returns a rejection that names columns of the file instead of the API's pointers. */
function rejected({ columns }: Dataset, line: number, refusal: Refusal): Outcome {
  const told = refusal.faults.map(({ pointer, parameter, detail }) => {
    // A lookup names `user_id` what a creation names `userId`.
    const named = String(parameter ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const path = pointer === undefined ? named : fieldPath(String(pointer))
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    return `${column?.name ?? path}: ${detail}`
  })
  const code = refusal.isDoubtful ? unconfirmed : refusal.code
  return { line, kind: 'failed', code, message: told.length > 0 ? told.join('; ') : refusal.detail }
}
