import type { JsonObject } from '../../codec/json-text.ts'
import { isDay } from '../../codec/time-text.ts'
import { noName } from '../../lms/oneroster-mapping.ts'
import { CellError, type CellForm, dayIn as readDayCell } from '../dataset/cell.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { users } from '../dataset/people.ts'
import { problemsOf } from '../records/check-rows.ts'
import type { CsvRow, Reading, RosterRow } from './reading.ts'
import type { RosterEntry } from './roster.ts'

// Checks records, whichever format or system they come from, and makes entries of them.

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

export interface RosterTerm {
  readonly externalId: string
  readonly name: string
  /** Null if open. */
  readonly startDate: string | null
  readonly endDate: string | null
}

/** @param columns names of the columns of the first and the last day */
export function termEntry(
  row: RosterRow,
  { externalId, name, startDate, endDate }: RosterTerm,
  [start, end]: readonly [string, string],
): RosterEntry {
  if (startDate && endDate && startDate > endDate) {
    row.addProblem(start, 'out_of_order', `must not be after ${end} (${endDate})`, startDate)
  }
  return entryOf('terms', { externalId, name, startDate, endDate }, row)
}

export interface RosterGroup {
  readonly externalId: string
  readonly name: string
  readonly course: string | null
}

export function groupEntry(
  row: RosterRow,
  { externalId, name, course }: RosterGroup,
  isRemoved = false,
): RosterEntry {
  return entryOf('groups', { externalId, ...(!isRemoved && { name, course }) }, row, isRemoved)
}

export interface RosterEnrollment {
  readonly courseId: string
  readonly userId: string
  readonly role: string
  readonly status: 'active' | 'completed' | 'inactive' | 'removed'
  /** Null if the roster does not say. */
  readonly firstDay?: string | null
}

const daysOfEnrollments = ['enrolledAt']

export function enrollmentEntry(
  { place }: RosterRow,
  { courseId, userId, role, status, firstDay = null }: RosterEnrollment,
): RosterEntry {
  const record = { courseId, userId, role }
  const key = [courseId, userId, role].join('\n')
  const shared = { dataset: 'enrollments', key, place } as const
  if (status === 'removed') return { ...shared, record, isRemoved: true }
  if (firstDay === null) return { ...shared, record: { ...record, status } }
  const enrolledAt = `${firstDay}T00:00:00.000Z`
  return { ...shared, record: { ...record, status, enrolledAt }, days: daysOfEnrollments }
}

/** Returns the entry of a grade; none after it added a problem. */
export function gradeEntries(
  row: RosterRow,
  dataset: Dataset,
  record: JsonObject,
  source: string,
  days: readonly string[] = [],
): readonly RosterEntry[] {
  addSchemaProblems(row, dataset, record)
  if (row.hasProblem) return []
  const key = [record['courseId'], record['learnerId'], record['itemId'], source].join('\n')
  return [{ dataset: 'grades', key, record, place: row.place, ...(days.length > 0 && { days }) }]
}

/** Columns by field, for the words of problems. */
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

/** `2013-1-03 00:00:00-06:00`; null for other text. */
function dayIn(text: string): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/.exec(text) ?? []
  const padded = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return year !== undefined && isDay(padded) ? padded : null
}

