import type { Caller } from '../../client/caller.ts'
import { AmbiguousError, ApiError, isAboutRecord, ProtocolError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Dataset, keyOf, RecordError } from '../dataset/dataset.ts'
import type { Names } from '../dataset/names.ts'
import { fieldPath } from '../operation/field-path.ts'
import type { WriteNotes } from '../operation/write-notes.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Abilities } from './abilities.ts'
import type { Finder } from './finder.ts'
import type { Intent } from './journal.ts'
import type { Outcome } from './outcome.ts'
import type { Row } from './row.ts'
import type { Unit } from './unit.ts'

/** What happens to a row whose record is there already. */
export const existsModes = ['update', 'skip', 'fail'] as const
export type OnExists = (typeof existsModes)[number]

/** What sending needs. */
export interface Sending {
  readonly caller: Caller
  readonly dataset: Dataset
  readonly names: Names
  readonly abilities: Abilities
  readonly finder: Finder
  readonly onExists: OnExists
  /** Whether the next row is likely to be new: then it is created at once, and looked for only if it is there. */
  readonly luck: { isNew: boolean }
  /** What the platform warned of: how many rows, and the first warning. */
  readonly warned: { rows: number; first: string }
  readonly signal: AbortSignal
  /** Replaces references that a platform elsewhere may not know. */
  readonly settle: (record: JsonObject) => Promise<JsonObject>
  readonly notes: WriteNotes
  /** Is called before a record is changed. */
  readonly noteChange: () => Promise<void>
  /** The last answer that did not show its row to be written, and how many rows in a row had it. */
  readonly refusal: { text: string; rows: number }
  /** True for a row that comes from a file of rejected rows, and may have been written. */
  readonly isDoubtful: (row: Row) => boolean
}

/** A row whose answer did not show whether it was written. */
export const unconfirmed = 'unconfirmed'
/** Maximum number of rows in a row that are refused with one answer: it is about all of them. */
const maxAlike = 3

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
  { caller, dataset, onExists, signal, warned }: Sending,
  { rows }: Unit,
  { idempotencyKey, before, begin }: Attempt,
): Promise<Outcome[]> {
  const { batch } = dataset.operations
  if (!batch) throw new TypeError(`${dataset.name} have no batch`)
  if (before === null) await begin()
  const items = rows.map(({ record }) => ({ ...dataset.presumed, ...record }))
  const { data } = await caller.call<Operation>(batch, { body: { items, onExists }, idempotencyKey, signal })
  const results: unknown = isJsonObject(data) ? data['results'] : undefined
  if (!Array.isArray(results) || results.length !== rows.length) {
    const count = Array.isArray(results) ? results.length : 0
    throw new CommandError(
      'invalid_response',
      'failure',
      `The platform returned ${count} results for ${rows.length} rows`,
      {
        why: [`${batch.method} ${batch.path}`],
      },
    )
  }
  for (const result of results) noteWarning(warned, result)
  return rows.map((row, index) => outcomeOf(dataset, row, results[index]))
}

function noteWarning(warned: Sending['warned'], told: unknown): void {
  if (!isJsonObject(told) || told['code'] !== 'unweighted') return
  if (warned.rows === 0) warned.first = String(told['detail'])
  warned.rows += 1
}

function outcomeOf(dataset: Dataset, { line }: Row, result: unknown): Outcome {
  const { status, code, detail, errors } = isJsonObject(result) ? result : {}
  if (Number(status) >= 400 || typeof status !== 'number') {
    const faults = Array.isArray(errors) ? errors.filter(isJsonObject) : []
    return rejected(dataset, line, String(code ?? 'failed'), faults, String(detail ?? 'was refused'))
  }
  if (code === 'skipped' || code === 'unchanged') return { line, kind: code }
  return { line, kind: status === 201 ? 'created' : 'updated' }
}

/** Sends each row of a unit by itself: it is looked for, then created or changed. */
export async function sendSingly(sending: Sending, { rows }: Unit, attempt: Attempt): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const row of rows) {
    const key = `${attempt.idempotencyKey}-${row.line}`
    try {
      const record = await sending.settle(row.record)
      outcomes.push(await sendRow(sending, { ...row, record }, { ...attempt, idempotencyKey: key }))
      sending.refusal.rows = 0
    } catch (error) {
      requireOther(sending.refusal, error)
      outcomes.push(failureOf(sending.dataset, row, error))
    }
  }
  return outcomes
}

/** Throws an answer with the status of a success that refuses one row after the other: a bad credential would. */
function requireOther(refusal: Sending['refusal'], error: unknown): void {
  const isAnswer = error instanceof ProtocolError || (error instanceof ApiError && error.status < 300)
  const text = isAnswer ? (error.answer?.body ?? '') : ''
  refusal.rows = text !== '' && text === refusal.text ? refusal.rows + 1 : 1
  refusal.text = text
  if (text !== '' && refusal.rows >= maxAlike) throw error
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
    const shown = await finder.find(record)
    // The earlier import created it.
    if (shown !== null && onExists !== 'update') return { line, kind: 'created' }
    if (shown !== null) return changeRow(sending, row, shown, attempt)
  }
  // Where keys are known, a creation that was refused changed nothing, and one that is repeated is answered as the first.
  const first = before?.kind === 'created' || (before === null && luck.isNew && !mayBeId(record))
  const isLookedFor = findable && !(keys && (onExists === 'fail' || first))
  if (isLookedFor) {
    const shown = await finder.find(record)
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
    const shown = await finder.find(record)
    if (shown === null) throw error
    luck.isNew = false
    return changeRow(sending, row, shown, { ...attempt, before: null })
  }
}

