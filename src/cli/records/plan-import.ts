import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import { calls } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import type { Column } from '../dataset/column.ts'
import { type Dataset, keyOf, namesOf, RecordError, referencesIn, referredNouns } from '../dataset/dataset.ts'
import type { Match } from '../dataset/find.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { type Io, note } from '../terminal/io.ts'
import { refusalText, shownRefusal } from './check-rows.ts'
import { columnsChanged, isOlder, restoring } from './compare.ts'
import {
  type CheckedImport,
  checkImport,
  type Import,
  inWindows,
  openSending,
  type Sending,
  windowFinder,
} from './open-import.ts'
import type { Refusal } from './outcome.ts'
import { type PlanTarget, readPlanFile, stalePlan, writePlanFile } from './plan-file.ts'
import { type ImportFile, sentence } from './sources/file.ts'
import type { Row } from './sources/rows.ts'
import { type OnExists, versionOf } from './write.ts'

export const plannedActions = ['create', 'update', 'unchanged', 'skip', 'fail'] as const
type PlannedAction = (typeof plannedActions)[number]

/** Planned action of one row. */
export interface Planned {
  readonly line: number
  /** Key of the record; null if it has none. */
  readonly key: string | null
  readonly action: PlannedAction
  /** The columns that would change. */
  readonly changes: readonly string[]
  /** Reason of a rejection; null for other rows. */
  readonly message: string | null
}

export interface PlannedRow {
  readonly planned: Planned
  /** Reason of a rejection without values of people; null for other rows. */
  readonly shown: string | null
  readonly row: Row
  /** Existing record that the row was compared with; undefined if the platform was not asked. */
  readonly found: Row['found']
}

const noChanges = { changes: [], refusal: null } as const

/** Checks a file and yields what an import would do with each row; writes nothing. */
export async function planImport(
  context: Context,
  wanted: Import,
): Promise<AsyncGenerator<readonly PlannedRow[]>> {
  const checked = await checkImport(context, wanted)
  return planRows(context, wanted.onExists, await openSending(context, wanted), checked)
}

async function* planRows(
  { session }: Pick<Context, 'session'>,
  onExists: OnExists,
  sending: Sending,
  { invalid, rowsOf }: CheckedImport,
): AsyncGenerator<readonly PlannedRow[]> {
  const { labels, placeOf, rows } = await rowsOf()
  const { dataset, pacing, signal } = sending
  const finder = windowFinder(sending, session.target().kind === 'local')
  /** Last step of each progress record: the next step is compared with it. */
  const steps = new Map<string, JsonObject>()

  /** Records that are set as a whole can be imported without being readable, but their outcome cannot be planned. */
  function unseen(error: unknown): never {
    const { noun, operations } = dataset
    if (!(error instanceof NotOfferedError) || operations.update !== undefined) throw error
    const platform = platformName(session.target())
    const message = `${platform} cannot show ${noun}s, so it cannot be told which rows are new`
    throw new CommandError('not_offered', 'failure', message, {
      why: [`It does not support ${operations.list.method} ${operations.list.path}; nothing was sent`],
      ...(onExists === 'update' && {
        hint: 'Import without --dry-run; each row replaces what is there',
      }),
    })
  }

  async function plan(rows: readonly Row[]): Promise<readonly PlannedRow[]> {
    const planned: PlannedRow[] = []
    await finder.prepare(rows.map(({ record }) => record))
    for (const [index, row] of rows.entries()) {
      signal.throwIfAborted()
      const rejection = invalid.get(row.line)
      const work = async () => {
        const { line, record } = row
        const { action, changes, refusal, found } = rejection
          ? refused('')
          : await planRow({ ...sending, finder }, await sending.resolve(record), steps).catch(unseen)
        const message = rejection?.message ?? (refusal && refusalText(dataset, row, labels, refusal))
        const key = keyOf(dataset, record)?.join(' ') ?? null
        planned[index] = {
          planned: { line: placeOf?.(line).line ?? line, key, action, changes, message },
          shown: rejection?.shown ?? (refusal && shownRefusal(dataset, row, labels, refusal)),
          row,
          found: found ? identityOf(found.shown, record) : undefined,
        }
      }
      await pacing.run(work, dataset.operations.update ? [] : namesOf(dataset, row.record))
    }
    await pacing.settled()
    return planned
  }

  for await (const some of inWindows(rows)) yield await plan(some)
}

