import { namesOf, noName } from '../../lms/oneroster-mapping.ts'
import {
  type AcademyReader,
  type Course,
  type CourseContents,
  compare,
  type Group,
  type Member,
  type Person,
} from './academy-reader.ts'
import { type Columns, createLosses, type FormatWriter, type Package } from './package-writer.ts'
import type { RosterPart } from './roster.ts'

export const moodleFiles: readonly string[] = ['users.csv', 'courses.csv']

interface MoodleForm {
  readonly parts: ReadonlySet<RosterPart>
  /** Number or path of the category of new courses. */
  readonly category: string
}

/**
 * Writes files of Moodle's Upload users and Upload courses. A user's row has all of their courses, so enrolments are in
 * memory at once, about 200 bytes each.
 */
export function moodleWriter(academy: AcademyReader, to: Package, form: MoodleForm): FormatWriter {
  const { parts, category } = form
  const losses = createLosses(lossTexts)
  const placesByUser = new Map<string, Place[]>()
  const cohortsByUser = new Map<string, Set<string>>()
  if (parts.has('courses')) {
    losses.add('archived', academy.courses.filter(({ status }) => status === 'archived').length)
    to.write('courses.csv', courseColumns(category), academy.courses)
  }

  /** Notes a place once for each enrolment, and once for each further group. */
  function addCourse({ course, enrolments, groups }: CourseContents): void {
    const groupsByUser = new Map<string, Set<string>>()
    const users = new Set(enrolments.map(({ userId }) => userId))
    for (const { group, members } of groups) {
      noteGroup(group, members, `${course.key}/${group.name}`)
      for (const { userId } of members) {
        if (users.has(userId)) add(groupsByUser, userId, group.name)
        else losses.add('outside')
      }
    }
    for (const { userId, role, status, enrolledAt } of enrolments) {
      if (status === 'completed') losses.add('completed')
      for (const group of inOrder(groupsByUser.get(userId) ?? [''])) {
        const place = {
          course: course.key,
          role: role === 'instructor' ? 'editingteacher' : 'student',
          enrolstatus: status === 'inactive' ? '1' : '',
          enroltimestart: enrolledAt.slice(0, 10),
          group,
        }
        const places = placesByUser.get(userId)
        if (places) places.push(place)
        else placesByUser.set(userId, [place])
      }
    }
  }

  /** @param readKey external id with which readers know a group of this name */
  function noteGroup({ key, name }: Group, members: readonly Member[], readKey: string): void {
    const isEmpty = members.length === 0
    if (isEmpty) losses.add('empty')
    if (!isEmpty && key !== readKey) losses.add('groupIds')
    // Moodle takes a number for the id of a group.
    if (!isEmpty && /^\d+$/.test(name)) losses.add('numbers')
  }

  function openPeople(): (person: Person) => void {
    const { username } = userColumns
    const table = to.table<UserRow>('users.csv', {
      ...(parts.has('users') ? userColumns : { username }),
      ...placeColumns(
        most(placesByUser.values(), ({ length }) => length),
        parts.has('groups'),
      ),
      ...cohortColumns(most(cohortsByUser.values(), ({ size }) => size)),
    })
    return (person) => {
      noteNames(person)
      const cohorts = inOrder(cohortsByUser.get(person.id) ?? [])
      table.add({ person, places: placesByUser.get(person.id) ?? [], cohorts })
    }
  }

  function noteNames(person: Person): void {
    const { username, firstName, lastName, displayName } = person
    const [first, last] = namesOf(person)
    if (first === '' || last === '') losses.add('nameless')
    if (firstName === '' && lastName === '' && displayName !== '') losses.add('displayOnly')
    else if (displayName !== '' && displayName !== `${first} ${last}`) losses.add('displayNames')
    if (username !== '' && loginOf(person) !== username) losses.add('lowered')
  }

  const passwords =
    'Moodle needs passwords or an authentication method: choose to create them in Upload users'
  const hasUserRows = ['users', 'enrollments', 'groups'].some((part) => parts.has(part as RosterPart))
  return {
    addCourse: parts.has('enrollments') ? addCourse : null,
    addGroups(cohorts) {
      for (const { group, members } of cohorts) {
        noteGroup(group, members, group.name)
        for (const { userId } of members) add(cohortsByUser, userId, group.name)
      }
    },
    openPeople: hasUserRows ? openPeople : null,
    finish: () => ({ notes: [...losses.notes(), ...(parts.has('users') ? [passwords] : [])] }),
  }
}

const lossTexts = {
  nameless: `{user} without a first or last name: ${noName} is written, since Moodle requires both`,
  displayOnly:
    '{user} with a display name only: its parts are written as first and last name, since Moodle requires both',
  displayNames: 'The display names of {user} are not included: Moodle has none',
  lowered: '{username} written in lower case, as Moodle requires',
  archived: '{archived course} written as hidden, like a draft: Moodle has no archive',
  completed: "{completed enrolment} written like active ones: Moodle's files have no completion",
  outside: '{member} of groups left out: they are not enrolled in the course',
  empty: '{group} without members left out',
  groupIds: "The ids of {group} are not included: Moodle's files have names of groups only",
  numbers: '{group} with a number as name: Moodle takes it for an id, so rename {it|them} first',
}

function courseColumns(category: string): Columns<Course> {
  return {
    shortname: ({ key }) => key,
    fullname: ({ title }) => title,
    [/^\d+$/.test(category) ? 'category' : 'category_path']: () => category,
    idnumber: ({ key }) => key,
    visible: ({ status }) => (status === 'published' ? '1' : '0'),
    summary: ({ description }) => description,
  }
}

const placeFields = ['course', 'role', 'enrolstatus', 'enroltimestart', 'group'] as const
type Place = Readonly<Record<(typeof placeFields)[number], string>>

interface UserRow {
  readonly person: Person
  readonly places: readonly Place[]
  readonly cohorts: readonly string[]
}

const userColumns = {
  username: ({ person }) => loginOf(person),
  firstname: ({ person }) => namesOf(person)[0] || noName,
  lastname: ({ person }) => namesOf(person)[1] || noName,
  email: ({ person }) => person.email,
  idnumber: ({ person }) => person.key,
  suspended: ({ person }) => (person.isSuspended ? '1' : '0'),
} satisfies Columns<UserRow>

function loginOf({ username, email }: Person): string {
  return (username || email).toLowerCase()
}

function placeColumns(count: number, withGroups: boolean): Columns<UserRow> {
  const columns: Record<string, (row: UserRow) => string> = {}
  for (let index = 0; index < count; index += 1) {
    for (const field of withGroups ? placeFields : placeFields.slice(0, -1)) {
      columns[`${field}${index + 1}`] = ({ places }) => places[index]?.[field] ?? ''
    }
  }
  return columns
}

function cohortColumns(count: number): Columns<UserRow> {
  const columns: Record<string, (row: UserRow) => string> = {}
  for (let index = 0; index < count; index += 1) {
    columns[`cohort${index + 1}`] = ({ cohorts }) => cohorts[index] ?? ''
  }
  return columns
}

function most<Item>(items: Iterable<Item>, countOf: (item: Item) => number): number {
  return [...items].reduce((count, item) => Math.max(count, countOf(item)), 0)
}

function add(sets: Map<string, Set<string>>, key: string, item: string): void {
  const set = sets.get(key)
  if (set) set.add(item)
  else sets.set(key, new Set([item]))
}

function inOrder(names: Iterable<string>): string[] {
  return [...names].sort(compare)
}
