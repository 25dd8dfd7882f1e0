import {
  displayNameIn,
  enrollmentIdOf,
  isEnrolled,
  type School as MappedSchool,
  namesOf,
  roleOf,
  type Session,
  sessionOf,
  type UserNames,
  userNamesOf,
} from '../../lms/oneroster-mapping.ts'
import { joinIds, noName, noTerm, openDays } from '../../lms/roster-conventions.ts'
import {
  type OneRosterTable,
  type OneRosterVersion,
  oneRosterColumns,
  oneRosterFiles,
} from './oneroster-tables.ts'
import type { PackageWriter, Table, Written } from './package-writer.ts'
import type { RosterPart } from './roster.ts'
import { createLosses } from './roster-tables.ts'
import type { School } from './school.ts'
import type { Course, Enrolment, Person, Term } from './school-records.ts'
import { Gradebook, gradebookLossTexts } from './write-gradebook.ts'

export interface OneRosterForm {
  readonly version: OneRosterVersion
  /** The school that all records belong to, the only organisation of the package. */
  readonly org: MappedSchool
  readonly parts: ReadonlySet<RosterPart>
}

/** Writes a school as a OneRoster package: each course is a class and its course, each term an academic session. */
export async function writeOneRoster(
  school: School,
  to: PackageWriter,
  form: OneRosterForm,
): Promise<Written> {
  return new OneRosterWriter(school, to, form).write()
}

const lossTexts = {
  openTerms: `{term} without a first or last day: ${openDays.startDate} and ${openDays.endDate} are written, since OneRoster requires both`,
  noTerm: `{course} without a term: written with the session ${noTerm.id}, since OneRoster requires one`,
  descriptions: 'The descriptions of {course} are not included: OneRoster has none',
  statuses: 'The status of {course} is not included: OneRoster has none, and new courses are drafts',
  ...gradebookLossTexts,
  unnamed: `{user} without a first or last name: ${noName} is written, since OneRoster requires both`,
  displayOnly:
    '{user} with a display name only: its parts are written as first and last name, since OneRoster requires both',
  displayNames: 'The display names of {user} are not included: OneRoster 1.1 has none',
  respelled:
    'The display names of {user} come back with other spaces or signs: OneRoster has them in two parts',
  inactive: '{inactive enrolment} left out: OneRoster has only active ones',
  completed: '{completed enrolment} written like active ones: OneRoster has no completion',
}

const blank = ''

/** A table whose rows are bulk: without status and time. */
function bulk(table: Table): (id: string, ...cells: readonly string[]) => void | Promise<void> {
  return (id, ...cells) => table.add([id, blank, blank, ...cells])
}

class OneRosterWriter {
  readonly #school: School
  readonly #to: PackageWriter
  readonly #form: OneRosterForm
  readonly #counts: Partial<Record<RosterPart, number>> = {}
  readonly #losses = createLosses(lossTexts)
  /** Users in the courses, if only some courses are written. */
  readonly #inside: Set<string> | null

  constructor(school: School, to: PackageWriter, form: OneRosterForm) {
    this.#school = school
    this.#to = to
    this.#form = form
    this.#inside = school.isPart ? new Set() : null
  }

