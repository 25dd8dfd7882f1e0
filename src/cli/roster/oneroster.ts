import { wholeCourse } from '../../contract/constants.ts'
import {
  displayNameIn,
  itemIn,
  joinIds,
  noTerm,
  openDays,
  rosterEnrollmentRoles,
  rosterRoles,
  wholeCourseTitle,
} from '../../lms/oneroster-mapping.ts'
import { CellError, readCell } from '../dataset/cell.ts'
import { courses } from '../dataset/courses.ts'
import { grades } from '../dataset/progress.ts'
import { placeText } from '../records/entries.ts'
import { isRemovedClass, readTable } from './oneroster-tables.ts'
import { type CsvRow, listIn, type Reading } from './reading.ts'
import {
  addSchemaProblems,
  enrollmentEntry,
  entryOf,
  gradeEntries,
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

/** Null for people without a role. */
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

/** Sessions are terms, classes are courses, results are grades. Clear rows against the specification are read and counted. */
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

/** Undefined if the package has no known one, null for people without a role. */
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

interface LineItem {
  readonly courseId: string
  readonly itemId: string
  readonly label: string
  readonly scoreMaximum: number
  readonly categoryId: string
}

const source = 'manual'
const gradeDataset = namedColumns(grades, {
  learnerId: 'studentSourcedId',
  courseId: 'lineItemSourcedId',
  itemId: 'lineItemSourcedId',
  scoreGiven: 'score',
  gradedAt: 'scoreDate',
})

type LineItems = Awaited<ReturnType<typeof readLineItems>>

interface Category {
  readonly title: string
  readonly weight: number
}

/**
 * Reads line items with their categories. A category as exports write it, one for each weight of a course, is a weight of
 * that course; the weight of any other is divided by its line items in the class.
 */
async function readLineItems(reading: Reading) {
  const categories = new Map<string, Category>()
  const byId = new Map<string, LineItem>()
  const counts = new Map<string, number>()
  const weightsByCourse = new Map<string, Map<string, number>>()
  const placeOf = ({ courseId, categoryId }: LineItem) => `${courseId}\n${categoryId}`
  const isOwn = ({ courseId, categoryId, label }: LineItem) =>
    categoryId === joinIds(courseId.slice('ext:'.length), label)

  // Categories without line items are not read.
  if (reading.files.has('lineItems')) {
    await readTable(reading, 'categories', (row, isRemoved) => {
      const weight = isRemoved ? undefined : numberIn(row, 'weight')
      if (weight !== undefined) categories.set(row.text('sourcedId'), { title: row.text('title'), weight })
      return []
    })
  }
  await readTable(reading, 'lineItems', (row, isRemoved) => {
    if (isRemoved)
      return row.leaveOut('removed line items are left out; grades are never removed by a roster')
    const item = lineItemOf(row)
    byId.set(row.text('sourcedId'), item)
    counts.set(placeOf(item), (counts.get(placeOf(item)) ?? 0) + 1)
    const weight = categories.get(item.categoryId)?.weight
    if (weight === undefined || !isOwn(item)) return []
    const weights = weightsByCourse.get(item.courseId) ?? new Map<string, number>()
    weightsByCourse.set(item.courseId, weights.set(item.label, weight))
    return []
  })
  return {
    byId,
    /** Undefined if the course has its weight, or it has none. */
    shareOf(item: LineItem): number | undefined {
      const weight = categories.get(item.categoryId)?.weight
      return weight === undefined || isOwn(item) ? undefined : weight / (counts.get(placeOf(item)) ?? 1)
    },
    weightsOf: (courseId: string) =>
      [...(weightsByCourse.get(courseId) ?? [])].map(([name, weight]) => ({ name, weight })),
  }
}

/** Reads results as grades. The id of a line item is that of the graded item, without the id of its class in front. */
function readResults(reading: Reading, { byId, shareOf }: LineItems): Promise<void> {
  return readTable(reading, 'results', (row, isRemoved) => {
    if (isRemoved) return row.leaveOut('removed results are left out; grades are never removed by a roster')
    const id = row.text('lineItemSourcedId')
    const item = byId.get(id)
    if (!item) {
      const message = 'is not in lineItems, which names its class'
      row.addProblem('lineItemSourcedId', 'unknown_reference', message, id)
      return []
    }
    return gradeOf(reading, row, item, shareOf(item))
  })
}

function lineItemOf(row: CsvRow): LineItem {
  const [id, course] = [row.text('sourcedId'), row.text('classSourcedId')]
  const minimum = numberIn(row, 'resultValueMin')
  if (minimum) row.addLeniency('scores that begin above 0 are read as they are', String(minimum))
  return {
    courseId: `ext:${course}`,
    itemId: itemIn(id, course),
    label: row.text('title'),
    scoreMaximum: numberIn(row, 'resultValueMax') ?? 100,
    categoryId: row.text('categorySourcedId'),
  }
}

function gradeOf(
  reading: Reading,
  row: CsvRow,
  { courseId, itemId, label: title, scoreMaximum }: LineItem,
  share: number | undefined,
): readonly RosterEntry[] {
  const status = row.text('scoreStatus').toLowerCase()
  const scoreGiven = numberIn(row, 'score')
  if (status === 'exempt') return row.leaveOut('results of exempt learners are left out')
  if (scoreGiven === undefined) return row.leaveOut('results without a score are left out', status)
  if (!['fully graded', 'partially graded'].includes(status)) {
    row.addLeniency('results are graded by their score, not by their status', status || 'empty')
  }
  const learnerId = `ext:${row.text('studentSourcedId')}`
  const enrollment = [courseId, learnerId, 'learner'].join('\n')
  const isGone =
    isRemovedClass(reading, courseId.slice('ext:'.length)) ||
    reading.isRemovedRow('users', row.text('studentSourcedId')) ||
    reading.records('enrollments').get(enrollment)?.isRemoved
  if (isGone) return row.leaveOut('results of removed classes, users and enrolments are left out')
  const day = readDay(row, 'scoreDate')
  // The title that exports write for an item without a label.
  const label = title === (itemId === wholeCourse ? wholeCourseTitle : itemId) ? '' : title
  const isAbove = scoreGiven > scoreMaximum
  if (isAbove) row.addLeniency('scores are above the maximum')
  const record = {
    ...{ courseId, learnerId, itemId, label, scoreGiven, scoreMaximum },
    ...(share !== undefined && { weight: Math.round(share * 10_000) / 10_000 }),
    ...(day !== null && { gradedAt: `${day}T00:00:00.000Z` }),
    published: status !== 'partially graded',
    extraCredit: isAbove,
  }
  return gradeEntries(row, gradeDataset, record, source, day === null ? [] : ['gradedAt'])
}

/** Undefined for an empty cell. Other text is a problem. */
function numberIn(row: CsvRow, column: string): number | undefined {
  const text = row.text(column)
  try {
    const value = readCell({ kind: 'number' }, text, row.cellForm)
    return value === undefined ? undefined : Number(value)
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    row.addProblem(column, 'invalid_type', error.message, text)
    return undefined
  }
}
