import { ApiError } from '../../client/errors.ts'
import { joinReferences } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import type { Course as ShownCourse } from '../../contract/courses.ts'
import type { Enrollment } from '../../contract/enrollments.ts'
import type { Grade as ShownGrade } from '../../contract/grades.ts'
import type { Membership, Group as ShownGroup } from '../../contract/groups.ts'
import type { Term as ShownTerm } from '../../contract/terms.ts'
import type { User } from '../../contract/users.ts'
import type { MappedPerson } from '../../lms/oneroster-mapping.ts'
import type { Writer } from '../records/write.ts'
import { CommandError } from '../terminal/errors.ts'
import { ambiguous } from './declared-roster.ts'
import type { Scope } from './roster.ts'

/** A record with its external id as key; its id if it has none. */
type Keyed<Shown> = Shown & { readonly key: string }
type OfUser<Shown> = Shown & { readonly userKey: string }

export type Term = Keyed<ShownTerm>
export type Course = Keyed<ShownCourse> & { readonly term: Term | null }
export type Group = Keyed<ShownGroup>
export type Enrolment = OfUser<Enrollment>
export type Member = OfUser<Membership>
export type Grade = OfUser<ShownGrade>
export type Person = Keyed<MappedPerson> & { readonly id: string; readonly isSuspended: boolean }

export interface CourseContents {
  readonly course: Course
  readonly enrolments: readonly Enrolment[]
  readonly groups: readonly GroupContents[]
  readonly grades: readonly Grade[]
}

export interface GroupContents {
  readonly group: Group
  readonly members: readonly Member[]
}

type CourseScope = Pick<Scope, 'courses' | 'terms'>

/** Throws a CommandError or an ApiError for an unknown course or term of the scope. */
export function openAcademyReader(reader: Writer, scope: CourseScope): Promise<AcademyReader> {
  return new AcademyReader(reader, scope).open()
}

const limit = 100
/** Roles of users who are in rosters only as people of their courses. */
const staffRoles = 'admin,analyst'

/** Leaves out deleted records, and admins and analysts who are enrolled in no course. */
export class AcademyReader {
  terms: readonly Term[] = []
  courses: readonly Course[] = []
  readonly isPart: boolean
  /** Complete at the end. */
  readonly leftOut = { admins: 0, analysts: 0 }
  onPage: () => Promise<void> = async () => {}
  readonly #reader: Writer
  readonly #scope: CourseScope
  readonly #absent = new Set<string>()
  #absence: Promise<void> | null = null
  #groupsByCourse: Promise<ReadonlyMap<string | null, readonly Group[]>> | null = null
  readonly #enrolled = new Set<string>()
  /** Admins and analysts in the courses, by id. */
  readonly #roleByStaff = new Map<string, Person['role']>()

  constructor(reader: Writer, scope: CourseScope) {
    this.#reader = reader
    this.#scope = scope
    this.isPart = scope.courses.length > 0 || scope.terms.length > 0
  }

  async open(): Promise<this> {
    const terms = await this.#readTerms()
    this.courses = await this.#readCourses(new Map(terms.map((term) => [term.id, term])))
    const used = new Set(this.courses.map(({ term }) => term))
    const asked = this.#scope.terms
    this.terms = this.isPart && asked.length === 0 ? terms.filter((term) => used.has(term)) : terms
    return this
  }

