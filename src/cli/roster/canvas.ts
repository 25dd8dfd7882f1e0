import { courses } from '../dataset/courses.ts'
import { type CsvRow, type Reading, type RowReader, walk } from './reading.ts'
import {
  addSchemaProblems,
  enrollmentEntry,
  entryOf,
  groupEntry,
  namedColumns,
  peopleForm,
  personEntry,
  personIn,
  readDay,
  termEntry,
} from './records.ts'
import {
  type EnrollmentRole,
  enrollmentRoles,
  leftOutByMapping,
  namesOfRoles,
  type RosterEntry,
  roleMeanings,
} from './roster.ts'
import type { TableForm, TableReference } from './table.ts'

/**
 * Tables of Canvas SIS imports, in the order in which they are read, with the columns of their files as published. A
 * missing reference is a warning: an import may refer to records of earlier ones.
 */
export const canvasTables = {
  accounts: table('accounts', 'account_id,parent_account_id,name,status', ['account_id'], {
    ...{ part: null, noun: 'account', required: ['name'] },
    shownBy: [['account_id', 'parent_account_id']],
    references: warned({ parent_account_id: 'accounts' }),
  }),
  terms: table('terms', 'term_id,name,status,start_date,end_date', ['term_id'], {
    ...{ part: 'terms', noun: 'term', required: ['name', 'status'] },
    shownBy: [['term_id', 'name', 'status']],
  }),
  users: table(
    'users',
    'user_id,integration_id,login_id,password,ssha_password,authentication_provider_id,first_name,last_name,full_name,sortable_name,short_name,email,status',
    ['user_id'],
    { part: 'users', noun: 'user', required: ['login_id', 'status'], shownBy: [['user_id', 'login_id']] },
  ),
  courses: table(
    'courses',
    'course_id,short_name,long_name,account_id,term_id,status,start_date,end_date,course_format',
    ['course_id'],
    {
      ...{ part: 'courses', noun: 'course', required: ['long_name', 'status'] },
      shownBy: [['course_id', 'short_name', 'long_name']],
      references: warned({ account_id: 'accounts', term_id: 'terms' }),
    },
  ),
  sections: table('sections', 'section_id,course_id,name,status,start_date,end_date', ['section_id'], {
    ...{ part: 'groups', noun: 'section', required: ['course_id', 'name', 'status'] },
    shownBy: [['section_id', 'course_id', 'name']],
    references: warned({ course_id: 'courses' }),
  }),
  groups: table('groups', 'group_id,account_id,course_id,name,status', ['group_id'], {
    ...{ part: 'groups', noun: 'group', required: ['name', 'status'] },
    shownBy: [['group_id', 'name', 'status']],
    references: warned({ account_id: 'accounts', course_id: 'courses' }),
  }),
  memberships: table('groups_membership', 'group_id,user_id,status', ['group_id', 'user_id'], {
    ...{ part: null, noun: 'membership', required: ['status'] },
    shownBy: [['group_id', 'user_id', 'status']],
    references: warned({ group_id: 'groups', user_id: 'users' }),
  }),
  enrollments: table(
    'enrollments',
    'course_id,root_account,user_id,role,role_id,section_id,status,associated_user_id',
    ['user_id'],
    {
      ...{ part: 'enrollments', noun: 'enrolment', required: ['status'] },
      shownBy: ['course_id', 'section_id'].flatMap((place) =>
        ['role', 'role_id'].map((role) => [place, 'user_id', role]),
      ),
      references: warned({ course_id: 'courses', user_id: 'users', section_id: 'sections' }),
    },
  ),
} as const satisfies Readonly<Record<string, TableForm>>

function table(
  name: string,
  columns: string,
  key: readonly string[],
  given: Omit<TableForm, 'name' | 'columns' | 'key'>,
): TableForm {
  return { name, columns: columns.split(','), key, ...given }
}