/** ISO 8601, else the given format. `guess` ends a problem if another format has such a day. */
export function dayWith(
  text: string,
  form: CellForm,
): { readonly day: string | null; readonly guess: string } {
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

const plainForm: CellForm = { now: Number.NaN, dateFormat: undefined, decimalComma: false }

/** Reads a day, also with a time of day; null for none. Other text is a problem. */
export function checkDay(
  row: RosterRow,
  column: string,
  text: string,
  { form = plainForm, isTime = false } = {},
): string | null {
  if (text === '') return null
  const { day, guess } = dayWith(text, form)
  if (day === null) row.addProblem(column, 'invalid_date', 'must be a day such as 2026-08-31', text, guess)
  else if (day !== text && !isTime && dayIn(text) !== null)
    row.addLeniency('days are not written YYYY-MM-DD', text)
  return day
}

/** @param isTime true if the column has times by specification */
export function readDay(row: CsvRow, column: string, isTime = false): string | null {
  return checkDay(row, column, row.text(column), { form: row.cellForm, isTime })
}

export interface RosterPerson {
  readonly externalId: string
  readonly email?: string
  readonly username?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly displayName?: string
  /** Undefined if the roster does not say: new users become learners. */
  readonly role?: string | undefined
  readonly isSuspended?: boolean | undefined
}

/** Columns by field of a user; a format without addresses has no `email`. */
interface PersonColumns extends Readonly<Record<string, string>> {
  readonly externalId: string
  readonly username: string
}

type PeopleForm = ReturnType<typeof peopleForm>

/** @param key column by which people are unique already */
export function peopleForm(key: string, columns: PersonColumns) {
  return { key, columns, dataset: namedColumns(users, columns) }
}

export function personIn(row: CsvRow, { columns }: PeopleForm): RosterPerson {
  const text = (field: string) => (columns[field] === undefined ? '' : row.text(columns[field]))
  return {
    ...{ externalId: text('externalId'), email: text('email'), username: text('username') },
    ...{ firstName: text('profile.firstName'), lastName: text('profile.lastName') },
    displayName: text('profile.displayName'),
  }
}

const { email: emailSchema, username: usernameSchema } = users.schema.shape

/**
 * Returns the entry of a person. The address is that of the roster, else the user name if it is one, else made of the user name
 * and the domain of the options. Adds a problem for each value that another person of the roster has.
 */
export function personEntry(
  reading: Reading,
  row: RosterRow,
  { key, columns, dataset }: PeopleForm,
  person: RosterPerson,
): RosterEntry {
  const address = addressOf(reading, row, columns, person)
  const email = address ?? ''
  const username = usernameOf(row, person)
  const { externalId, role = '', isSuspended, firstName = '', lastName = '', displayName = '' } = person
  const profile = filled({ firstName, lastName, displayName })
  const record = filled({
    ...{ externalId, email, username, role },
    status: isSuspended === undefined ? '' : isSuspended ? 'suspended' : 'active',
    ...(Object.keys(profile).length > 0 && { profile }),
  })
  if (address !== null) addSchemaProblems(row, dataset, record)
  const unique = [
    [columns['email'] ?? columns.username, email.toLowerCase(), 'address'],
    [columns.username, username, 'user name'],
    [columns.externalId, columns.externalId === key ? '' : externalId, 'id'],
  ] as const
  for (const [column, value, name] of unique) {
    if (value !== '') reading.requireUnique(row, column, value, name)
  }
  return entryOf('users', record, row)
}

/** Null after a problem. */
function addressOf(
  { options: { emailDomain } }: Reading,
  row: RosterRow,
  columns: PersonColumns,
  { email = '', username = '', externalId }: RosterPerson,
): string | null {
  if (email !== '') return email
  if (emailSchema.safeParse(username).success) {
    row.addLeniency(`addresses are read from ${columns.username}`)
    return username
  }
  if (emailDomain === null) {
    const column = columns['email'] ?? null
    const message = column === null ? 'has no e-mail address' : 'is required'
    row.addProblem(column, 'no_address', `${message}: an academy knows people by their address`)
    return null
  }
  const name = username || externalId
  const made = `${name}@${emailDomain}`.toLowerCase()
  if (!emailSchema.safeParse(made).success) {
    const message = `cannot be part of an e-mail address at ${emailDomain}`
    row.addProblem(columns.username, 'no_address', message, name)
    return null
  }
  row.addLeniency(`people without an address get one at ${emailDomain}`)
  return made
}

/** Empty for an e-mail address, which exports write where a format requires a user name. */
function usernameOf(row: RosterRow, { username = '', email = '' }: RosterPerson): string {
  if (username.toLowerCase() === email.toLowerCase()) return ''
  if (username === '' || usernameSchema.safeParse(username).success) return username
  row.addLeniency('user names with other characters are left out', username)
  return ''
}

/** Empty for the sign that exports write instead of a missing name. */
export function nameIn(row: CsvRow, column: string): string {
  const name = row.text(column)
  if (name !== noName) return name
  row.addLeniency(`names of ${noName} are read as empty`)
  return ''
}
