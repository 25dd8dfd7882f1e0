import { displayNameIn, rosterEnrollmentRoles, rosterRoles } from '../../lms/oneroster-mapping.ts'
import { noTerm, openDays } from '../../lms/roster-conventions.ts'
import { CellError, readCell } from '../dataset/cell.ts'
import { courses } from '../dataset/courses.ts'
import {
  addSchemaProblems,
  enrollmentEntries,
  entryOf,
  namedColumns,
  readDay,
  termEntries,
} from './entries.ts'
import { type LineItems, readLineItems, readResults } from './oneroster-grades.ts'
import { isRemovedClass, readTable } from './oneroster-rows.ts'
import { oneRosterTables } from './oneroster-tables.ts'
import { nameIn, peopleTable, personEntries } from './people.ts'
import { type AcademyRole, type EnrollmentRole, enrollmentRoles, roleMeanings } from './roles.ts'
import type { RosterEntry } from './roster.ts'
import type { CsvRow } from './row.ts'
import { hasRow, isRemovedRow, listIn, type Reading, requireSame } from './walk.ts'

/** Roles of both versions and of an academy, the preferred first; null for people without one. */
const roles = new Map<string, AcademyRole>([
  ['instructor', 'instructor'],
  ...rosterRoles,
  ['analyst', 'analyst'],
  ['learner', 'learner'],
  ['none', null],
])
export const oneRosterRoles = [...roles.keys()]

/** Roles of enrolments in an academy; null for people without one. */
const rolesOfEnrollments = new Map<string, EnrollmentRole>([...enrollmentRoles, ...rosterEnrollmentRoles])

const userColumns = {
  externalId: 'sourcedId',
  email: 'email',
  username: 'username',
  role: 'role',
  'profile.firstName': 'givenName',
  'profile.lastName': 'familyName',
  'profile.displayName': 'preferredGivenName',
}
const people = peopleTable(oneRosterTables.users, userColumns)
const courseDataset = namedColumns(courses, { externalId: 'sourcedId' })

/**
 * Reads a OneRoster package: sessions are terms, classes are courses (courses, where there are no classes), results are
 * grades; organisations are only checked. Rows against the specification are read if their meaning is clear, and counted.
 */
export async function* readOneRoster(reading: Reading): AsyncGenerator<readonly RosterEntry[]> {
  const hasClasses = reading.files.has('classes')
  const hasRoles = reading.files.has('roles')
  const roleByUser = new Map<string, UserRole>()
  yield* readTable(reading, 'orgs', (row) => row.leaveOut('organisations are not kept'))
  yield* readTable(reading, 'academicSessions', termOf)
  yield* readTable(reading, 'roles', (row, isRemoved) => addRole(roleByUser, row, isRemoved))
  yield* readTable(reading, 'users', (row, isRemoved) =>
    userOf(
      reading,
      row,
      isRemoved,
      hasRoles ? (roleByUser.get(row.text('sourcedId'))?.role ?? '') : row.text('role'),
    ),
  )
  warnOfRolesWithoutUser(reading, roleByUser)
  // Courses have the weights of their line items, which refer to them and so are read afterwards.
  const found: RosterEntry[] = []
  const courses = readTable(reading, 'courses', (row, isRemoved) =>
    hasClasses
      ? row.leaveOut('courses are read through their classes')
      : courseOf(row, row.text('schoolYearSourcedId'), isRemoved),
  )
  for await (const some of courses) found.push(...some)
  const classes = readTable(reading, 'classes', (row, isRemoved) => {
    const terms = row.text('termSourcedIds')
    const isOne = hasRow(reading, 'academicSessions', terms)
    const [term = '', ...others] = isOne ? [terms] : listIn(terms)
    if (others.length > 0) row.addLeniency('classes are in several terms; read the first')
    return courseOf(row, term, isRemoved)
  })
  for await (const some of classes) found.push(...some)
  const lineItems = await readLineItems(reading)
  yield found.map((entry) => withWeights(entry, lineItems))
  yield* readTable(reading, 'enrollments', (row, isRemoved) => enrollmentOf(reading, row, isRemoved), {
    removedNeeds: ['sourcedId', 'classSourcedId', 'userSourcedId', 'role'],
  })
  yield* readResults(reading, lineItems)
}

function termOf(row: CsvRow, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('terms', { externalId }, row, true)]
  if (externalId === noTerm.id) return row.leaveOut('the session of courses without a term is left out')
  return termEntries(row, {
    ...{ externalId, name: row.text('title'), start: 'startDate', end: 'endDate' },
    open: openDays,
  })
}

function courseOf(row: CsvRow, term: string, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('courses', { externalId }, row, true)]
  const course = { externalId, title: row.text('title') }
  addSchemaProblems(row, courseDataset, course)
  const isInTerm = term !== '' && term !== noTerm.id
  return [entryOf('courses', { ...course, ...(isInTerm && { term: `ext:${term}` }) }, row)]
}

