import { ApiError, NotOfferedError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { keyOf, namesOf, RecordError } from '../dataset/dataset.ts'
import { withoutOwnId } from '../dataset/record.ts'
import { valueAt } from '../output/columns.ts'
import { changesOf, isOlder, restoring } from '../records/compare.ts'
import type { Row } from '../records/sources/rows.ts'
import { CommandError } from '../terminal/errors.ts'
import {
  checkImport,
  type Import,
  inWindows,
  openSending,
  type Sending,
  windowFinder,
} from './open-import.ts'

/** Actions that an import would take for a row. */
export const plannedActions = ['create', 'update', 'unchanged', 'skip', 'fail'] as const
export type PlannedAction = (typeof plannedActions)[number]

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

/** A row, its planned action and the record that it was compared with. */
export interface PlannedRow {
  readonly planned: Planned
  readonly row: Row
  /** Existing record, null for none; undefined if the platform was not asked. */
  readonly found: JsonObject | null | undefined
}

const inCourse = { field: 'courseId', to: 'course' } as const
const noChanges = { changes: [], message: null } as const

/** Checks a file and yields what an import would do with each row; writes nothing. */
export async function planImport(
  context: Context,
  wanted: Import,
): Promise<AsyncGenerator<readonly PlannedRow[]>> {
  const { session } = context
  const { invalid, rowsOf, document } = await checkImport(context, wanted)
  const local = session.target().kind === 'local'
  const sending = await openSending(context, wanted, document)
  const { dataset, pacing, signal } = sending
  const finder = windowFinder(sending, local)
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
      ...(wanted.onExists === 'update' && {
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
        const key = keyOf(dataset, record)?.join(' ') ?? null
        const { found, ...action } = rejection
          ? failing(rejection.message)
          : await planRow({ ...sending, finder }, await sending.settle(record), steps).catch(unseen)
        planned[index] = { planned: { line, key, ...action }, row, found }
      }
      await pacing.run(work, dataset.operations.update ? [] : namesOf(dataset, row.record))
    }
    await pacing.settled()
    return planned
  }

  const { rows } = await rowsOf()
  return (async function* () {
    for await (const some of inWindows(rows)) yield await plan(some)
  })()
}

async function planRow(
  sending: Sending,
  record: JsonObject,
  steps: Map<string, JsonObject>,
): Promise<Omit<Planned, 'line' | 'key'> & Pick<PlannedRow, 'found'>> {
  const { abilities, dataset, finder, names, onExists } = sending
  const replaces = dataset.operations.update === undefined
  const [name = ''] = namesOf(dataset, record)
  try {
    const asked = (abilities.find || replaces) && keyOf(dataset, record) !== null
    const step = replaces ? steps.get(name) : undefined
    const match = asked && !step ? await finder.find(record) : null
    const shown = step ?? match?.shown ?? null
    const found = match?.shown
    if (replaces) steps.set(name, { ...shown, ...record })
    if (match?.other) {
      const { externalId, id } = match.other
      return failing(`email: ${dataset.noun} ${externalId ?? id} has this address`)
    }
    if (shown === null) {
      const courses = dataset.references['courseId'] === undefined ? undefined : inCourse
      const { field, to } = dataset.refersTo?.(record) ?? courses ?? {}
      const reference = field === undefined ? '' : String(record[field])
      if (to !== undefined && (await names[to](reference)) === null) {
        return failing(`${field}: ${to} ${reference} not found`)
      }
      return { action: 'create', ...noChanges, found }
    }
    if (onExists === 'fail') return failing(`the ${dataset.noun} already exists`)
    if (onExists === 'skip') return { action: 'skip', ...noChanges, found }
    if (isOlder(dataset, record, shown)) return failing(`the ${dataset.noun} that is there is newer`)
    const changes = await columnsChanged(sending, restoring(record, shown), shown)
    if (changes.length > 0) await sending.noteChange()
    return { action: changes.length === 0 ? 'unchanged' : 'update', changes, message: null, found }
  } catch (error) {
    if (error instanceof RecordError) return failing(`${error.field}: ${error.message}`)
    if (error instanceof ApiError && [400, 404, 422].includes(error.status)) return failing(error.message)
    throw error
  }
}

/** Returns the columns that a record would change in the existing one. Throws a RecordError if it cannot be sent. */
async function columnsChanged(
  { dataset, names }: Sending,
  record: JsonObject,
  shown: JsonObject,
): Promise<readonly string[]> {
  await dataset.toBody(record, shown, names)
  const current = await dataset.toRecord(shown, names)
  const { field: named, to = 'course' } = dataset.refersTo?.(record) ?? {}
  const given = { ...withoutOwnId(record, shown) }
  for (const field of [...Object.keys(dataset.references), ...(named === undefined ? [] : [named])]) {
    if (given[field] === undefined) continue
    const isKey = field !== named && dataset.keys.some((fields) => fields.includes(field))
    const isSame =
      isKey || (await names[field === named ? to : 'course'](String(given[field])))?.['id'] === shown[field]
    if (isSame) given[field] = current[field]
  }
  const changes = changesOf(dataset, given, current).map(({ field }) => field)
  const isWithin = (path: string, field: string) => path === field || path.startsWith(`${field}.`)
  return dataset.columns.flatMap(({ name, path, secret }) => {
    const isSet = secret && valueAt(record, path) !== undefined
    return isSet || changes.some((field) => isWithin(path, field) || isWithin(field, path)) ? [name] : []
  })
}

function failing(message: string) {
  return { action: 'fail', changes: [], message, found: undefined } as const
}
