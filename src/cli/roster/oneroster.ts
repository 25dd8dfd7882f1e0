import {
  displayNameIn,
  noTerm,
  openDays,
  rosterEnrollmentRoles,
  rosterRoles,
} from '../../lms/oneroster-mapping.ts'
import { CellError, readCell } from '../dataset/cell.ts'
import { courses } from '../dataset/courses.ts'
import { placeText } from '../records/entries.ts'
import { readLineItems, readResults } from './oneroster-grades.ts'
import { isRemovedClass, readTable } from './oneroster-tables.ts'
import { type CsvRow, listIn, type Reading } from './reading.ts'
import {
  addSchemaProblems,
  enrollmentEntry,
  entryOf,
  namedColumns,
  nameIn,
  peopleForm,
  personEntry,
  personIn,
  readDay,
  termEntry,
} from './records.ts'
import {
  type AcademyRole,
  type EnrollmentRole,
  enrollmentRoles,
  type RosterEntry,
  roleMeanings,
} from './roster.ts'

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

const people = peopleForm('sourcedId', {
  externalId: 'sourcedId',
  email: 'email',
  username: 'username',
  role: 'role',
  'profile.firstName': 'givenName',
  'profile.lastName': 'familyName',
  'profile.displayName': 'preferredGivenName',
})
const courseDataset = namedColumns(courses, { externalId: 'sourcedId' })

/**
 * Reads a OneRoster package: sessions are terms, classes are courses (courses, where there are no classes), results are
 * grades; organisations are only checked. Rows against the specification are read if their meaning is clear, and counted.
 */
export async function readOneRoster(reading: Reading): Promise<void> {
  const hasClasses = reading.files.has('classes')
  const hasRoles = reading.files.has('roles')
  const roleByUser = new Map<string, UserRole>()
  const namesById = new Map<string, Set<string>>()
  await readTable(reading, 'orgs', (row) => row.leaveOut('organisations are not kept'))
  await readTable(reading, 'academicSessions', termOf)
  await readTable(reading, 'roles', (row, isRemoved) => addRole(roleByUser, row, isRemoved))
  await readTable(reading, 'users', (row, isRemoved) => {
    const role = hasRoles ? (roleByUser.get(row.text('sourcedId'))?.role ?? '') : row.text('role')
    return userOf(reading, row, isRemoved, role, namesById)
  })
  warnOfRolesWithoutUser(reading, roleByUser)
  await readTable(reading, 'courses', (row, isRemoved) =>
    hasClasses
      ? row.leaveOut('courses are read through their classes')
      : courseOf(row, row.text('schoolYearSourcedId'), isRemoved),
  )
  await readTable(reading, 'classes', (row, isRemoved) => {
    const terms = row.text('termSourcedIds')
    const [term = '', ...others] = reading.hasRow('academicSessions', terms) ? [terms] : listIn(terms)
    if (others.length > 0) row.addLeniency('classes are in several terms; read the first')
    return courseOf(row, term, isRemoved)
  })
  const lineItems = await readLineItems(reading)
  for (const course of reading.records('courses').values()) {
    const weights = lineItems.weightsOf(course.key)
    if (weights.length > 0 && !course.isRemoved)
      course.record = { ...course.record, assessmentCriteria: { weights } }
  }
  await readTable(reading, 'enrollments', (row, isRemoved) => enrollmentOf(reading, row, isRemoved), {
    removedNeeds: ['sourcedId', 'classSourcedId', 'userSourcedId', 'role'],
  })
  await readResults(reading, lineItems)
}

function termOf(row: CsvRow, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('terms', { externalId }, row, true)]
  if (externalId === noTerm.id) return row.leaveOut('the session of courses without a term is left out')
  const day = (column: 'startDate' | 'endDate') => {
    const read = readDay(row, column)
    return read === openDays[column] ? null : read
  }
  const term = { externalId, name: row.text('title'), startDate: day('startDate'), endDate: day('endDate') }
  return [termEntry(row, term, ['startDate', 'endDate'])]
}

function courseOf(row: CsvRow, term: string, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('courses', { externalId }, row, true)]
  const course = { externalId, title: row.text('title') }
  addSchemaProblems(row, courseDataset, course)
  const isInTerm = term !== '' && term !== noTerm.id
  return [entryOf('courses', { ...course, ...(isInTerm && { term: `ext:${term}` }) }, row)]
}

/** @param namesById names and addresses of users so far */
function userOf(
  reading: Reading,
  row: CsvRow,
  isRemoved: boolean,
  roleText: string,
  namesById: Map<string, Set<string>>,
): readonly RosterEntry[] {
  const externalId = row.text('sourcedId')
  if (isRemoved) return [entryOf('users', { externalId }, row, true)]
  const role = roleIn(roleText, row)
  if (role === null) return row.leaveOut('people without a role in an academy are left out', roleText)
  if (row.text('password') !== '') row.addLeniency('passwords are left out')
  const [firstName, lastName] = [nameIn(row, 'givenName'), nameIn(row, 'familyName')]
  if (reading.mode('users') === 'bulk') {
    const names = namesById.get(externalId) ?? new Set<string>()
    const value = [row.text('email').toLowerCase(), firstName, lastName].join('\n')
    const before = reading.tables.get('users')?.get(externalId)
    if (before && !names.has(value)) {
      const message = `is that of ${placeText(before.place)} as well, with another name or e-mail address`
      row.addProblem('sourcedId', 'duplicate', message, externalId)
    }
    namesById.set(externalId, names.add(value))
  }
  const preferred = [row.text('preferredGivenName'), row.text('preferredFamilyName')] as const
  const person = {
    ...{ ...personIn(row, people), firstName, lastName, role },
    displayName: displayNameIn(preferred, [firstName, lastName]),
    isSuspended: !isEnabled(row),
  }
  return [personEntry(reading, row, people, person)]
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
    if (!reading.hasRow('users', user)) {
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
  if (!isRemoved && (isRemovedClass(reading, course) || reading.isRemovedRow('users', user)))
    return row.leaveOut('enrolments of removed classes and users are left out')
  if (name === 'aide' || name === 'proctor') row.addLeniency('assistants become instructors', text)
  const firstDay = isRemoved ? null : readDay(row, 'beginDate')
  const place = { courseId: `ext:${course}`, userId: `ext:${user}`, role }
  return [enrollmentEntry(row, { ...place, status: isRemoved ? 'removed' : 'active', firstDay })]
}
