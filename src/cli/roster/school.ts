import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { joinReferences } from '../../codec/reference.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { externalKeyOf, recordPages } from '../dataset/shown-records.ts'
import type { Writer } from '../records/write.ts'
import { CommandError } from '../terminal/errors.ts'
import {
  type Course,
  compare,
  type Enrolment,
  type Grade,
  type Group,
  gradeOf,
  inKeyOrder,
  type Member,
  type Person,
  type Term,
  termOf,
  textOf,
  weightsOf,
} from './school-records.ts'
import { ambiguous, type Scope } from './scope.ts'

/** Number of records per page; the API's maximum. */
const pageSize = 100

type SchoolScope = Pick<Scope, 'courses' | 'terms'>

/**
 * The people, courses and grades of an academy as rosters have them, read through the API page by page. Leaves out
 * deleted records, and the accounts of admins and analysts who are enrolled in none of the courses.
 */
export interface School {
  readonly terms: readonly Term[]
  /** In the order of their keys. */
  readonly courses: readonly Course[]
  /** True if only some courses are read. */
  readonly isPart: boolean
  /** Number of admins and analysts who are left out; complete at the end. */
  readonly leftOut: { readonly admins: number; readonly analysts: number }
  /** Yields people in the order of their e-mail addresses: all, or the people with the ids. */
  people(ids: ReadonlySet<string> | null): AsyncGenerator<readonly Person[]>
  /** In the order of users and roles. */
  enrolmentsIn(course: Course): Promise<readonly Enrolment[]>
  /** Of a course, null for the whole school; in the order of their keys. */
  groupsOf(course: Course | null): Promise<readonly Group[]>
  /** In the order of their keys. */
  membersOf(group: Group): Promise<readonly Member[]>
  /** In the order of items and users. */
  gradesIn(course: Course): Promise<readonly Grade[]>
}

/** Opens the school of an academy. Throws a CommandError or an ApiError for an unknown course or term of the scope. */
export async function openSchool(reader: Writer, scope: SchoolScope): Promise<School> {
  const school = new ReadSchool(reader, scope)
  await school.open()
  return school
}

/** Roles of users who are in rosters only as people of their courses. */
const staffRoles = ['admin', 'analyst']

class ReadSchool implements School {
  terms: readonly Term[] = []
  courses: readonly Course[] = []
  readonly isPart: boolean
  readonly leftOut = { admins: 0, analysts: 0 }
  readonly #reader: Writer
  readonly #scope: SchoolScope
  /** Ids of users who are deleted or left out. */
  readonly #absent = new Set<string>()
  #absence: Promise<void> | null = null
  #groupsByCourse: Promise<ReadonlyMap<string | null, readonly Group[]>> | null = null
  /** Roles of admins and analysts in the courses, by id. */
  readonly #roleByStaff = new Map<string, Person['role']>()

  constructor(reader: Writer, scope: SchoolScope) {
    this.#reader = reader
    this.#scope = scope
    this.isPart = scope.courses.length > 0 || scope.terms.length > 0
  }

  async open(): Promise<void> {
    const terms = await this.#readTerms()
    this.courses = await this.#readCourses(new Map(terms.map((term) => [term.id, term])))
    const used = new Set(this.courses.map(({ term }) => term))
    const asked = this.#scope.terms
    this.terms = this.isPart && asked.length === 0 ? terms.filter((term) => used.has(term)) : terms
  }

  async *people(ids: ReadonlySet<string> | null): AsyncGenerator<readonly Person[]> {
    await this.#findAbsent()
    const query = { sort: 'email', include_deleted: 'false' }
    for await (const page of this.#pages(calls.users.list, query)) {
      yield page.flatMap((shown) => {
        const id = String(shown['id'])
        return this.#absent.has(id) || ids?.has(id) === false ? [] : [this.#personOf(id, shown)]
      })
    }
  }