function warned(tables: Readonly<Record<string, string>>): readonly TableReference[] {
  return Object.entries(tables).map(([column, to]) => ({ column, to, isWarning: true }))
}

const people = peopleForm('user_id', {
  externalId: 'user_id',
  email: 'email',
  username: 'login_id',
  'profile.firstName': 'first_name',
  'profile.lastName': 'last_name',
  'profile.displayName': 'full_name',
})
const courseDataset = namedColumns(courses, { externalId: 'course_id', title: 'long_name' })

/** Roles of enrolments in an academy, by their names in files and in the API of Canvas. */
const roles: ReadonlyMap<string, EnrollmentRole> = new Map([
  ...enrollmentRoles,
  ...namesOfRoles({
    learner: 'student studentenrollment',
    instructor: 'teacher ta designer teacherenrollment taenrollment designerenrollment',
    none: 'observer observerenrollment',
  }),
])
export const canvasRoles = [...roles.keys()]

/** Sections are groups of their courses. A user who teaches somewhere is an instructor; Canvas has no roles of users. */
export async function readCanvas(reading: Reading): Promise<void> {
  const courseBySection = new Map<string, string>()
  await read('accounts', (row) => row.leaveOut('accounts are not kept'))
  await read('terms', termOf)
  await read('users', (row, isRemoved) => userOf(reading, row, isRemoved))
  await read('courses', courseOf)
  await read('sections', (row, isRemoved) => {
    const [externalId, course] = [row.text('section_id'), row.text('course_id')]
    courseBySection.set(externalId, course)
    const section = { externalId, name: row.text('name'), course: `ext:${course}` }
    reading.addGroup(groupEntry(row, section, isRemoved))
    return []
  })
  await read('groups', (row, isRemoved) => {
    const [externalId, course] = [row.text('group_id'), row.text('course_id')]
    const group = { externalId, name: row.text('name'), course: course === '' ? null : `ext:${course}` }
    reading.addGroup(groupEntry(row, group, isRemoved))
    return []
  })
  await read('memberships', (row, isRemoved) => {
    if (!isRemoved) reading.addMember(`ext:${row.text('group_id')}`, `ext:${row.text('user_id')}`)
    return []
  })
  await read('enrollments', (row) => enrollmentOf(reading, row, courseBySection), {
    // A user has several rows; enrolments have a key of their own.
    addsUp: true,
    removedNeeds: ['user_id'],
  })
  makeTeachersInstructors(reading)

  function read(
    name: keyof typeof canvasTables,
    entriesOf: RowReader['entriesOf'],
    more: Pick<RowReader, 'addsUp' | 'removedNeeds'> = {},
  ): Promise<void> {
    return walk(reading, canvasTables[name], { ...more, entriesOf, isRemoved })
  }
}

function isRemoved(row: CsvRow): boolean {
  return row.text('status').toLowerCase() === 'deleted'
}

/** In lower case; null after it added a problem. */
function statusIn<Status extends string>(row: CsvRow, known: readonly Status[]): Status | null {
  const text = row.text('status')
  const status = known.find((each) => each === text.toLowerCase())
  if (status === undefined) {
    row.addChoiceProblem('status', text, `must be one of ${known.join(', ')}, deleted`, [...known, 'deleted'])
    return null
  }
  if (status !== text) row.addLeniency('statuses are not spelled as specified', text)
  return status
}

function termOf(row: CsvRow, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('term_id')
  if (isRemoved) return [entryOf('terms', { externalId }, row, true)]
  statusIn(row, ['active'])
  const [startDate, endDate] = [readDay(row, 'start_date', true), readDay(row, 'end_date', true)]
  const term = { externalId, name: row.text('name'), startDate, endDate }
  return [termEntry(row, term, ['start_date', 'end_date'])]
}

