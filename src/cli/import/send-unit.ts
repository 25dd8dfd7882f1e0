import { AmbiguousError, ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { type Dataset, keyOf } from '../dataset/dataset.ts'
import { fieldPath } from '../operation/field-path.ts'
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
import type { Abilities } from './abilities.ts'
import type { Finder } from './finder.ts'
import type { Intent } from './journal.ts'
import type { Outcome } from './outcome.ts'
import type { Row } from './row.ts'
import type { Unit } from './unit.ts'

/** What sending needs. */
export interface Sending extends Writer {
  readonly dataset: Dataset
  readonly abilities: Abilities
  readonly finder: Finder
  readonly onExists: OnExists
  /** Whether the next row is likely to be new: then it is created at once, and looked for only if it is there. */
  readonly luck: { isNew: boolean }
  /** What the platform warned of: how many rows, and the first warning. */
  readonly warned: { rows: number; first: string }
  /** Replaces references that a platform elsewhere may not know. */
  readonly settle: (record: JsonObject) => Promise<JsonObject>
  /** Is called before a record is changed. */
  readonly noteChange: () => Promise<void>
  readonly refusals: Refusals
  /** True for a row that comes from a file of rejected rows, and may have been written. */
  readonly isDoubtful: (row: Row) => boolean
}

/** A row whose answer did not show whether it was written. */
export const unconfirmed = 'unconfirmed'

/** What is known of a unit before it is sent. */
export interface Attempt {
  /** The same for the same unit of the same import. */
  readonly idempotencyKey: string
  /** What it was to do when it was sent before, by a process that ended before it had an answer; null where it was not. */
  readonly before: Intent | null
  /** True where that is so long ago that the platform has forgotten the key. */
  readonly forgotten: boolean
  /** Notes that it is sent now: it may be as soon as the note is written. */
  readonly begin: (intent?: Intent) => Promise<void>
}

/** Sends a unit as one request; the server judges each row by itself. */
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

/** Sends each row of a unit by itself: it is looked for, then created or changed. */
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
    // The earlier import created it.
    if (shown !== null && onExists !== 'update') return { line, kind: 'created' }
    if (shown !== null) return changeRow(sending, row, shown, attempt)
  }
  // Where keys are known, a creation that was refused changed nothing, and one that is repeated is answered as the first.
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
      // It was absent before the request: only a conflict can be with a record that another import has made since.
      if (error.status !== 409) throw error
      await finder.prepare([record])
    }
    // What cannot be created may be changed; or something else has its name, such as the e-mail address.
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

/** What becomes of a row whose record is there, and is not to be changed. */
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

/** True where a record may be called by the id of one that has no external id, as exports call it. */
function mayBeId({ externalId }: JsonObject): boolean {
  return typeof externalId === 'string' && /^[a-z]+_/.test(externalId)
}

/** Sends a record that is always set as a whole; to do so again is harmless. */
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
    // Where keys are known, the same request tells what became of it, when the import goes on.
    if (!(error instanceof AmbiguousError) || abilities.keys) throw error
    if (!findable) return unknownOutcome(line)
    // What is not there yet may still come: the import stops, and looks again when it goes on.
    await finder.prepare([record])
    if ((await finder.find(record)).shown === null) throw error
  }
  return { line, kind: 'created' }
}

/** The outcome of a row that cannot be looked up, and may have been created: to send it again could double it. */
function unknownOutcome(line: number): Outcome {
  const message =
    'may have been created: nothing shows it, and the platform cannot be asked; check before you retry'
  return { line, kind: 'failed', code: unconfirmed, message }
}

/** A rejection in the words of the file: columns in place of the API's pointers. */
function rejected({ columns }: Dataset, line: number, refusal: Refusal): Outcome {
  const told = refusal.faults.map(({ pointer, parameter, detail }) => {
    // Where a record is looked up, `user_id` is what `userId` is where it is created.
    const named = String(parameter ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const path = pointer === undefined ? named : fieldPath(String(pointer))
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    return `${column?.name ?? path}: ${detail}`
  })
  const code = refusal.isDoubtful ? unconfirmed : refusal.code
  return { line, kind: 'failed', code, message: told.length > 0 ? told.join('; ') : refusal.detail }
}
