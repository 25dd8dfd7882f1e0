import { namesOf } from '../../lms/oneroster-mapping.ts'
import { noName } from '../../lms/roster-conventions.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { PackageWriter, Written } from './package-writer.ts'
import type { RosterPart } from './roster.ts'
import type { School } from './school.ts'
import {
  type Course,
  compare,
  type Enrolment,
  type Group,
  type Member,
  type Person,
} from './school-records.ts'

/** Columns of a user; columns of enrolments and cohorts follow. */
const userColumns = ['username', 'firstname', 'lastname', 'email', 'idnumber', 'suspended']
const courseColumns = ['shortname', 'fullname', 'category', 'idnumber', 'visible', 'summary']

export const moodleFiles: readonly string[] = ['users.csv', 'courses.csv']

export interface MoodleForm {
  readonly parts: ReadonlySet<RosterPart>
  /** Category of new courses: the number of one, or its path. */
  readonly category: string
}

/** Place of a user in a course, as the cells of its columns. */
interface Place {
  readonly course: string
  readonly role: string
  readonly status: string
  /** Empty if the platform does not say. */
  readonly firstDay: string
  readonly group: string
}

/**
 * Writes a school as files of Moodle's Upload users and Upload courses. A user's row has all of their courses, so
 * enrolments are in memory at once, about 200 bytes each.
 */