interface PlannedAnswer extends Pick<Planned, 'action' | 'changes'> {
  readonly refusal: Pick<Refusal, 'detail' | 'faults'> | null
  readonly found: Match | null
}

async function planRow(
  sending: Sending,
  record: JsonObject,
  steps: Map<string, JsonObject>,
): Promise<PlannedAnswer> {
  const { abilities, caller, dataset, finder, names, onExists } = sending
  const replaces = dataset.operations.update === undefined
  const [name = ''] = namesOf(dataset, record)
  try {
    const asked = (abilities.find || replaces) && keyOf(dataset, record) !== null
    const step = replaces ? steps.get(name) : undefined
    const match = asked && !step ? await finder.find(record) : null
    const shown = step ?? match?.shown ?? null
    const found = match
    if (replaces) steps.set(name, shown && isOlder(dataset, record, shown) ? shown : { ...shown, ...record })
    if (match?.other) {
      const { externalId, id } = match.other
      return refusedAt('email', `${dataset.noun} ${externalId ?? id} has this address`)
    }
    if (shown === null) {
      for (const { field, to, reference } of referencesIn(dataset, record)) {
        // Other platforms may show no users.
        if (to === 'users' && !caller.isOurs()) continue
        const noun = referredNouns[to]
        if ((await names[noun](reference)) === null) return refusedAt(field, `${noun} ${reference} not found`)
      }
      // Other platforms may need less.
      const missing = caller.isOurs() ? dataset.columns.find(lacks(record)) : undefined
      if (missing) return refusedAt(missing.path, 'is required')
      return { action: 'create', ...noChanges, found }
    }
    if (onExists === 'fail') return { ...refused(`the ${dataset.noun} already exists`), found }
    if (onExists === 'skip') return { action: 'skip', ...noChanges, found }
    if (isOlder(dataset, record, shown)) {
      if (await isInHistory(sending, record, shown)) return { action: 'unchanged', ...noChanges, found }
      return refused(`the ${dataset.noun} that is there is newer`)
    }
    const changes = await columnsChanged(sending, restoring(record, shown), shown)
    return { action: changes.length === 0 ? 'unchanged' : 'update', changes, refusal: null, found }
  } catch (error) {
    if (error instanceof RecordError) return refusedAt(error.field, error.message)
    if (error instanceof ApiError && [400, 404, 422].includes(error.status))
      return refused(error.message, error.faults)
    throw error
  }
}

/** True for older progress, or an older grade, that was recorded before: a file with a history is imported again. */
async function isInHistory(
  { caller, dataset, signal }: Sending,
  record: JsonObject,
  shown: JsonObject,
): Promise<boolean> {
  if (!caller.isOurs()) return false
  const isSame = (step: JsonObject, values: readonly string[], time: string) =>
    values.every((field) => record[field] === undefined || record[field] === step[field]) &&
    Date.parse(String(record[time])) === Date.parse(String(step[time]))
  if (dataset.name === 'grades') {
    const input = { params: { gradeId: String(shown['id']) }, signal }
    for await (const { data } of caller.pages(calls.grades.history, input))
      if (data.some((step) => isSame(step, ['scoreGiven', 'scoreMaximum'], 'gradedAt'))) return true
    return false
  }
  const [learnerId, course_id] = [String(shown['learnerId']), String(shown['courseId'])]
  const input = { params: { learnerId }, query: { course_id }, signal }
  for await (const { data } of caller.pages(calls.progress.history, input))
    if (data.some((step) => isSame(step, ['completionPercentage'], 'lastAccessed'))) return true
  return false
}

/** Returns a test for the columns that a new record needs and does not have. */
function lacks(record: JsonObject): (column: Column) => boolean {
  return ({ required, path }) => required && valueAt(record, path) === undefined
}