  async *people(): AsyncGenerator<Person> {
    await this.#findAbsent()
    const { caller, signal } = this.#reader
    const query = { limit, sort: 'email', include_deleted: 'false' } as const
    for await (const { data } of caller.pages(calls.users.list, { query, signal })) {
      for (const shown of data) if (!this.#absent.has(shown.id)) yield this.#personOf(shown)
      await this.onPage()
    }
  }

  /** Yields all people, or those of the courses that were read before if these are only some. */
  async *peopleOfCourses(): AsyncGenerator<Person> {
    for await (const person of this.people()) if (!this.isPart || this.#enrolled.has(person.id)) yield person
  }

  async *contents(parts: ReadonlySet<string>): AsyncGenerator<CourseContents> {
    for (const course of this.courses) {
      const enrolments = await this.#enrolmentsIn(course)
      for (const { userId } of enrolments) this.#enrolled.add(userId)
      const groups = parts.has('groups') ? await this.groupsOf(course) : []
      const grades = parts.has('grades') ? await this.#gradesIn(course) : []
      yield { course, enrolments, groups, grades }
    }
  }

  async #enrolmentsIn({ id }: Course): Promise<readonly Enrolment[]> {
    const { caller, signal } = this.#reader
    const all = await this.#ofPresent(
      caller.pages(calls.enrollments.list, { query: { limit, course_id: id }, signal }),
      ({ userId, status }) => (status === 'deleted' ? null : userId),
    )
    return all.sort((one, other) => compare(one.userKey, other.userKey) || compare(one.role, other.role))
  }

  /** Returns the groups of a course, for null those without a course, sorted by key. */
  async groupsOf(course: Course | null): Promise<readonly GroupContents[]> {
    this.#groupsByCourse ??= this.#readGroups()
    const found: GroupContents[] = []
    for (const group of (await this.#groupsByCourse).get(course?.id ?? null) ?? []) {
      found.push({ group, members: await this.#membersOf(group) })
    }
    return found
  }

  async #membersOf({ id }: Group): Promise<readonly Member[]> {
    const { caller, signal } = this.#reader
    const pages = caller.pages(calls.groups.members, { params: { groupId: id }, query: { limit }, signal })
    const all = await this.#ofPresent(pages, ({ userId }) => userId)
    return all.sort((one, other) => compare(one.userKey, other.userKey))
  }

  async #gradesIn({ id }: Course): Promise<readonly Grade[]> {
    const { caller, signal } = this.#reader
    const pages = caller.pages(calls.grades.list, { query: { limit, course_id: id }, signal })
    const all = await this.#ofPresent(pages, ({ learnerId }) => learnerId)
    return all.sort((one, other) => compare(one.itemId, other.itemId) || compare(one.userKey, other.userKey))
  }

  async #ofPresent<Shown extends { readonly userExternalId: string | null }>(
    pages: AsyncIterable<{ readonly data: readonly Shown[] }>,
    userOf: (shown: Shown) => string | null,
  ): Promise<OfUser<Shown>[]> {
    await this.#findAbsent()
    const found: OfUser<Shown>[] = []
    for await (const { data } of pages) {
      for (const shown of data) {
        const user = userOf(shown)
        if (user === null || this.#absent.has(user)) continue
        found.push({ ...shown, userKey: shown.userExternalId ?? user })
      }
      await this.onPage()
    }
    return found
  }

  /** Reads all groups at once: far fewer than enrolments, and most courses have none. */
  async #readGroups(): Promise<ReadonlyMap<string | null, readonly Group[]>> {
    const { caller, signal } = this.#reader
    const groups = await allOf(caller.pages(calls.groups.list, { query: { limit }, signal }))
    return Map.groupBy(inKeyOrder(groups), ({ courseId }) => courseId)
  }