function userOf(reading: Reading, row: CsvRow, isRemoved: boolean): readonly RosterEntry[] {
  const externalId = row.text('user_id')
  if (isRemoved) return [entryOf('users', { externalId }, row, true)]
  const status = statusIn(row, ['active', 'suspended'])
  if (row.text('password') !== '' || row.text('ssha_password') !== '')
    row.addLeniency('passwords are left out')
  const hasName = row.text('first_name') !== '' || row.text('last_name') !== ''
  const displayName = row.text('short_name') || (hasName ? '' : row.text('full_name'))
  const person = { ...personIn(row, people), displayName, isSuspended: status === 'suspended' }
  return [personEntry(reading, row, people, person)]
}

/** Enrolments as a teacher, an assistant or a designer make an instructor. */
function makeTeachersInstructors(reading: Reading): void {
  for (const { record, isRemoved } of reading.records('enrollments').values()) {
    const user = reading.records('users').get(String(record['userId']))
    if (!user || user.isRemoved || isRemoved || record['role'] !== 'instructor') continue
    const { status, profile, ...person } = user.record
    user.record = { ...person, role: 'instructor', status, ...(profile !== undefined && { profile }) }
  }
}

function courseOf(row: CsvRow, isRemoved: boolean): RosterEntry[] {
  const externalId = row.text('course_id')
  if (isRemoved) return [entryOf('courses', { externalId }, row, true)]
  const status = statusIn(row, ['active', 'completed', 'published', 'unpublished'])
  if (row.text('start_date') !== '' || row.text('end_date') !== '') {
    row.addLeniency('dates of courses are left out; those of terms are kept')
  }
  const course = { externalId, title: row.text('long_name') }
  addSchemaProblems(row, courseDataset, course)
  const term = row.text('term_id')
  const known = { completed: 'archived', published: 'published', unpublished: 'draft', active: null } as const
  const courseStatus = status && known[status]
  const more = { ...(courseStatus && { status: courseStatus }), ...(term !== '' && { term: `ext:${term}` }) }
  return [entryOf('courses', { ...course, ...more }, row)]
}

function enrollmentOf(
  reading: Reading,
  row: CsvRow,
  courseBySection: ReadonlyMap<string, string>,
): readonly RosterEntry[] {
  const status = isRemoved(row) ? 'removed' : statusIn(row, ['active', 'completed', 'inactive'])
  const [user, section, given] = [row.text('user_id'), row.text('section_id'), row.text('course_id')]
  const ofSection = courseBySection.get(section)
  const course = given || ofSection
  if (status !== 'removed' && given !== '' && ofSection !== undefined && ofSection !== given) {
    row.addProblem('course_id', 'conflict', `must be ${ofSection}, the course of section ${section}`, given)
  }
  if (course === undefined) {
    row.addProblem('course_id', 'required', 'is required, as the course of the section is not known', section)
  }
  const [text, id] = [row.text('role'), row.text('role_id')]
  const role = roleOf(text, id)
  if (role === undefined) {
    const message = 'must be a role of Canvas: student, teacher, ta, designer or observer'
    const [column, value] = text === '' && id !== '' ? (['role_id', id] as const) : (['role', text] as const)
    row.addChoiceProblem(column, value, message, roleMeanings)
  }
  if (role === null) {
    const isObserver = text.toLowerCase().startsWith('observer')
    return isObserver ? row.leaveOut('observers are left out') : row.leaveOut(leftOutByMapping)
  }
  if (status === null || course === undefined || role === undefined || row.hasProblem) return []
  if (role === 'instructor' && text.toLowerCase().startsWith('d'))
    row.addLeniency('designers become instructors')
  if (status !== 'removed' && section !== '') reading.addMember(`ext:${section}`, `ext:${user}`)
  return [enrollmentEntry(row, { courseId: `ext:${course}`, userId: `ext:${user}`, role, status })]
}

/** Undefined for an unknown one. Canvas numbers roles: the mapping of a number counts first. */
function roleOf(text: string, id: string): EnrollmentRole | undefined {
  const mapped = roles.get(id.toLowerCase())
  return mapped === undefined ? roles.get(text.toLowerCase()) : mapped
}