function refused(detail: string, faults: Refusal['faults'] = []): PlannedAnswer {
  return { action: 'fail', changes: [], refusal: { detail, faults }, found: null }
}

function refusedAt(field: string, detail: string): PlannedAnswer {
  return refused(detail, [{ pointer: `#/${field.replaceAll('.', '/')}`, detail }])
}

/** Saves the rows of a plan that create or change records. Throws a UsageError if one has a password. */
export async function saveImportPlan(
  io: Io,
  path: string,
  { dataset, file, onExists }: Import,
  { command, target }: PlanTarget,
  plan: AsyncIterable<readonly PlannedRow[]>,
): Promise<void> {
  const options = { onExists, ...(dataset.presumed && { presumed: dataset.presumed }) }
  const header = { command, target, source: file.name, options }
  await writePlanFile(io, path, header, changesIn())

  async function* changesIn(): AsyncGenerator<readonly object[]> {
    for await (const rows of plan) {
      yield rows.flatMap(({ planned: { action }, row: { line, record, replaced }, found }) => {
        if (action !== 'create' && action !== 'update') return []
        requireNoSecret(dataset, record, `${sentence(file.name)}:${line}`)
        return [{ action, line, record, ...(found && { found }), ...(replaced && { replaced }) }]
      })
    }
  }
}

function requireNoSecret({ columns }: Dataset, record: JsonObject, place: string): void {
  const secret = columns.find(({ secret, path }) => secret && valueAt(record, path) !== undefined)
  if (!secret) return
  throw new UsageError(`A plan file cannot hold a ${secret.name}`, {
    why: [`${place} has one`],
    hint: 'Import the file without a saved plan',
  })
}

/** A saved plan of an import. */
interface OpenedPlan {
  readonly onExists: OnExists
  readonly presumed: JsonObject | undefined
  readonly file: ImportFile
  /** The rows that it imports, with their lines in the file that it was made from. */
  readonly rows: readonly Row[]
}

/** Throws a UsageError if the file is no plan of this command, and a CommandError if it is for another target. */
export async function openImportPlan(io: Io, path: string, saved: PlanTarget): Promise<OpenedPlan> {
  const { file, header, changes } = await readPlanFile(io, path, saved)
  // Written by saveImportPlan.
  const { onExists, presumed } = header['options'] as Pick<OpenedPlan, 'onExists' | 'presumed'>
  return { file, onExists, presumed, rows: changes as Row[] }
}

/**
 * Throws a CommandError if the platform no longer has the records that a saved plan found; those that are as planned
 * already are no reason. Notes it if all of them are.
 */
export async function requireAsPlanned(
  context: Context,
  { dataset, file, onExists, saved }: Import,
  sending: Sending,
  checked: CheckedImport,
): Promise<void> {
  const counts = { compared: 0, done: 0 }
  for await (const some of planRows(context, onExists, sending, checked)) {
    for (const { planned, row, found: now } of some) {
      const { found: then, line } = row
      if (then === undefined) continue
      counts.compared += 1
      if (planned.action === 'unchanged') counts.done += 1
      else if (now !== undefined && !isDeepStrictEqual(then, now)) {
        const change =
          now.id === null ? 'no longer exists' : then.id === now.id ? 'has changed' : 'exists already'
        const reason = `${file.name}: the ${dataset.noun} of line ${line} ${change}; nothing was changed`
        throw stalePlan(saved?.command ?? '', reason)
      }
    }
  }
  if (counts.done > 0 && counts.done === counts.compared) {
    await note(context.io, `The plan ${file.name} has been applied already`)
  }
}

/** Identifies a record and its state: by its version, else by a hash of the fields that the row has. */
function identityOf(shown: JsonObject | null, record: JsonObject): NonNullable<Row['found']> {
  const id = shown?.['id']
  const version = versionOf(shown) ?? null
  const identity = { id: id === undefined ? null : String(id), version }
  if (!shown || version !== null) return identity
  const fields = Object.keys(record).map((field) => shown[field])
  return { ...identity, hash: createHash('sha256').update(jsonText(fields)).digest('base64url') }
}