  async write(): Promise<Written> {
    const { org, parts } = this.#form
    await bulk(await this.#table('orgs'))(org.id, org.name, 'school', blank, blank)
    if (parts.has('terms')) await this.#writeSessions()
    if (parts.has('courses')) await this.#writeCourses()
    await this.#writeEnrolmentsAndGrades()
    if (parts.has('users')) await this.#writeUsers()
    await this.#writeManifest()
    return { counts: this.#counts, notes: this.#losses.notes() }
  }

  #table(name: OneRosterTable): Promise<Table> {
    return this.#to.table(`${name}.csv`, oneRosterColumns(name, this.#form.version))
  }

  async #writeSessions(): Promise<void> {
    const { terms, courses } = this.#school
    const add = bulk(await this.#table('academicSessions'))
    for (const term of terms) await add(...sessionCells(sessionOf(term)))
    this.#counts.terms = terms.length
    const isOpen = ({ startDate, endDate }: Term) => startDate === null || endDate === null
    this.#losses.add('openTerms', terms.filter(isOpen).length)
    const without = courses.filter(({ term }) => term === null).length
    this.#losses.add('noTerm', without)
    if (without > 0) await add(...sessionCells(sessionOf(null)))
  }

  async #writeCourses(): Promise<void> {
    const { courses } = this.#school
    const { org } = this.#form
    const addCourse = bulk(await this.#table('courses'))
    const addClass = bulk(await this.#table('classes'))
    this.#losses.add('descriptions', courses.filter(({ description }) => description !== '').length)
    this.#losses.add('statuses', courses.filter(({ status }) => status !== 'draft').length)
    for (const { key, title, term } of courses) {
      await addCourse(key, blank, title, blank, blank, org.id, blank, blank)
      const session = sessionOf(term).sourcedId
      await addClass(key, title, blank, key, blank, 'scheduled', blank, org.id, session, blank, blank, blank)
    }
    this.#counts.courses = courses.length
  }

  async #writeEnrolmentsAndGrades(): Promise<void> {
    const { parts, version, org } = this.#form
    const wantsEnrolments = parts.has('enrollments')
    const table = wantsEnrolments ? await this.#table('enrollments') : null
    const gradebook = parts.has('grades') ? new Gradebook(this.#to, { version, org }, this.#losses) : null
    for (const course of this.#school.courses) {
      if (!table && !gradebook && !this.#inside) break
      const enrolments = await this.#school.enrolmentsIn(course)
      for (const { userId } of enrolments) this.#inside?.add(userId)
      if (table) await this.#addEnrolments(table, course, enrolments)
      if (!gradebook) continue
      const learners = new Set(
        enrolments.flatMap(({ role, userKey }) => (role === 'learner' ? [userKey] : [])),
      )
      // Grades require an enrolment: leave out grades of users who have none.
      const grades = (await this.#school.gradesIn(course)).filter(({ userKey }) => learners.has(userKey))
      await gradebook.add(course, grades)
    }
    if (table) this.#counts.enrollments = table.rows
    if (gradebook) this.#counts.grades = gradebook.rows
  }

  async #addEnrolments(table: Table, course: Course, enrolments: readonly Enrolment[]): Promise<void> {
    const add = bulk(table)
    let isFirst = true
    for (const { userKey, role, status, enrolledAt } of enrolments) {
      if (!isEnrolled(status)) {
        this.#losses.add('inactive')
        continue
      }
      if (status === 'completed') this.#losses.add('completed')
      const isTeacher = role === 'instructor'
      const isPrimary = isTeacher && isFirst
      if (isTeacher) isFirst = false
      const wait = add(
        enrollmentIdOf(course.key, userKey, role),
        ...[course.key, this.#form.org.id, userKey, roleOf(role), String(isPrimary)],
        ...[enrolledAt.slice(0, 10), blank],
      )
      if (wait) await wait
    }
  }

  async #writeUsers(): Promise<void> {
    const { version, org } = this.#form
    const table = await this.#table('users')
    const add = bulk(table)
    const roles = version === '1.2' ? bulk(await this.#table('roles')) : null
    for await (const some of this.#school.people(this.#inside)) {
      for (const person of some) {
        const role = roleOf(person.role)
        const wait = add(person.key, ...(roles ? this.#cellsOf12(person) : this.#cellsOf11(person, role)))
        if (wait) await wait
        if (!roles) continue
        const id = joinIds(person.key, role)
        const next = roles(id, person.key, 'primary', role, blank, blank, org.id, blank)
        if (next) await next
      }
    }
    this.#counts.users = table.rows
  }

  #cellsOf11(person: Person, role: string): string[] {
    const { email, isSuspended, displayName } = person
    const { username, givenName: given, familyName: family } = this.#namesOf(person)
    if (displayName !== '' && displayName !== `${given} ${family}`) this.#losses.add('displayNames')
    return [
      ...[String(!isSuspended), this.#form.org.id, role, username, blank, given, family],
      ...[blank, blank, email, blank, blank, blank, blank, blank],
    ]
  }

  #cellsOf12(person: Person): string[] {
    const { email, isSuspended } = person
    const { username, givenName, familyName, ...preferred } = this.#namesOf(person)
    const given: [string, string] = [preferred.preferredGivenName, preferred.preferredFamilyName]
    if (displayNameIn(given, namesOf(person)) !== person.displayName) this.#losses.add('respelled')
    return [
      ...[String(!isSuspended), username, blank, givenName, familyName, blank, blank, email],
      ...[blank, blank, blank, blank, blank, blank],
      ...[preferred.preferredGivenName, blank, preferred.preferredFamilyName, this.#form.org.id, blank],
    ]
  }

  #namesOf(person: Person): UserNames {
    const names = userNamesOf(person)
    if (names.isUnnamed) this.#losses.add('unnamed')
    if (names.isDisplayOnly) this.#losses.add('displayOnly')
    return names
  }

  async #writeManifest(): Promise<void> {
    const { version } = this.#form
    const present = new Set(this.#to.tables().map(({ name }) => name))
    const table = await this.#to.table('manifest.csv', ['propertyName', 'value'])
    await table.add(['manifest.version', '1.0'])
    await table.add(['oneroster.version', version])
    for (const name of oneRosterFiles(version)) {
      await table.add([`file.${name}`, present.has(`${name}.csv`) ? 'bulk' : 'absent'])
    }
    await table.add(['source.systemName', 'learnctl'])
    await table.add(['source.systemCode', 'learnctl'])
  }
}

function sessionCells({ sourcedId, title, startDate, endDate, schoolYear }: Session): [string, ...string[]] {
  return [sourcedId, title, 'term', startDate, endDate, blank, schoolYear]
}