  async #readTerms(): Promise<readonly Term[]> {
    const { terms: asked } = this.#scope
    const { caller, signal } = this.#reader
    if (asked.length === 0) {
      return inKeyOrder(await allOf(caller.pages(calls.terms.list, { query: { limit }, signal })))
    }
    const found = new Map<string, ShownTerm>()
    for (const termId of asked) {
      const { data } = await caller.call(calls.terms.get, { params: { termId }, signal })
      found.set(data.id, data)
    }
    return inKeyOrder([...found.values()])
  }

  async #readCourses(termById: ReadonlyMap<string, Term>): Promise<readonly Course[]> {
    const { courses, terms } = this.#scope
    const found = inKeyOrder(await this.#shownCourses()).map((course) => ({
      ...course,
      term: termById.get(course.termId ?? '') ?? null,
    }))
    const isBoth = courses.length > 0 && terms.length > 0
    return isBoth ? found.filter(({ term }) => term !== null) : found
  }

  async #shownCourses(): Promise<readonly ShownCourse[]> {
    const { courses, terms } = this.#scope
    const { caller, signal } = this.#reader
    if (courses.length === 0) {
      const query = { limit, ...(terms.length > 0 && { term_id: joinReferences(terms) }) }
      return allOf(caller.pages(calls.courses.list, { query, signal }))
    }
    const found = new Map<string, ShownCourse>()
    for (const name of courses) {
      const course = await this.#courseNamed(name)
      found.set(course.id, course)
    }
    return [...found.values()]
  }

  /** `name` is an id, an external id, or a title that no other one has. */
  async #courseNamed(name: string): Promise<ShownCourse> {
    const { caller, signal } = this.#reader
    try {
      return (await caller.call(calls.courses.get, { params: { courseId: name }, signal })).data
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
    const all = await allOf(caller.pages(calls.courses.list, { query: { limit }, signal }))
    const titled = all.filter(({ title }) => title === name)
    const [course, ...others] = titled
    if (course && others.length === 0) return course
    if (course) throw ambiguous('courses', name, titled.map(keyOf))
    throw new CommandError('not_found', 'notFound', `Course ${name} not found`, {
      choice: { given: name, valid: all.map(({ title }) => title) },
    })
  }

  /** Absent are deleted users, and admins and analysts outside the courses. */
  #findAbsent(): Promise<void> {
    this.#absence ??= this.#readAbsent()
    return this.#absence
  }

  async #readAbsent(): Promise<void> {
    const { caller, signal } = this.#reader
    const deleted = { limit, status: 'deleted', include_deleted: 'true' } as const
    for (const { id } of await allOf(caller.pages(calls.users.list, { query: deleted, signal }))) {
      this.#absent.add(id)
    }
    const courses = new Set(this.courses.map(({ id }) => id))
    const staff = { limit, role: staffRoles, include_deleted: 'false' } as const
    for (const { id, role } of await allOf(caller.pages(calls.users.list, { query: staff, signal }))) {
      const all = await allOf(caller.pages(calls.enrollments.list, { query: { limit, user_id: id }, signal }))
      const inside = all.filter(({ courseId, status }) => status !== 'deleted' && courses.has(courseId))
      if (inside.length > 0) {
        const teaches = inside.some((enrolment) => enrolment.role === 'instructor')
        this.#roleByStaff.set(id, teaches ? 'instructor' : 'learner')
      } else {
        this.#absent.add(id)
        this.leftOut[role === 'admin' ? 'admins' : 'analysts'] += 1
      }
    }
  }

  #personOf(user: User): Person {
    const { id, email, username, role, status, profile } = user
    const { firstName, lastName, displayName } = profile
    return {
      ...{ id, key: keyOf(user), email, username: username ?? '' },
      ...{ firstName: firstName ?? '', lastName: lastName ?? '', displayName: displayName ?? '' },
      role: this.#roleByStaff.get(id) ?? (role === 'instructor' ? 'instructor' : 'learner'),
      isSuspended: status === 'suspended',
    }
  }
}

async function allOf<Shown>(pages: AsyncIterable<{ readonly data: readonly Shown[] }>): Promise<Shown[]> {
  const all: Shown[] = []
  for await (const { data } of pages) all.push(...data)
  return all
}

function keyOf({ id, externalId }: { readonly id: string; readonly externalId: string | null }): string {
  return externalId ?? id
}

function inKeyOrder<Shown extends Parameters<typeof keyOf>[0]>(records: readonly Shown[]): Keyed<Shown>[] {
  return records
    .map((shown) => ({ ...shown, key: keyOf(shown) }))
    .sort((one, other) => compare(one.key, other.key))
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
