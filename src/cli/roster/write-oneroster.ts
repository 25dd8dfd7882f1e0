import {
  displayNameIn,
  enrollmentIdOf,
  isEnrolled,
  itemsOf,
  joinIds,
  namesOf,
  noCategory,
  noName,
  noTerm,
  openDays,
  resultIdOf,
  roleOf,
  type School,
  scoreOn,
  sessionOf,
  type UserNames,
  userNamesOf,
} from '../../lms/oneroster-mapping.ts'
import {
  type AcademyReader,
  type Course,
  type CourseContents,
  compare,
  type Enrolment,
  type Grade,
  type Person,
  type Term,
} from './academy-reader.ts'
import {
  type OneRosterTable,
  type OneRosterVersion,
  oneRosterColumns,
  oneRosterFiles,
} from './oneroster-tables.ts'
import {
  type Cells,
  type Counts,
  cellColumns,
  createLosses,
  type FormatWriter,
  type Package,
  type Table,
} from './package-writer.ts'
import type { RosterPart } from './roster.ts'

interface OneRosterForm {
  readonly version: OneRosterVersion
  /** The only organisation of the package. */
  readonly org: School
  readonly parts: ReadonlySet<RosterPart>
}

/** Writes a OneRoster package: each course is a class and its course, each term an academic session. */
export function oneRosterWriter(academy: AcademyReader, to: Package, form: OneRosterForm): FormatWriter {
  return new OneRosterWriter(academy, to, form)
}

const lossTexts = {
  openTerms: `{term} without a first or last day: ${openDays.startDate} and ${openDays.endDate} are written, since OneRoster requires both`,
  noTerm: `{course} without a term: written with the session ${noTerm.id}, since OneRoster requires one`,
  descriptions: 'The descriptions of {course} are not included: OneRoster has none',
  statuses: 'The status of {course} is not included: OneRoster has none, and new courses are drafts',
  unpublished: '{unpublished grade} left out',
  cleared: '{cleared grade} left out',
  sources: '{grade} of further sources left out: OneRoster has one score for each learner and item',
  scaled: '{score} converted to the maximum of the item: OneRoster has one for each item',
  unweighted: 'The weights of {item} are not included: OneRoster 1.1 has none',
  weights: 'The weights of {item} are not included: only those in the assessment criteria of the course are',
  unnamed: `{user} without a first or last name: ${noName} is written, since OneRoster requires both`,
  displayOnly:
    '{user} with a display name only: its parts are written as first and last name, since OneRoster requires both',
  displayNames: 'The display names of {user} are not included: OneRoster 1.1 has none',
  respelled:
    'The display names of {user} come back with other spaces or signs: OneRoster has them in two parts',
  inactive: '{inactive enrolment} left out: OneRoster has only active ones',
  completed: '{completed enrolment} written like active ones: OneRoster has no completion',
}

class OneRosterWriter implements FormatWriter {
  readonly addCourse: FormatWriter['addCourse']
  readonly openPeople: FormatWriter['openPeople']
  readonly #academy: AcademyReader
  readonly #to: Package
  readonly #form: OneRosterForm
  readonly #losses = createLosses(lossTexts)
  readonly #enrollments: Table<Cells> | null
  #gradebook: Readonly<Record<'categories' | 'lineItems' | 'results', Table<Cells>>> | null = null

  constructor(academy: AcademyReader, to: Package, form: OneRosterForm) {
    this.#academy = academy
    this.#to = to
    this.#form = form
    const { org, parts } = form
    this.#table('orgs').add({ sourcedId: org.id, name: org.name, type: 'school' })
    if (parts.has('terms')) this.#writeSessions()
    if (parts.has('courses')) this.#writeCourses()
    this.#enrollments = parts.has('enrollments') ? this.#table('enrollments') : null
    const hasCourses = this.#enrollments !== null || parts.has('grades')
    this.addCourse = hasCourses ? (contents) => this.#addContents(contents) : null
    this.openPeople = parts.has('users') ? () => this.#openUsers() : null
  }

