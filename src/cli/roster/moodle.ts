import { courses } from '../dataset/courses.ts'
import { type CsvRow, checkReference, type Reading, walk } from './reading.ts'
import {
  addSchemaProblems,
  dayWith,
  enrollmentEntry,
  entryOf,
  filled,
  groupEntry,
  namedColumns,
  nameIn,
  peopleForm,
  personEntry,
  personIn,
} from './records.ts'
import {
  type EnrollmentRole,
  enrollmentRoles,
  namesOfRoles,
  type RosterEntry,
  roleMeanings,
} from './roster.ts'
import type { TableForm } from './table.ts'

/** Headers of files of "Upload courses" and "Upload users". */
export const moodleTables = {
  courses: {
    ...{ name: 'courses', part: 'courses', noun: 'course', key: ['shortname'], required: ['fullname'] },
    columns: [
      ...['shortname', 'fullname', 'category', 'category_idnumber', 'category_path', 'idnumber', 'visible'],
      ...['startdate', 'enddate', 'summary', 'format', 'lang', 'theme', 'enablecompletion', 'newsitems'],
      ...['showgrades', 'showreports', 'legacyfiles', 'groupmode', 'groupmodeforce', 'maxbytes', 'delete'],
      ...['rename', 'reset', 'backupfile', 'templatecourse', 'downloadcontent', 'showactivitydates'],
    ],
    pattern: /^(enrolment_\d+(_\w+)?|customfield_\w+|role_\w+)$/,
    shownBy: [['shortname', 'fullname']],
  },
  users: {
    ...{ name: 'users', part: 'users', noun: 'user', key: ['username'], required: [] },
    columns: [
      ...['username', 'password', 'firstname', 'lastname', 'email', 'idnumber', 'suspended', 'deleted'],
      ...['oldusername', 'auth', 'city', 'country', 'lang', 'timezone', 'institution', 'department'],
      ...['phone1', 'phone2', 'address', 'description', 'descriptionformat', 'mailformat', 'maildisplay'],
      ...['maildigest', 'autosubscribe', 'trackforums', 'htmleditor', 'theme', 'calendartype', 'interests'],
      ...['middlename', 'alternatename', 'firstnamephonetic', 'lastnamephonetic', 'emailstop', 'url'],
    ],
    pattern:
      /^(profile_field_\w+|(course|role|type|group|enrolstatus|enrolperiod|enroltimestart|cohort|sysrole|category|categoryrole)\d+)$/,
    unless: ['sourcedid', 'user_id'],
    shownBy: [
      ['username', 'firstname', 'lastname'],
      ['username', 'email'],
      ['username', 'course1'],
      ['username', 'cohort1'],
      ['username', 'oldusername'],
      ['username', 'deleted'],
      ['username', 'suspended'],
    ],
  },
} as const satisfies Readonly<Record<string, TableForm>>

const people = peopleForm('username', {
  externalId: 'idnumber',
  email: 'email',
  username: 'username',
  'profile.firstName': 'firstname',
  'profile.lastName': 'lastname',
})
const courseDataset = namedColumns(courses, {
  externalId: 'shortname',
  title: 'fullname',
  description: 'summary',
  language: 'lang',
})

const roles: ReadonlyMap<string, EnrollmentRole> = new Map([
  ...enrollmentRoles,
  ...namesOfRoles({
    learner: 'student',
    instructor: 'teacher editingteacher manager coursecreator',
    none: 'guest user frontpage',
  }),
])
export const moodleRoles = [...roles.keys()]
/** Roles that the columns `type1`, `type2`, … number from 1. */
const typedRoles = ['student', 'editingteacher', 'teacher']

/** Courses are known by short name, users by id number, else user name. Cohorts are groups without a course. */
export async function readMoodle(reading: Reading): Promise<void> {
  await walk(reading, moodleTables.courses, {
    isRemoved: (row) => isOn(row, 'delete'),
    entriesOf: courseOf,
  })
  await walk(reading, moodleTables.users, {
    hasOtherParts: true,
    isRemoved: (row) => isOn(row, 'deleted'),
    entriesOf: (row, isRemoved) => userOf(reading, row, isRemoved),
  })
}

function courseOf(row: CsvRow, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('shortname')
  if (isRemoved) return [entryOf('courses', { externalId }, row, true)]
  const newName = row.text('rename')
  if (newName !== '' && newName !== externalId) {
    row.addProblem('rename', 'unsupported', 'cannot be read: rename the course in the academy first', newName)
  }
  if (![externalId, ''].includes(row.text('idnumber'))) row.addLeniency('idnumber is left out')
  const visible = isOn(row, 'visible') ? 'published' : 'draft'
  const course = {
    ...{ externalId, title: row.text('fullname') },
    ...filled({
      description: row.text('summary'),
      language: row.text('lang').replaceAll('_', '-'),
      status: row.text('visible') === '' ? '' : visible,
    }),
  }
  addSchemaProblems(row, courseDataset, course)
  return [entryOf('courses', course, row)]
}

