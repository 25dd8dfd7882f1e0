import { namesOf } from '../../lms/oneroster-mapping.ts'
import { type Columns, createLosses, type Package, type Table, type Written } from './package-writer.ts'
import type { RosterPart } from './roster.ts'
import type { Course, Enrolment, Group, Member, Person, School, Term } from './school.ts'

/** Writes a school as the files of a Canvas SIS import: groups of courses are sections, other groups are groups of the account. */
export async function writeCanvas(
  school: School,
  to: Package,
  parts: ReadonlySet<RosterPart>,
): Promise<Written> {
  const counts: Partial<Record<RosterPart, number>> = {}
  const losses = createLosses(lossTexts)
  const inside: Set<string> | null = school.isPart ? new Set() : null

  if (parts.has('terms')) counts.terms = to.write('terms.csv', columns.terms, school.terms)
  if (parts.has('courses')) {
    losses.add('descriptions', school.courses.filter(({ description }) => description !== '').length)
    counts.courses = to.write('courses.csv', columns.courses, school.courses)
  }
  const sections = parts.has('groups') ? to.table('sections.csv', columns.sections) : null
  const enrollments = parts.has('enrollments') ? to.table('enrollments.csv', columns.enrollments) : null
  let enrolled = 0
  for (const course of school.courses) {
    if (!sections && !enrollments && !inside) break
    const all = await school.enrolmentsIn(course)
    for (const { userId } of all) inside?.add(userId)
    enrolled += all.length
    const groups = sections ? await school.groupsOf(course) : []
    for (const group of groups) sections?.add({ course, group })
    if (enrollments) await addEnrolments(enrollments, course, all, groups)
  }
  if (sections) counts.groups = sections.rows + (school.isPart ? 0 : await addGroups())
  if (enrollments) counts.enrollments = enrolled
  if (parts.has('users')) counts.users = await addUsers()
  return { counts, notes: losses.notes() }

  /** A row for each enrolment, or one for each section that the user is in. */
  async function addEnrolments(
    rows: Table<EnrolmentRow>,
    course: Course,
    all: readonly Enrolment[],
    groups: readonly Group[],
  ): Promise<void> {
    const sectionsByUser = new Map<string, string[]>()
    const users = new Set(all.map(({ userId }) => userId))
    for (const group of groups) {
      for (const { userId } of await school.membersOf(group)) {
        const keys = sectionsByUser.get(userId)
        if (!users.has(userId)) losses.add('outside')
        else if (keys) keys.push(group.key)
        else sectionsByUser.set(userId, [group.key])
      }
    }
    for (const enrolment of all) {
      if (enrolment.enrolledAt !== '') losses.add('days')
      for (const section of sectionsByUser.get(enrolment.userId) ?? ['']) {
        rows.add({ course, enrolment, section })
      }
    }
  }

  async function addGroups(): Promise<number> {
    const all = await school.groupsOf(null)
    if (all.length === 0) return 0
    to.write('groups.csv', columns.groups, all)
    const memberships = to.table('groups_membership.csv', columns.groups_membership)
    for (const group of all) {
      for (const member of await school.membersOf(group)) memberships.add({ group, member })
    }
    return all.length
  }

  async function addUsers(): Promise<number> {
    const users = to.table('users.csv', columns.users)
    for await (const some of school.people(inside)) {
      for (const person of some) {
        if (namesOf(person).join('') === '') losses.add('nameless')
        users.add(person)
      }
    }
    return users.rows
  }
}

const lossTexts = {
  nameless: '{user} without a name: Canvas shows an empty name',
  outside: '{member} of groups left out: they are not enrolled in the course, as members of sections are',
  days: 'The days of {enrolment} are not included: Canvas SIS has none',
  descriptions: 'The descriptions of {course} are not included: Canvas SIS has none',
}

interface EnrolmentRow {
  readonly course: Course
  readonly enrolment: Enrolment
  /** Key of a group of the course; empty for none. */
  readonly section: string
}

/** `active`, the default, leaves open whether the course is published. */
const courseStatuses: ReadonlyMap<string, string> = new Map([
  ['archived', 'completed'],
  ['published', 'published'],
  ['draft', 'unpublished'],
])

/** Columns in the order of the documentation; optional ones that an academy has no values for are left out. */
const columns = {
  users: {
    user_id: ({ key }) => key,
    login_id: ({ username, email }) => username || email,
    first_name: ({ firstName }) => firstName,
    last_name: ({ lastName }) => lastName,
    // Canvas takes either the full name or its parts.
    full_name: ({ firstName, lastName, displayName }) =>
      firstName === '' && lastName === '' ? displayName : '',
    short_name: ({ displayName }) => displayName,
    email: ({ email }) => email,
    status: ({ isSuspended }) => (isSuspended ? 'suspended' : 'active'),
  } satisfies Columns<Person>,
  terms: {
    term_id: ({ key }) => key,
    name: ({ name }) => name,
    status: () => 'active',
    start_date: ({ startDate }) => (startDate ? `${startDate}T00:00:00Z` : ''),
    end_date: ({ endDate }) => (endDate ? `${endDate}T23:59:59Z` : ''),
  } satisfies Columns<Term>,
  courses: {
    course_id: ({ key }) => key,
    short_name: ({ key }) => key,
    long_name: ({ title }) => title,
    term_id: ({ term }) => term?.key ?? '',
    status: ({ status }) => courseStatuses.get(status) ?? 'active',
  } satisfies Columns<Course>,
  sections: {
    section_id: ({ group }) => group.key,
    course_id: ({ course }) => course.key,
    name: ({ group }) => group.name,
    status: () => 'active',
  } satisfies Columns<{ readonly course: Course; readonly group: Group }>,
  enrollments: {
    course_id: ({ course }) => course.key,
    user_id: ({ enrolment }) => enrolment.userKey,
    role: ({ enrolment }) => (enrolment.role === 'instructor' ? 'teacher' : 'student'),
    section_id: ({ section }) => section,
    status: ({ enrolment }) => enrolment.status,
  } satisfies Columns<EnrolmentRow>,
  groups: {
    group_id: ({ key }) => key,
    name: ({ name }) => name,
    status: () => 'available',
  } satisfies Columns<Group>,
  groups_membership: {
    group_id: ({ group }) => group.key,
    user_id: ({ member }) => member.userKey,
    status: () => 'accepted',
  } satisfies Columns<{ readonly group: Group; readonly member: Member }>,
}

export const canvasFiles: readonly string[] = Object.keys(columns).map((name) => `${name}.csv`)
