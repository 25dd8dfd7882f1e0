import { namesOf } from '../../lms/oneroster-mapping.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { PackageWriter, Table, Written } from './package-writer.ts'
import type { RosterPart } from './roster.ts'
import type { School } from './school.ts'
import type { Course, Enrolment, Group, Person } from './school-records.ts'

/** Columns of the tables, in the order of the documentation; optional ones that an academy has no values for are left out. */
const columns = {
  users: ['user_id', 'login_id', 'first_name', 'last_name', 'full_name', 'short_name', 'email', 'status'],
  terms: ['term_id', 'name', 'status', 'start_date', 'end_date'],
  courses: ['course_id', 'short_name', 'long_name', 'term_id', 'status'],
  sections: ['section_id', 'course_id', 'name', 'status'],
  enrollments: ['course_id', 'user_id', 'role', 'section_id', 'status'],
  groups: ['group_id', 'name', 'status'],
  groups_membership: ['group_id', 'user_id', 'status'],
} as const

export const canvasFiles: readonly string[] = Object.keys(columns).map((name) => `${name}.csv`)

/** Writes a school as the files of a Canvas SIS import: groups of courses are sections, other groups are groups of the account. */
export async function writeCanvas(
  school: School,
  to: PackageWriter,
  parts: ReadonlySet<RosterPart>,
): Promise<Written> {
  const counts: Partial<Record<RosterPart, number>> = {}
  const lost = { nameless: 0, outside: 0, days: 0, descriptions: 0 }
  const inside: Set<string> | null = school.isPart ? new Set() : null
  const table = (name: keyof typeof columns) => to.table(`${name}.csv`, columns[name])

  if (parts.has('terms')) counts.terms = await addTerms(await table('terms'))
  if (parts.has('courses')) counts.courses = await addCourses(await table('courses'))
  const sections = parts.has('groups') ? await table('sections') : null
  const enrollments = parts.has('enrollments') ? await table('enrollments') : null
  let enrolled = 0
  for (const course of school.courses) {
    if (!sections && !enrollments && !inside) break
    const all = await school.enrolmentsIn(course)
    for (const { userId } of all) inside?.add(userId)
    enrolled += all.length
    const groups = sections || enrollments ? await school.groupsOf(course) : []
    for (const { key, name } of sections ? groups : []) await sections?.add([key, course.key, name, 'active'])
    if (enrollments) await addEnrolments(enrollments, course, all, sections ? groups : [])
  }
  if (sections) counts.groups = sections.rows + (school.isPart ? 0 : await addGroups())
  if (enrollments) counts.enrollments = enrolled
  if (parts.has('users')) counts.users = await addUsers(await table('users'))
  return { counts, notes: notes() }

  async function addTerms(terms: Table): Promise<number> {
    for (const { key, name, startDate, endDate } of school.terms) {
      await terms.add([
        ...[key, name, 'active'],
        ...[startDate ? `${startDate}T00:00:00Z` : '', endDate ? `${endDate}T23:59:59Z` : ''],
      ])
    }
    return terms.rows
  }

  async function addCourses(courses: Table): Promise<number> {
    for (const { key, title, term, status, description } of school.courses) {
      if (description !== '') lost.descriptions += 1
      await courses.add([key, key, title, term?.key ?? '', statusOf(status)])
    }
    return courses.rows
  }

  /** A row for each enrolment, or one for each section that the user is in. */
  async function addEnrolments(
    rows: Table,
    course: Course,
    all: readonly Enrolment[],
    groups: readonly Group[],
  ): Promise<void> {
    const sectionsByUser = new Map<string, string[]>()
    const users = new Set(all.map(({ userId }) => userId))
    for (const group of groups) {
      for (const { userId } of await school.membersOf(group)) {
        const keys = sectionsByUser.get(userId)
        if (!users.has(userId)) lost.outside += 1
        else if (keys) keys.push(group.key)
        else sectionsByUser.set(userId, [group.key])
      }
    }
    for (const { userId, userKey, role, status, enrolledAt } of all) {
      if (enrolledAt !== '') lost.days += 1
      for (const section of sectionsByUser.get(userId) ?? ['']) {
        const wait = rows.add([
          course.key,
          userKey,
          role === 'instructor' ? 'teacher' : 'student',
          section,
          status,
        ])
        if (wait) await wait
      }
    }
  }

  async function addGroups(): Promise<number> {
    const all = await school.groupsOf(null)
    if (all.length === 0) return 0
    const [groups, memberships] = [await table('groups'), await table('groups_membership')]
    for (const group of all) {
      await groups.add([group.key, group.name, 'available'])
      for (const { userKey } of await school.membersOf(group))
        await memberships.add([group.key, userKey, 'accepted'])
    }
    return all.length
  }

  async function addUsers(users: Table): Promise<number> {
    for await (const some of school.people(inside)) {
      for (const person of some) {
        const wait = users.add(userCells(person))
        if (wait) await wait
      }
    }
    return users.rows
  }

  function userCells(person: Person): string[] {
    const { key, email, username, firstName, lastName, displayName, isSuspended } = person
    if (namesOf(person).join('') === '') lost.nameless += 1
    // Canvas takes either the full name or its parts.
    const full = firstName === '' && lastName === '' ? displayName : ''
    const login = username || email
    return [key, login, firstName, lastName, full, displayName, email, isSuspended ? 'suspended' : 'active']
  }

  function notes(): string[] {
    return [
      ...(lost.nameless > 0
        ? [`${pluralise(lost.nameless, 'user')} without a name: Canvas shows an empty name`]
        : []),
      ...(lost.outside > 0
        ? [
            `${pluralise(lost.outside, 'member')} of groups left out: they are not enrolled in the course, as members of sections are`,
          ]
        : []),
      ...(lost.days > 0
        ? [`The days of ${pluralise(lost.days, 'enrolment')} are not included: Canvas SIS has none`]
        : []),
      ...(lost.descriptions > 0
        ? [
            `The descriptions of ${pluralise(lost.descriptions, 'course')} are not included: Canvas SIS has none`,
          ]
        : []),
    ]
  }
}

/** `active` leaves open whether the course is published. */
function statusOf(status: string): string {
  switch (status) {
    case 'archived':
      return 'completed'
    case 'published':
      return 'published'
    case 'draft':
      return 'unpublished'
    default:
      return 'active'
  }
}