function userOf(reading: Reading, row: CsvRow, isRemoved: boolean): readonly RosterEntry[] {
  const username = row.text('username')
  const externalId = row.text('idnumber') || username
  if (isRemoved) return [entryOf('users', { externalId }, row, true)]
  if (row.text('password') !== '') row.addLeniency('passwords are left out')
  if (row.text('oldusername') !== '') {
    row.addLeniency('oldusername is left out: people are known by id number and address')
  }
  const enrollments = enrollmentsOf(reading, row, externalId)
  const teaches = enrollments.some(({ record }) => record['role'] === 'instructor')
  const person = personEntry(reading, row, people, {
    ...personIn(row, people),
    externalId,
    firstName: nameIn(row, 'firstname'),
    lastName: nameIn(row, 'lastname'),
    ...(row.text('suspended') !== '' && { isSuspended: isOn(row, 'suspended') }),
    ...(teaches && { role: 'instructor' }),
  })
  for (const number of numbers(row, 'cohort')) {
    addTo(reading, row, row.text(`cohort${number}`), null, externalId)
  }
  return [person, ...enrollments]
}

/** Adds a member to the group of a course, or to a cohort, which is known by its name. */
function addTo(reading: Reading, row: CsvRow, name: string, course: string | null, user: string): void {
  const externalId = course === null ? name : `${course}/${name}`
  if (!reading.records('groups').has(`ext:${externalId}`))
    reading.addGroup(groupEntry(row, { externalId, name, course: course && `ext:${course}` }))
  reading.addMember(`ext:${externalId}`, `ext:${user}`)
}

/** Reads `course1`, `role1`, `type1`, `enrolstatus1` and `group1`, and columns with higher numbers. */
function enrollmentsOf(reading: Reading, row: CsvRow, user: string): RosterEntry[] {
  return numbers(row, 'course').flatMap((number) => {
    const course = row.text(`course${number}`)
    checkReference(reading, row, { column: `course${number}`, to: 'courses', isWarning: true })
    const role = roleIn(row, number)
    if (role === undefined) return []
    if (role === null) return row.leaveOut('enrolments of guests, and of roles mapped to none, are left out')
    const isSuspended = isOn(row, `enrolstatus${number}`)
    const name = row.text(`group${number}`)
    if (name !== '') addTo(reading, row, name, course, user)
    const status = isSuspended ? 'inactive' : 'active'
    const place = { courseId: `ext:${course}`, userId: `ext:${user}`, role }
    return enrollmentEntry(row, { ...place, status, firstDay: startOf(row, number) })
  })
}

/** Default: a learner's; undefined after it added a problem. */
function roleIn(row: CsvRow, number: number): EnrollmentRole | undefined {
  const [text, type] = [row.text(`role${number}`), row.text(`type${number}`)]
  const typed = type === '' ? 'student' : (typedRoles[Number(type) - 1] ?? type)
  const name = (text || typed).toLowerCase()
  const role = roles.get(name)
  if (role === undefined) {
    if (text === '') row.addChoiceProblem(`type${number}`, type, 'must be 1, 2 or 3', roleMeanings)
    else {
      const message = `must be one of ${moodleRoles.slice(enrollmentRoles.length).join(', ')}`
      row.addChoiceProblem(`role${number}`, text, message, roleMeanings)
    }
  }
  if (role === 'instructor' && name === 'manager') row.addLeniency('managers of courses become instructors')
  return role
}

/** Null if the file does not say. Moodle also reads texts such as `now`. */
function startOf(row: CsvRow, number: number): string | null {
  const text = row.text(`enroltimestart${number}`)
  if (text === '') return null
  const { day, guess } = dayWith(text, row.cellForm)
  if (day === null) row.addLeniency(`starts of enrolments that are no days are left out${guess}`, text)
  return day
}

/** `1` for `course1`, if that has text. */
function numbers(row: CsvRow, prefix: string): number[] {
  const found: number[] = []
  for (let number = 1; row.has(`${prefix}${number}`); number += 1) {
    if (row.text(`${prefix}${number}`) !== '') found.push(number)
  }
  return found
}

/** Reads a switch, which Moodle writes 0 or 1; an empty cell is off. Other text is a problem. */
function isOn(row: CsvRow, column: string): boolean {
  const text = row.text(column).toLowerCase()
  if (['1', 'yes', 'true'].includes(text)) return true
  if (!['', '0', 'no', 'false'].includes(text))
    row.addChoiceProblem(column, text, 'must be 0 or 1', ['0', '1'], 'invalid_type')
  return false
}