/** What becomes of a row whose record is there, and is not to be changed. */
function existing({ noun }: Dataset, line: number, onExists: 'skip' | 'fail'): Outcome {
  if (onExists === 'skip') return { line, kind: 'skipped' }
  return { line, kind: 'failed', code: 'duplicate', message: `the ${noun} already exists` }
}

async function changeRow(
  { caller, dataset, names, noteChange, notes, onExists, signal }: Sending,
  { line, record }: Row,
  shown: JsonObject,
  { before, begin }: Attempt,
): Promise<Outcome> {
  if (onExists !== 'update') return existing(dataset, line, onExists)
  const { update, params } = dataset.operations
  if (!update) throw new TypeError(`${dataset.name} have no update`)
  await noteChange()
  const version = before === null ? versionOf(shown) : before.version
  if (before === null) await begin({ kind: 'updated', ...(version !== undefined && { version }) })
  const body = await dataset.toBody(record, shown, names)
  const { data, written } = await caller.call<Operation>(update, { params: params(shown), body, signal })
  notes.take(written)
  const same = version !== undefined && versionOf(data) === version
  return { line, kind: same ? 'unchanged' : 'updated' }
}

/** True where a record may be called by the id of one that has no external id, as exports call it. */
function mayBeId({ externalId }: JsonObject): boolean {
  return typeof externalId === 'string' && /^[a-z]+_/.test(externalId)
}

/** Sends a record that is always set as a whole; to do so again is harmless. */
async function setRow(
  { caller, dataset, finder, names, notes, onExists, signal, warned }: Sending,
  { line, record }: Row,
  { before, begin }: Attempt,
): Promise<Outcome> {
  if (onExists !== 'update' && before === null && (await finder.find(record)) !== null) {
    return existing(dataset, line, onExists)
  }
  const { create, params } = dataset.operations
  if (before === null) await begin()
  const body = { ...dataset.presumed, ...(await dataset.toBody(record, null, names)) }
  const { data, written } = await caller.call<Operation>(create, { params: params(record), body, signal })
  notes.take(written)
  const warnings = isJsonObject(data) && data['warnings']
  if (Array.isArray(warnings)) noteWarning(warned, warnings[0])
  return { line, kind: 'updated' }
}

async function createRow(
  { abilities, caller, dataset, names, notes, finder, signal }: Sending,
  { line, record }: Row,
  { idempotencyKey }: Attempt,
  findable: boolean,
): Promise<Outcome> {
  const body = await dataset.toBody(record, null, names)
  const { create } = dataset.operations
  try {
    notes.take((await caller.call<Operation>(create, { params: {}, body, idempotencyKey, signal })).written)
  } catch (error) {
    // Where keys are known, the same request tells what became of it, when the import goes on.
    if (!(error instanceof AmbiguousError) || abilities.keys) throw error
    if (!findable) return unknownOutcome(line)
    // What is not there yet may still come: the import stops, and looks again when it goes on.
    await finder.prepare([record])
    if ((await finder.find(record)) === null) throw error
  }
  return { line, kind: 'created' }
}

/** The outcome of a row that cannot be looked up, and may have been created: to send it again could double it. */
function unknownOutcome(line: number): Outcome {
  const message =
    'may have been created: nothing shows it, and the platform cannot be asked; check before you retry'
  return { line, kind: 'failed', code: unconfirmed, message }
}

function versionOf(value: unknown): number | undefined {
  const version = isJsonObject(value) ? value['version'] : undefined
  return typeof version === 'number' ? version : undefined
}

/** What the platform refused for this row alone; throws whatever says nothing about the row. */
function failureOf(dataset: Dataset, { line }: Row, error: unknown): Outcome {
  if (error instanceof RecordError) {
    return { line, kind: 'failed', code: 'invalid_reference', message: `${error.field}: ${error.message}` }
  }
  if (error instanceof ProtocolError && isAboutRecord(error)) {
    const isDoubt = error.code !== 'nothing_done'
    const code = isDoubt ? unconfirmed : error.code
    return {
      line,
      kind: 'failed',
      code,
      message: `${error.message}${isDoubt ? '; it may have been written' : ''}`,
    }
  }
  // A refusal with the status of a success.
  if (error instanceof ApiError && error.status < 300)
    return rejected(dataset, line, error.code, error.faults, error.message)
  if (!(error instanceof ApiError) || ![400, 404, 409, 412, 413, 422].includes(error.status)) throw error
  return rejected(dataset, line, error.code, error.faults, error.message)
}

/** A rejection in the words of the file: columns in place of the API's pointers. */
function rejected(
  { columns }: Dataset,
  line: number,
  code: string,
  faults: readonly { readonly pointer?: unknown; readonly parameter?: unknown; readonly detail?: unknown }[],
  detail: string,
): Outcome {
  const told = faults.map(({ pointer, parameter, detail }) => {
    // Where a record is looked up, `user_id` is what `userId` is where it is created.
    const named = String(parameter ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const path = pointer === undefined ? named : fieldPath(String(pointer))
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    return `${column?.name ?? path}: ${detail}`
  })
  return { line, kind: 'failed', code, message: told.length > 0 ? told.join('; ') : detail }
}
