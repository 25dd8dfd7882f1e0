import { namesOf, noName } from '../../lms/oneroster-mapping.ts'
import { type Columns, createLosses, type Package, type Written } from './package-writer.ts'
import type { RosterPart } from './roster.ts'
import {
  type Course,
  compare,
  type Enrolment,
  type Group,
  type Member,
  type Person,
  type School,
} from './school.ts'

export const moodleFiles: readonly string[] = ['users.csv', 'courses.csv']

export interface MoodleForm {
  readonly parts: ReadonlySet<RosterPart>
  /** Category of new courses: the number of one, or its path. */
  readonly category: string
}

/**
 * Writes a school as files of Moodle's Upload users and Upload courses. A user's row has all of their courses, so
 * enrolments are in memory at once, about 200 bytes each.
 */
export async function writeMoodle(school: School, to: Package, form: MoodleForm): Promise<Written> {
  const { parts, category } = form
  const counts: Partial<Record<RosterPart, number>> = {}
  const losses = createLosses(lossTexts)
  const placesByUser = new Map<string, Place[]>()
  const cohortsByUser = new Map<string, Set<string>>()
  const wantsGroups = parts.has('groups')
  const inside: Set<string> | null = school.isPart ? new Set() : null

  if (parts.has('courses')) {
    losses.add('archived', school.courses.filter(({ status }) => status === 'archived').length)
    counts.courses = to.write('courses.csv', courseColumns(category), school.courses)
  }
  let enrolled = 0
  let groups = 0
  for (const course of school.courses) {
    if (!parts.has('enrollments') && !inside) break
    const all = await school.enrolmentsIn(course)
    for (const { userId } of all) inside?.add(userId)
    if (!parts.has('enrollments')) continue
    enrolled += all.length
    await place(course, all)
  }
  if (wantsGroups && !school.isPart) await placeCohorts()
  if (parts.has('enrollments')) counts.enrollments = enrolled
  if (wantsGroups) counts.groups = groups
  if (parts.has('users') || parts.has('enrollments') || wantsGroups) await writeUsers()
  const passwords =
    'Moodle needs passwords or an authentication method: choose to create them in Upload users'
  return { counts, notes: [...losses.notes(), ...(parts.has('users') ? [passwords] : [])] }

  /** Notes a place once for each enrolment, and once for each further group. */
  async function place(course: Course, all: readonly Enrolment[]): Promise<void> {
    const groupsByUser = new Map<string, Set<string>>()
    const users = new Set(all.map(({ userId }) => userId))
    for (const group of wantsGroups ? await school.groupsOf(course) : []) {
      const members = await school.membersOf(group)
      countGroup(group, members, `${course.key}/${group.name}`)
      for (const { userId } of members) {
        if (users.has(userId)) add(groupsByUser, userId, group.name)
        else losses.add('outside')
      }
    }
    for (const { userId, role, status, enrolledAt } of all) {
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

  async function placeCohorts(): Promise<void> {
    for (const group of await school.groupsOf(null)) {
      const members = await school.membersOf(group)
      countGroup(group, members, group.name)
      for (const { userId } of members) add(cohortsByUser, userId, group.name)
    }
  }

  /** @param readKey external id with which readers know a group of this name */
  function countGroup({ key, name }: Group, members: readonly Member[], readKey: string): void {
    groups += 1
    const isEmpty = members.length === 0
    if (isEmpty) losses.add('empty')
    if (!isEmpty && key !== readKey) losses.add('groupIds')
    // Moodle takes a number for the id of a group.
    if (!isEmpty && /^\d+$/.test(name)) losses.add('numbers')
  }

  async function writeUsers(): Promise<void> {
    const { username } = userColumns
    const table = to.table<UserRow>('users.csv', {
      ...(parts.has('users') ? userColumns : { username }),
      ...placeColumns(
        most(placesByUser.values(), ({ length }) => length),
        wantsGroups,
      ),
      ...cohortColumns(most(cohortsByUser.values(), ({ size }) => size)),
    })
    for await (const some of school.people(inside)) {
      for (const person of some) {
        countNames(person)
        const cohorts = inOrder(cohortsByUser.get(person.id) ?? [])
        table.add({ person, places: placesByUser.get(person.id) ?? [], cohorts })
      }
    }
    if (parts.has('users')) counts.users = table.rows
  }

  function countNames(person: Person): void {
    const { username, firstName, lastName, displayName } = person
    const [first, last] = namesOf(person)
    if (first === '' || last === '') losses.add('nameless')
    if (firstName === '' && lastName === '' && displayName !== '') losses.add('displayOnly')
    else if (displayName !== '' && displayName !== `${first} ${last}`) losses.add('displayNames')
    if (username !== '' && loginOf(person) !== username) losses.add('lowered')
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

/** Columns of a place, without their numbers. */
const placeFields = ['course', 'role', 'enrolstatus', 'enroltimestart', 'group'] as const
/** Place of a user in a course, as the cells of its columns. */
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