  finish() {
    this.#writeManifest()
    const counts: Counts = {
      ...(this.#enrollments && { enrollments: this.#enrollments.rows }),
      ...(this.#form.parts.has('grades') && { grades: this.#gradebook?.results.rows ?? 0 }),
    }
    return { counts, notes: this.#losses.notes() }
  }

  /** Rows are bulk: without status and time. */
  #table(name: OneRosterTable): Table<Cells> {
    return this.#to.table(`${name}.csv`, cellColumns(oneRosterColumns(name, this.#form.version)))
  }

  #writeSessions(): void {
    const { terms, courses } = this.#academy
    const sessions = this.#table('academicSessions')
    for (const term of terms) sessions.add({ ...sessionOf(term), type: 'term' })
    const isOpen = ({ startDate, endDate }: Term) => startDate === null || endDate === null
    this.#losses.add('openTerms', terms.filter(isOpen).length)
    const without = courses.filter(({ term }) => term === null).length
    this.#losses.add('noTerm', without)
    if (without > 0) sessions.add({ ...sessionOf(null), type: 'term' })
  }

  #writeCourses(): void {
    const { courses } = this.#academy
    const { org } = this.#form
    const [courseTable, classTable] = [this.#table('courses'), this.#table('classes')]
    this.#losses.add('descriptions', courses.filter(({ description }) => description !== '').length)
    this.#losses.add('statuses', courses.filter(({ status }) => status !== 'draft').length)
    for (const { key, title, term } of courses) {
      courseTable.add({ sourcedId: key, title, orgSourcedId: org.id })
      classTable.add({
        sourcedId: key,
        title,
        courseSourcedId: key,
        classType: 'scheduled',
        schoolSourcedId: org.id,
        termSourcedIds: sessionOf(term).sourcedId,
      })
    }
  }

  #addContents({ course, enrolments, grades }: CourseContents): void {
    if (this.#enrollments) this.#addEnrolments(this.#enrollments, course, enrolments)
    const learners = new Set(enrolments.flatMap(({ role, userKey }) => (role === 'learner' ? [userKey] : [])))
    // Grades require an enrolment: leave out grades of users who have none.
    if (this.#form.parts.has('grades')) {
      this.#addGrades(
        course,
        grades.filter(({ userKey }) => learners.has(userKey)),
      )
    }
  }