export async function writeMoodle(school: School, to: PackageWriter, form: MoodleForm): Promise<Written> {
  const { parts, category } = form
  const counts: Partial<Record<RosterPart, number>> = {}
  const lost = {
    ...{ nameless: 0, displayOnly: 0, displayNames: 0, lowered: 0, archived: 0, completed: 0 },
    ...{ numbers: 0, outside: 0, empty: 0, groupIds: 0 },
  }
  const placesByUser = new Map<string, Place[]>()
  const cohortsByUser = new Map<string, Set<string>>()
  const wantsGroups = parts.has('groups')
  const inside: Set<string> | null = school.isPart ? new Set() : null

  if (parts.has('courses')) await writeCourses()
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
  return { counts, notes: notes() }

  async function writeCourses(): Promise<void> {
    const byPath = !/^\d+$/.test(category)
    const header = courseColumns.map((name) => (name === 'category' && byPath ? 'category_path' : name))
    const table = await to.table('courses.csv', header)
    for (const { key, title, status, description } of school.courses) {
      if (status === 'archived') lost.archived += 1
      await table.add([key, title, category, key, status === 'published' ? '1' : '0', description])
    }
    counts.courses = table.rows
  }

  /** Notes a place once for each enrolment, and once for each further group. */
  async function place(course: Course, all: readonly Enrolment[]): Promise<void> {
    const groupsByUser = new Map<string, Set<string>>()
    const users = new Set(all.map(({ userId }) => userId))
    for (const group of wantsGroups ? await school.groupsOf(course) : []) {
      const members = await school.membersOf(group)
      countGroup(group, members, `${course.key}/${group.name}`)
      for (const { userId } of members) {
        if (users.has(userId)) add(groupsByUser, userId, group.name)
        else lost.outside += 1
      }
    }
    for (const { userId, role, status, enrolledAt } of all) {
      if (status === 'completed') lost.completed += 1
      for (const group of inOrder(groupsByUser.get(userId) ?? [''])) {
        const place = {
          course: course.key,
          role: role === 'instructor' ? 'editingteacher' : 'student',
          status: status === 'inactive' ? '1' : '',
          firstDay: enrolledAt.slice(0, 10),
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
    if (members.length === 0) {
      lost.empty += 1
      return
    }
    if (key !== readKey) lost.groupIds += 1
    // Moodle takes a number for the id of a group.
    if (/^\d+$/.test(name)) lost.numbers += 1
  }

  async function writeUsers(): Promise<void> {
    const places = Math.max(0, ...[...placesByUser.values()].map(({ length }) => length))
    const cohorts = Math.max(0, ...[...cohortsByUser.values()].map(({ size }) => size))
    const columnsOf = (number: number) => [
      ...[`course${number}`, `role${number}`, `enrolstatus${number}`, `enroltimestart${number}`],
      ...(wantsGroups ? [`group${number}`] : []),
    ]
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
    const own = parts.has('users') ? userColumns : userColumns.slice(0, 1)
    const header = [
      ...own,
      ...numbers(places).flatMap(columnsOf),
      ...numbers(cohorts).map((number) => `cohort${number}`),
    ]
    const table = await to.table('users.csv', header)
    for await (const some of school.people(inside)) {
      for (const person of some) {
        const mine = placesByUser.get(person.id) ?? []
        const cells = [
          ...userCells(person).slice(0, own.length),
          ...mine.flatMap(({ course, role, status, firstDay, group }) => [
            ...[course, role, status, firstDay],
            ...(wantsGroups ? [group] : []),
          ]),
        ]
        const before = own.length + places * (wantsGroups ? 5 : 4)
        while (cells.length < before) cells.push('')
        cells.push(...inOrder(cohortsByUser.get(person.id) ?? []))
        while (cells.length < header.length) cells.push('')
        const wait = table.add(cells)
        if (wait) await wait
      }
    }
    if (parts.has('users')) counts.users = table.rows
  }

  function userCells(person: Person): string[] {
    const { key, email, username, isSuspended, firstName, lastName, displayName } = person
    const [first, last] = namesOf(person)
    if (first === '' || last === '') lost.nameless += 1
    if (firstName === '' && lastName === '' && displayName !== '') lost.displayOnly += 1
    else if (displayName !== '' && displayName !== `${first} ${last}`) lost.displayNames += 1
    const login = (username || email).toLowerCase()
    if (username !== '' && login !== username) lost.lowered += 1
    return [login, first || noName, last || noName, email, key, isSuspended ? '1' : '0']
  }

  function notes(): string[] {
    const { nameless, displayOnly, displayNames, archived, completed, lowered } = lost
    const { numbers, outside, empty, groupIds } = lost
    return [
      ...(nameless > 0
        ? [
            `${pluralise(nameless, 'user')} without a first or last name: ${noName} is written, since Moodle requires both`,
          ]
        : []),
      ...(displayOnly > 0
        ? [
            `${pluralise(displayOnly, 'user')} with a display name only: its parts are written as first and last name, since Moodle requires both`,
          ]
        : []),
      ...(displayNames > 0
        ? [`The display names of ${pluralise(displayNames, 'user')} are not included: Moodle has none`]
        : []),
      ...(lowered > 0 ? [`${pluralise(lowered, 'username')} written in lower case, as Moodle requires`] : []),
      ...(archived > 0
        ? [`${pluralise(archived, 'archived course')} written as hidden, like a draft: Moodle has no archive`]
        : []),
      ...(completed > 0
        ? [
            `${pluralise(completed, 'completed enrolment')} written like active ones: Moodle's files have no completion`,
          ]
        : []),
      ...(outside > 0
        ? [`${pluralise(outside, 'member')} of groups left out: they are not enrolled in the course`]
        : []),
      ...(empty > 0 ? [`${pluralise(empty, 'group')} without members left out`] : []),
      ...(groupIds > 0
        ? [
            `The ids of ${pluralise(groupIds, 'group')} are not included: Moodle's files have names of groups only`,
          ]
        : []),
      ...(numbers > 0
        ? [
            `${pluralise(numbers, 'group')} with a number as name: Moodle takes it for an id, so rename ${numbers === 1 ? 'it' : 'them'} first`,
          ]
        : []),
      ...(parts.has('users')
        ? ['Moodle needs passwords or an authentication method: choose to create them in Upload users']
        : []),
    ]
  }
}

function add(sets: Map<string, Set<string>>, key: string, item: string): void {
  const set = sets.get(key)
  if (set) set.add(item)
  else sets.set(key, new Set([item]))
}

function inOrder(names: Iterable<string>): string[] {
  return [...names].sort(compare)
}
