import { namesOf } from '../../lms/oneroster-mapping.ts'
import type {
  AcademyReader,
  Course,
  CourseContents,
  Enrolment,
  Group,
  Member,
  Person,
  Term,
} from './academy-reader.ts'
import { type Columns, createLosses, type FormatWriter, type Package } from './package-writer.ts'
import type { RosterPart } from './roster.ts'

/** Groups of courses are sections, other groups are groups of the account. */
export function canvasWriter(
  academy: AcademyReader,
  to: Package,
  parts: ReadonlySet<RosterPart>,
): FormatWriter {
  const losses = createLosses(lossTexts)
  if (parts.has('terms')) to.write('terms.csv', columns.terms, academy.terms)
  if (parts.has('courses')) {
    losses.add('descriptions', academy.courses.filter(({ description }) => description !== '').length)
    to.write('courses.csv', columns.courses, academy.courses)
  }
  const sections = parts.has('groups') ? to.table('sections.csv', columns.sections) : null
  const enrollments = parts.has('enrollments') ? to.table('enrollments.csv', columns.enrollments) : null

  /** Sections and enrolments have a row each; an enrolment has one for each of the user's sections. */
  function addCourse({ course, enrolments, groups }: CourseContents): void {
    for (const { group } of groups) sections?.add({ course, group })
    if (!enrollments) return
    const sectionsByUser = new Map<string, string[]>()
    const users = new Set(enrolments.map(({ userId }) => userId))
    for (const { group, members } of groups) {
      for (const { userId } of members) {
        const keys = sectionsByUser.get(userId)
        if (!users.has(userId)) losses.add('outside')
        else if (keys) keys.push(group.key)
        else sectionsByUser.set(userId, [group.key])
      }
    }
    for (const enrolment of enrolments) {
      if (enrolment.enrolledAt !== '') losses.add('days')
      for (const section of sectionsByUser.get(enrolment.userId) ?? ['']) {
        enrollments.add({ course, enrolment, section })
      }
    }
  }

  return {
    addCourse: sections || enrollments ? addCourse : null,
    addGroups(all) {
      to.write(
        'groups.csv',
        columns.groups,
        all.map(({ group }) => group),
      )
      const memberships = to.table('groups_membership.csv', columns.groups_membership)
      for (const { group, members } of all) for (const member of members) memberships.add({ group, member })
    },
    openPeople: parts.has('users')
      ? () => {
          const users = to.table('users.csv', columns.users)
          return (person) => {
            if (namesOf(person).join('') === '') losses.add('nameless')
            users.add(person)
          }
        }
      : null,
    finish: () => ({ notes: losses.notes() }),
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