  #addEnrolments(table: Table<Cells>, course: Course, enrolments: readonly Enrolment[]): void {
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
      table.add({
        sourcedId: enrollmentIdOf(course.key, userKey, role),
        classSourcedId: course.key,
        schoolSourcedId: this.#form.org.id,
        userSourcedId: userKey,
        role: roleOf(role),
        primary: String(isPrimary),
        beginDate: enrolledAt.slice(0, 10),
      })
    }
  }

  #openUsers(): (person: Person) => void {
    const { version, org } = this.#form
    const users = this.#table('users')
    const roles = version === '1.2' ? this.#table('roles') : null
    return (person) => {
      const { key, email, isSuspended } = person
      const role = roleOf(person.role)
      users.add({
        sourcedId: key,
        enabledUser: String(!isSuspended),
        ...{ role, email, orgSourcedIds: org.id, primaryOrgSourcedId: org.id },
        ...this.#namesOf(person),
      })
      roles?.add({
        sourcedId: joinIds(key, role),
        userSourcedId: key,
        roleType: 'primary',
        role,
        orgSourcedId: org.id,
      })
    }
  }

  #namesOf(person: Person): Omit<UserNames, 'isUnnamed' | 'isDisplayOnly'> {
    const { displayName } = person
    const { isUnnamed, isDisplayOnly, ...names } = userNamesOf(person)
    if (isUnnamed) this.#losses.add('unnamed')
    if (isDisplayOnly) this.#losses.add('displayOnly')
    if (this.#form.version === '1.1') {
      const name = `${names.givenName} ${names.familyName}`
      if (displayName !== '' && displayName !== name) this.#losses.add('displayNames')
    } else {
      const preferred = [names.preferredGivenName, names.preferredFamilyName] as const
      if (displayNameIn(preferred, namesOf(person)) !== displayName) this.#losses.add('respelled')
    }
    return names
  }

  #writeManifest(): void {
    const { version } = this.#form
    const present = new Set(this.#to.tables.map(({ name }) => name))
    this.#to.write('manifest.csv', { propertyName: ([name]) => name, value: ([, value]) => value }, [
      ['manifest.version', '1.0'] as const,
      ['oneroster.version', version],
      ...oneRosterFiles(version).map(
        (name) => [`file.${name}`, present.has(`${name}.csv`) ? 'bulk' : 'absent'] as const,
      ),
      ['source.systemName', 'learnctl'],
      ['source.systemCode', 'learnctl'],
    ])
  }

  /** Items that have weights but no grades become line items, too. */
  #addGrades({ key, term, assessmentCriteria: { weights } }: Course, grades: readonly Grade[]): void {
    const { version, org } = this.#form
    const is12 = version === '1.2'
    const gradesByItem = Map.groupBy(this.#shownGrades(grades), ({ itemId }) => itemId)
    const newest = [...gradesByItem].flatMap(([itemId, some]) =>
      newestBy(some, 'createdAt', 'userKey').map((grade) => [itemId, grade] as const),
    )
    const { items, lostWeights } = itemsOf(key, weights, new Map(newest))
    this.#losses.add('weights', lostWeights)
    if (!is12) {
      const weighted = items.flatMap(({ weight, title }) => (weight === null ? [] : [title]))
      this.#losses.add('unweighted', new Set(weighted).size)
    }
    const { sourcedId: session, startDate: assignDate, endDate: dueDate } = sessionOf(term)
    const categorised = new Set<string>([noCategory.id])
    for (const { sourcedId: id, itemId, title, max, categoryId, weight } of items) {
      const some = gradesByItem.get(itemId)
      // OneRoster 1.1 has no weights, so that an item without grades says nothing.
      if (!some && !is12) continue
      this.#gradebook ??= this.#openGradebook()
      const { categories, lineItems, results } = this.#gradebook
      const category = is12 ? categoryId : noCategory.id
      // Several items may have the title that a weight is for.
      if (!categorised.has(category)) categories.add({ sourcedId: category, title, weight: String(weight) })
      categorised.add(category)
      lineItems.add({
        sourcedId: id,
        title,
        assignDate,
        dueDate,
        classSourcedId: key,
        categorySourcedId: category,
        // The name of the session in 1.1, and in 1.2.
        gradingPeriodSourcedId: session,
        academicSessionSourcedId: session,
        resultValueMin: '0',
        resultValueMax: String(max),
        schoolSourcedId: org.id,
      })
      for (const grade of some ?? []) {
        results.add({
          sourcedId: resultIdOf(key, itemId, grade.userKey),
          lineItemSourcedId: id,
          studentSourcedId: grade.userKey,
          scoreStatus: 'fully graded',
          classSourcedId: key,
          score: String(this.#scoreOf(grade, max)),
          scoreDate: grade.gradedAt.slice(0, 10),
          inProgress: 'false',
          incomplete: 'false',
          late: 'false',
          missing: 'false',
        })
      }
    }
  }

  /** The tables appear only if there is a line item. */
  #openGradebook() {
    const categories = this.#table('categories')
    const tables = { categories, lineItems: this.#table('lineItems'), results: this.#table('results') }
    categories.add({ sourcedId: noCategory.id, title: noCategory.title })
    return tables
  }

  /** Returns the published grades, of each learner and item the one that was given last, or of the first source. */
  #shownGrades(grades: readonly Grade[]): readonly Grade[] {
    const shown = grades.filter(({ published, scoreGiven }) => published && scoreGiven !== null)
    const unpublished = grades.filter(({ published }) => !published).length
    this.#losses.add('unpublished', unpublished)
    this.#losses.add('cleared', grades.length - shown.length - unpublished)
    const byPlace = Map.groupBy(shown, ({ itemId, userKey }) => JSON.stringify([itemId, userKey]))
    this.#losses.add('sources', shown.length - byPlace.size)
    return [...byPlace.values()].flatMap((some) => newestBy(some, 'gradedAt', 'source'))
  }

  #scoreOf({ scoreGiven, scoreMaximum }: Grade, max: number): number {
    if (scoreMaximum !== max) this.#losses.add('scaled')
    return scoreOn(max, scoreGiven ?? 0, scoreMaximum)
  }
}

/** Returns the grade with the last time, of several the first by the other field; none of none. */
function newestBy(
  grades: readonly Grade[],
  time: 'createdAt' | 'gradedAt',
  other: 'userKey' | 'source',
): Grade[] {
  return grades
    .toSorted((one, two) => compare(two[time], one[time]) || compare(one[other], two[other]))
    .slice(0, 1)
}