  async enrolmentsIn(course: Course): Promise<readonly Enrolment[]> {
    await this.#findAbsent()
    const found: Enrolment[] = []
    for await (const page of this.#pages(calls.enrollments.list, { course_id: course.id })) {
      for (const shown of page) {
        const { userId, role, status, enrolledAt } = shown
        const id = String(userId)
        if (this.#absent.has(id) || status === 'deleted') continue
        found.push({
          userId: id,
          userKey: await this.#userKeyOf(shown, id),
          role: role === 'instructor' ? 'instructor' : 'learner',
          status: String(status),
          enrolledAt: textOf(enrolledAt),
        })
      }
    }
    return found.sort((one, other) => compare(one.userKey, other.userKey) || compare(one.role, other.role))
  }

  async groupsOf(course: Course | null): Promise<readonly Group[]> {
    this.#groupsByCourse ??= this.#readGroups()
    return (await this.#groupsByCourse).get(course?.id ?? null) ?? []
  }

  async membersOf({ id }: Group): Promise<readonly Member[]> {
    await this.#findAbsent()
    const found: Member[] = []
    for await (const page of this.#pages(calls.groups.members, {}, { groupId: id })) {
      for (const shown of page) {
        const userId = String(shown['userId'])
        if (!this.#absent.has(userId)) found.push({ userId, userKey: await this.#userKeyOf(shown, userId) })
      }
    }
    return found.sort((one, other) => compare(one.userKey, other.userKey))
  }

  async gradesIn(course: Course): Promise<readonly Grade[]> {
    await this.#findAbsent()
    const found: Grade[] = []
    const pages = this.#pages(calls.grades.list, { course_id: course.id })
    for await (const page of pages) {
      for (const shown of page) {
        const id = String(shown['learnerId'])
        if (!this.#absent.has(id)) found.push(gradeOf(shown, await this.#userKeyOf(shown, id)))
      }
    }
    return found.sort(
      (one, other) => compare(one.itemId, other.itemId) || compare(one.userKey, other.userKey),
    )
  }

  /** Reads all groups at once: far fewer than enrolments, and most courses have none. */
  async #readGroups(): Promise<ReadonlyMap<string | null, readonly Group[]>> {
    const found: (Group & { readonly courseId: string | null })[] = []
    for await (const page of this.#pages(calls.groups.list, {})) {
      for (const shown of page) {
        const { id, name, courseId } = shown
        found.push({
          ...{ id: String(id), key: externalKeyOf(shown), name: textOf(name) },
          courseId: typeof courseId === 'string' ? courseId : null,
        })
      }
    }
    return Map.groupBy(inKeyOrder(found), ({ courseId }) => courseId)
  }

  async #readTerms(): Promise<Term[]> {
    const { terms: asked } = this.#scope
    const { caller, signal } = this.#reader
    if (asked.length > 0) {
      const found = new Map<string, Term>()
      for (const termId of asked) {
        const { data } = await caller.call(calls.terms.get, { params: { termId }, signal })
        if (isJsonObject(data)) found.set(String(data['id']), termOf(data))
      }
      return inKeyOrder([...found.values()])
    }
    const terms: Term[] = []
    for await (const page of this.#pages(calls.terms.list, {})) terms.push(...page.map(termOf))
    return inKeyOrder(terms)
  }

  async #readCourses(termById: ReadonlyMap<string, Term>): Promise<Course[]> {
    const found: Course[] = []
    for await (const shown of this.#shownCourses()) {
      const { title, status, description, language, termId } = shown
      found.push({
        id: String(shown['id']),
        key: externalKeyOf(shown),
        title: textOf(title),
        status: textOf(status),
        description: textOf(description),
        language: textOf(language) || null,
        term: termById.get(textOf(termId)) ?? null,
        weights: weightsOf(shown),
      })
    }
    const { courses, terms } = this.#scope
    const isBoth = courses.length > 0 && terms.length > 0
    return inKeyOrder(isBoth ? found.filter(({ term }) => term !== null) : found)
  }

  async *#shownCourses(): AsyncGenerator<JsonObject> {
    const { courses, terms } = this.#scope
    if (courses.length === 0) {
      const ofTerms = terms.length > 0 ? { term_id: joinReferences(terms) } : {}
      for await (const page of this.#pages(calls.courses.list, ofTerms)) yield* page
      return
    }
    const seen = new Set<unknown>()
    for (const name of courses) {
      const course = await this.#courseNamed(name)
      if (!isJsonObject(course) || seen.has(course['id'])) continue
      seen.add(course['id'])
      yield course
    }
  }

  /** Reads a course by its id, its external id, or a title that no other one has. */
  async #courseNamed(name: string): Promise<unknown> {
    const { caller, signal } = this.#reader
    try {
      return (await caller.call(calls.courses.get, { params: { courseId: name }, signal })).data
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
    const all: JsonObject[] = []
    for await (const page of this.#pages(calls.courses.list, {})) all.push(...page)
    const titled = all.filter(({ title }) => title === name)
    const [course, ...others] = titled
    if (course && others.length === 0) return course
    if (course) throw ambiguous('courses', name, titled.map(externalKeyOf))
    throw new CommandError('not_found', 'notFound', `Course ${name} not found`, {
      choice: { given: name, valid: all.map(({ title }) => textOf(title)) },
    })
  }

  /** Finds deleted users, and admins and analysts outside the courses, once. */
  #findAbsent(): Promise<void> {
    this.#absence ??= this.#readAbsent()
    return this.#absence
  }

  async #readAbsent(): Promise<void> {
    const staff: JsonObject[] = []
    const { users, enrollments } = calls
    for await (const page of this.#pages(users.list, { status: 'deleted', include_deleted: 'true' })) {
      for (const { id, status } of page) if (status === 'deleted') this.#absent.add(String(id))
    }
    for await (const page of this.#pages(users.list, { role: staffRoles.join(), include_deleted: 'false' })) {
      staff.push(...page.filter(({ role }) => staffRoles.includes(String(role))))
    }
    const courses = new Set(this.courses.map(({ id }) => id))
    for (const { id, role } of staff) {
      const inside: unknown[] = []
      for await (const page of this.#pages(enrollments.list, { user_id: String(id) })) {
        for (const { courseId, status, role } of page) {
          if (status !== 'deleted' && courses.has(String(courseId))) inside.push(role)
        }
      }
      if (inside.length > 0) {
        this.#roleByStaff.set(String(id), inside.includes('instructor') ? 'instructor' : 'learner')
      } else {
        this.#absent.add(String(id))
        this.leftOut[role === 'admin' ? 'admins' : 'analysts'] += 1
      }
    }
  }

  #personOf(id: string, shown: JsonObject): Person {
    const { email, username, status, role, profile } = shown
    const { firstName, lastName, displayName } = isJsonObject(profile) ? profile : {}
    return {
      id,
      key: externalKeyOf(shown),
      email: textOf(email),
      username: textOf(username),
      role: this.#roleByStaff.get(id) ?? (role === 'instructor' ? 'instructor' : 'learner'),
      isSuspended: status === 'suspended',
      firstName: textOf(firstName),
      lastName: textOf(lastName),
      displayName: textOf(displayName),
    }
  }

  /** Returns the key of a record's user: from the record if it has it, else looked up. */
  async #userKeyOf({ userExternalId }: JsonObject, id: string): Promise<string> {
    if (userExternalId !== undefined) return textOf(userExternalId) || id
    return externalKeyOf((await this.#reader.names.user(id)) ?? { id })
  }

  async *#pages(
    list: Call,
    query: Readonly<Record<string, string>>,
    params: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<readonly JsonObject[]> {
    const { caller, signal } = this.#reader
    const pages = caller.pages<Operation>(list, { params, query: { limit: pageSize, ...query }, signal })
    for await (const { data } of recordPages(caller, list, pages)) yield data.filter(isJsonObject)
  }
}
