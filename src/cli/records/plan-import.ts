import { ApiError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { valueAt } from '../../tables/column.ts'
import type { Context } from '../command/context.ts'
import { keyOf, namesOf, RecordError, referencesIn, referredNouns } from '../dataset/dataset.ts'
import { refusalText, shownRefusal } from './check-rows.ts'
import { columnsChanged, isOlder, restoring } from './compare.ts'
import { inLists } from './finder.ts'
import { type CheckedImport, checkImport, type Import, openSending, type Sending } from './open-import.ts'
import type { Row } from './sources/rows.ts'
import type { OnExists, Refusal } from './write.ts'

export const plannedActions = ['create', 'update', 'unchanged', 'skip', 'fail'] as const
type PlannedAction = (typeof plannedActions)[number]

export interface Planned {
  readonly line: number
  /** Null if the record has none. */
  readonly key: string | null
  readonly action: PlannedAction
  /** Columns that would change. */
  readonly changes: readonly string[]
  /** Reason of a rejection; null for other rows. */
  readonly message: string | null
}

export interface PlannedRow {
  readonly planned: Planned
  /** Reason of a rejection without values of people; null for other rows. */
  readonly shown: string | null
}

export async function planImport(
  context: Context,
  wanted: Import,
): Promise<AsyncGenerator<readonly PlannedRow[]>> {
  const checked = await checkImport(context, wanted)
  return planRows(context, wanted.onExists, await openSending(context, wanted), checked)
}

/** Rows that are looked up together and held in memory. */
const windowRows = 20_000

async function* planRows(
  { session }: Pick<Context, 'session'>,
  onExists: OnExists,
  sending: Sending,
  { invalid, rowsOf }: CheckedImport,
): AsyncGenerator<readonly PlannedRow[]> {
  const { labels, placeOf, rows } = await rowsOf()
  const { caller, dataset, isOurs, pacing, signal } = sending
  const readsLists = isOurs && session.target().kind !== 'local'
  /** The next step of a progress record is compared with the last one. */
  const steps = new Map<string, JsonObject>()

  async function plan(rows: readonly Row[]): Promise<readonly PlannedRow[]> {
    const planned: PlannedRow[] = []
    const records = rows.map(({ record }) => record)
    const finder = readsLists ? await inLists(caller, dataset, records, signal) : sending.finder
    for (const [index, row] of rows.entries()) {
      signal.throwIfAborted()
      const rejection = invalid.get(row.line)
      const work = async () => {
        const { line, record } = row
        const answer = rejection
          ? refused('')
          : await planRow({ ...sending, finder, onExists }, record, steps)
        const { action, changes, refusal } = answer
        const message = rejection?.message ?? (refusal && refusalText(dataset, row, labels, refusal))
        const key = keyOf(dataset, record)?.join(' ') ?? null
        planned[index] = {
          planned: { line: placeOf?.(line).line ?? line, key, action, changes, message },
          shown: rejection?.shown ?? (refusal && shownRefusal(dataset, row, labels, refusal)),
        }
      }
      await pacing.run(work, dataset.operations.update ? [] : namesOf(dataset, row.record))
    }
    await pacing.settled()
    return planned
  }

  let held: Row[] = []
  for await (const some of rows) {
    held.push(...some)
    if (held.length < windowRows) continue
    yield await plan(held)
    held = []
  }
  yield await plan(held)
}

interface PlannedAnswer extends Pick<Planned, 'action' | 'changes'> {
  readonly refusal: Pick<Refusal, 'detail' | 'faults'> | null
}

async function planRow(
  sending: Sending,
  given: JsonObject,
  steps: Map<string, JsonObject>,
): Promise<PlannedAnswer> {
  const { dataset, finder, isOurs, onExists } = sending
  const isStep = dataset.operations.update === undefined
  try {
    const record = await sending.resolve(given)
    const [name = ''] = namesOf(dataset, record)
    const step = isStep ? steps.get(name) : undefined
    const match = step || keyOf(dataset, record) === null ? undefined : await finder?.find(record)
    const shown = step ?? match?.shown ?? null
    if (isStep) steps.set(name, shown && isOlder(dataset, record, shown) ? shown : { ...shown, ...record })
    if (match?.other) {
      const { externalId, id } = match.other
      return refusedAt('email', `${dataset.noun} ${externalId ?? id} has this address`)
    }
    const unchanged = { changes: [], refusal: null }
    if (shown === null) {
      return (await missingIn(sending, record)) ?? { action: 'create', ...unchanged }
    }
    if (onExists === 'fail') return refused(`the ${dataset.noun} already exists`)
    if (onExists === 'skip') return { action: 'skip', ...unchanged }
    if (isOlder(dataset, record, shown)) {
      if (isOurs && (await isInHistory(sending, record, shown))) return { action: 'unchanged', ...unchanged }
      return refused(`the ${dataset.noun} that is there is newer`)
    }
    const changes = await columnsChanged(sending, restoring(record, shown), shown)
    return { ...unchanged, action: changes.length === 0 ? 'unchanged' : 'update', changes }
  } catch (error) {
    if (error instanceof RecordError) return refusedAt(error.field, error.message)
    if (error instanceof ApiError && [400, 404, 422].includes(error.status))
      return refused(error.message, error.faults)
    throw error
  }
}

/** Null if the record is complete and refers to no missing one. */
async function missingIn(
  { dataset, isOurs, names }: Sending,
  record: JsonObject,
): Promise<PlannedAnswer | null> {
  for (const { field, to, reference } of referencesIn(dataset, record)) {
    // Other platforms may show no users, and need fewer fields.
    if (to === 'users' && !isOurs) continue
    const noun = referredNouns[to]
    if ((await names[noun](reference)) === null) return refusedAt(field, `${noun} ${reference} not found`)
  }
  if (!isOurs) return null
  const lacking = dataset.columns.find(
    ({ required, path }) => required && valueAt(record, path) === undefined,
  )
  return lacking ? refusedAt(lacking.path, 'is required') : null
}

/** A file with a history may be imported again. */
async function isInHistory(
  { caller, dataset, signal }: Sending,
  record: JsonObject,
  { id, learnerId, courseId }: JsonObject,
): Promise<boolean> {
  const isGrade = dataset.name === 'grades'
  const pages: AsyncIterable<{ readonly data: readonly JsonObject[] }> = isGrade
    ? caller.pages(calls.grades.history, { params: { gradeId: String(id) }, signal })
    : caller.pages(calls.progress.history, {
        params: { learnerId: String(learnerId) },
        query: { course_id: String(courseId) },
        signal,
      })
  const values = isGrade ? ['scoreGiven', 'scoreMaximum'] : ['completionPercentage']
  const time = isGrade ? 'gradedAt' : 'lastAccessed'
  const isSame = (step: JsonObject) =>
    values.every((field) => record[field] === undefined || record[field] === step[field]) &&
    Date.parse(String(record[time])) === Date.parse(String(step[time]))
  for await (const { data } of pages) if (data.some(isSame)) return true
  return false
}

function refused(detail: string, faults: Refusal['faults'] = []): PlannedAnswer {
  return { action: 'fail', changes: [], refusal: { detail, faults } }
}

function refusedAt(field: string, detail: string): PlannedAnswer {
  return refused(detail, [{ pointer: `#/${field.replaceAll('.', '/')}`, detail }])
}