function withWeights(entry: RosterEntry, lineItems: LineItems): RosterEntry {
  const weights = lineItems.weightsOf(entry.key)
  if (weights.length === 0 || entry.isRemoved) return entry
  return { ...entry, record: { ...entry.record, assessmentCriteria: { weights } } }
}

function userOf(reading: Reading, row: CsvRow, isRemoved: boolean, roleText: string): readonly RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('users', { externalId }, row, true)]
  const role = roleIn(roleText, row)
  if (role === null) return row.leaveOut('people without a role in an academy are left out', roleText)
  if (row.text('password') !== '') row.addLeniency('passwords are left out')
  const [firstName, lastName] = [nameIn(row, 'givenName'), nameIn(row, 'familyName')]
  if (reading.mode('users') === 'bulk') {
    const value = [row.text('email').toLowerCase(), firstName, lastName].join('\n')
    const message = 'with another name or e-mail address'
    requireSame(reading, { table: 'users', column: 'sourcedId', key: externalId, value, message }, row)
  }
  const preferred = [row.text('preferredGivenName'), row.text('preferredFamilyName')] as const
  return personEntries(reading, row, people, {
    ...{ firstName, lastName, role },
    displayName: displayNameIn(preferred, [firstName, lastName]),
    isSuspended: !isEnabled(row),
  })
}

const unknownRole = 'unknown roles, which --map-value can give a meaning; new users become learners'

/** Returns the role in an academy; undefined if the package has no known one, null for people without a role. */
function roleIn(text: string, row: CsvRow): string | null | undefined {
  const name = oneRosterRoles.find((each) => each.toLowerCase() === text.toLowerCase()) ?? ''
  const role = roles.get(name)
  if (text === '') row.addLeniency('users have no role; new ones become learners')
  else if (role === undefined) row.addLeniency(unknownRole, text)
  else if (name !== text) row.addLeniency('roles are not spelled as specified', text)
  if (role === 'analyst' && name !== role) row.addLeniency('administrators become analysts', name)
  return role
}

/** `true` or `false`; other words for these are accepted. */
function isEnabled(row: CsvRow): boolean {
  const cell = row.text('enabledUser')
  if (cell !== 'true' && cell !== 'false')
    row.addLeniency('enabledUser is not true or false', cell || 'empty')
  try {
    return readCell({ kind: 'switch' }, cell || 'true', { now: Number.NaN }) === true
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    row.addChoiceProblem('enabledUser', cell, error.message, ['true', 'false'], 'invalid_type')
    return false
  }
}

interface UserRole {
  readonly role: string
  readonly rank: number
  readonly row: CsvRow
}

/** Adds a row of `roles.csv`: of several roles the primary one counts, then the one preferred in `roles`. */
function addRole(roleByUser: Map<string, UserRole>, row: CsvRow, isRemoved: boolean): readonly RosterEntry[] {
  if (isRemoved) return row.leaveOut('removed roles are left out')
  const [user, role] = [row.text('userSourcedId'), row.text('role')]
  const place = oneRosterRoles.findIndex((name) => name.toLowerCase() === role.toLowerCase())
  const rank = (row.text('roleType').toLowerCase() === 'primary' ? 0 : 100) + (place < 0 ? 99 : place)
  const before = roleByUser.get(user)
  if (before) row.addLeniency('users have several roles; read the primary one')
  if (!before || rank < before.rank) roleByUser.set(user, { role, rank, row })
  return []
}

function warnOfRolesWithoutUser(reading: Reading, roleByUser: ReadonlyMap<string, UserRole>): void {
  if (!reading.files.has('users') || reading.mode('users') === 'delta') return
  for (const [user, { row }] of roleByUser) {
    if (!hasRow(reading, 'users', user)) {
      row.addWarning('userSourcedId', 'unknown_reference', 'is not in users', user)
    }
  }
}

function enrollmentOf(reading: Reading, row: CsvRow, isRemoved: boolean): readonly RosterEntry[] {
  const text = row.text('role')
  const name = text.toLowerCase()
  const role = rolesOfEnrollments.get(name)
  if (name !== text && role !== undefined) row.addLeniency('roles are not spelled as specified', text)
  if (role === undefined) {
    row.addChoiceProblem('role', text, 'must be student or teacher', roleMeanings)
    return []
  }
  if (role === null)
    return row.leaveOut('enrolments with other roles than student and teacher are left out', text)
  const [course, user] = [row.text('classSourcedId'), row.text('userSourcedId')]
  if (!isRemoved && (isRemovedClass(reading, course) || isRemovedRow(reading, 'users', user)))
    return row.leaveOut('enrolments of removed classes and users are left out')
  if (name === 'aide' || name === 'proctor') row.addLeniency('assistants become instructors', text)
  return enrollmentEntries(reading, row, {
    course,
    user,
    role,
    status: isRemoved ? 'removed' : 'active',
    firstDay: isRemoved ? null : readDay(row, 'beginDate'),
  })
}
