import type { JsonObject } from '../../codec/json-text.ts'
import { isDay } from '../../codec/time-text.ts'
import { CellError, type CellForm, dayIn as readDayCell } from '../dataset/cell.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { problemsOf } from '../records/check-rows.ts'
import type { RosterEntry } from './roster.ts'
import type { RosterRow } from './row.ts'
import { claim, type Reading, ranks } from './walk.ts'

/** The record is known by its external id. */
export function entryOf(
  dataset: RosterEntry['dataset'],
  record: JsonObject,
  { place }: Pick<RosterRow, 'place'>,
  isRemoved = false,
): RosterEntry {
  const entry = { dataset, key: `ext:${record['externalId']}`, record, place }
  return isRemoved ? { ...entry, isRemoved } : entry
}

/** Returns the entry of a term whose first and last day are in the columns `start` and `end`. */
export function termEntries(
  row: RosterRow,
  term: {
    readonly externalId: string
    readonly name: string
    readonly start: string
    readonly end: string
    /** Days that stand for an open start and end. */
    readonly open?: { readonly startDate: string; readonly endDate: string }
    /** True if the columns have times by specification. */
    readonly areTimes?: true
  },
): RosterEntry[] {
  const { externalId, name, open } = term
  const [first, last] = [term.start, term.end].map((column) => readDay(row, column, term.areTimes))
  const startDate = first === open?.startDate ? null : first
  const endDate = last === open?.endDate ? null : last
  if (startDate && endDate && startDate > endDate) {
    row.addProblem(term.start, 'out_of_order', `must not be after ${term.end} (${endDate})`, startDate)
  }
  return [entryOf('terms', { externalId, name, startDate, endDate }, row)]
}

/** Enrolment of a roster; course and user are external ids. */
export interface RosterEnrollment {
  readonly course: string
  readonly user: string
  readonly role: string
  readonly status: 'active' | 'completed' | 'inactive' | 'removed'
  /** Null if the roster does not say. */
  readonly firstDay?: string | null
}

const daysOfEnrollments = ['enrolledAt']

/**
 * Returns the entry of an enrolment; none if an earlier row about it has a status that counts more: active before
 * completed, inactive and removed.
 */
export function enrollmentEntries(reading: Reading, row: RosterRow, given: RosterEnrollment): RosterEntry[] {
  const { course, user, role, status, firstDay = null } = given
  const isRemoved = status === 'removed'
  const [courseId, userId] = [`ext:${course}`, `ext:${user}`]
  const key = [courseId, userId, role].join('\n')
  if (!claim(reading, 'enrollments', key, row, ranks[status])) return []
  const { place } = row
  const record = { courseId, userId, role }
  if (isRemoved) return [{ dataset: 'enrollments', key, record, place, isRemoved }]
  const entry = { dataset: 'enrollments', key, record: { ...record, status }, place } as const
  if (firstDay === null) return [entry]
  const enrolledAt = `${firstDay}T00:00:00.000Z`
  return [{ ...entry, record: { ...entry.record, enrolledAt }, days: daysOfEnrollments }]
}

/** Returns a dataset whose columns have the names of a format by their fields, for the words of problems. */
export function namedColumns(dataset: Dataset, names: Readonly<Record<string, string>>): Dataset {
  return {
    ...dataset,
    columns: dataset.columns.map((each) => ({ ...each, name: names[each.path] ?? each.name })),
  }
}

export function addSchemaProblems(row: RosterRow, dataset: Dataset, record: JsonObject): void {
  const checked = { line: row.place.line, record, problems: [], cells: [] }
  const found = problemsOf(dataset, checked, { partial: false, isOurs: true })
  for (const { column, code, message, value, guess = '' } of found) {
    row.addProblem(column, code, message, value, guess)
  }
}

/** Without empty texts. */
export function filled(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== ''))
}

/** Returns the day in a day or a time, `2013-1-03 00:00:00-06:00`; null for other text. */
function dayIn(text: string): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/.exec(text) ?? []
  const padded = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return year !== undefined && isDay(padded) ? padded : null
}

interface FoundDay {
  readonly day: string | null
  /** End of a problem, if the text is a day in another format than the given one. */
  readonly guess: string
}

/** Returns the day in a text: ISO 8601, else in the given format. */
export function dayWith(text: string, form: CellForm): FoundDay {
  const day = dayIn(text)
  if (day !== null) return { day, guess: '' }
  try {
    const formatted = readDayCell(text, form)
    return { day: isDay(formatted) ? formatted : null, guess: '' }
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    return { day: null, guess: error.guess }
  }
}

/** Reads a cell with a day, also with a time of day; null for an empty one. Other text is a problem. */
export function readDay(row: RosterRow, column: string, isTime = false): string | null {
  const text = row.text(column)
  if (text === '') return null
  const { day, guess } = dayWith(text, row.cellForm)
  if (day === null) row.addProblem(column, 'invalid_date', 'must be a day such as 2026-08-31', text, guess)
  else if (day !== text && !isTime && dayIn(text) !== null)
    row.addLeniency('days are not written YYYY-MM-DD', text)
  return day
}
