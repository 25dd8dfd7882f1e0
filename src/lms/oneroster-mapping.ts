import { wholeCourse } from '../contract/constants.ts'

// Maps the records of an academy to OneRoster. Packages and the REST interface are made from these, so that both
// say the same of an academy. Each course is a class and its course, each term a session; all belong to one school.

/** All records of an academy belong to it. */
export interface School {
  readonly id: string
  readonly name: string
}

/** The id is made from the name. */
export function schoolNamed(name: string): School {
  const id = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
  return { id: id || 'school', name }
}

/** The key of a record is its external id; its id if it has none. */
export interface MappedTerm {
  readonly key: string
  readonly name: string
  /** First day, `2026-09-01`; null if open. */
  readonly startDate: string | null
  readonly endDate: string | null
}

export interface Session {
  readonly sourcedId: string
  readonly title: string
  readonly startDate: string
  readonly endDate: string
  readonly schoolYear: string
}

/** Null is the session of courses without a term, which OneRoster requires. */
export function sessionOf(term: MappedTerm | null): Session {
  const [startDate, endDate] = daysOf(term)
  return {
    sourcedId: term?.key ?? noTerm.id,
    title: term?.name ?? noTerm.title,
    ...{ startDate, endDate, schoolYear: schoolYearOf(endDate) },
  }
}

export function daysOf(
  term: Pick<MappedTerm, 'startDate' | 'endDate'> | null,
): readonly [startDate: string, endDate: string] {
  return [term?.startDate ?? openDays.startDate, term?.endDate ?? openDays.endDate]
}

/** First month after the end of a school year. */
const firstMonth = 8

/** A school year begins in August, and is named by the year in which it ends. */
function schoolYearOf(endDate: string): string {
  if (endDate === openDays.endDate) return endDate.slice(0, 4)
  const [year, month] = endDate.split('-').map(Number)
  return String(Number(year) + (Number(month) >= firstMonth ? 1 : 0)).padStart(4, '0')
}

export interface MappedPerson {
  readonly email: string
  readonly username: string
  readonly role: 'learner' | 'instructor'
  readonly firstName: string
  readonly lastName: string
  readonly displayName: string
}

/** Roles of both versions as roles in an academy, the preferred first; null for people without one. */
export const rosterRoles: ReadonlyMap<string, 'instructor' | 'analyst' | 'learner' | null> = new Map([
  ...['teacher', 'aide', 'proctor', 'counselor'].map((name) => [name, 'instructor'] as const),
  // A roster gives no right to change an academy.
  ...['administrator', 'principal', 'districtAdministrator', 'siteAdministrator', 'systemAdministrator'].map(
    (name) => [name, 'analyst'] as const,
  ),
  ['student', 'learner'] as const,
  ...['guardian', 'parent', 'relative'].map((name) => [name, null] as const),
])
const roleNames: readonly string[] = [...rosterRoles.keys()]

/** Undefined for an unknown role, null for people without one. */
export function roleNamed(text: string): 'instructor' | 'analyst' | 'learner' | null | undefined {
  return rosterRoles.get(roleNames.find((each) => each.toLowerCase() === text.toLowerCase()) ?? '')
}

/** Null for people without a role. */
export const rosterEnrollmentRoles: ReadonlyMap<string, 'learner' | 'instructor' | null> = new Map([
  ['student', 'learner'] as const,
  ...['teacher', 'aide', 'proctor'].map((name) => [name, 'instructor'] as const),
  ...['administrator', 'guardian', 'parent', 'relative'].map((name) => [name, null] as const),
])

export interface UserNames {
  readonly username: string
  readonly givenName: string
  readonly familyName: string
  /** Parts of the display name; empty where they are as above. */
  readonly preferredGivenName: string
  readonly preferredFamilyName: string
  /** True if the given or the family name is missing, and written as `noName`. */
  readonly isUnnamed: boolean
  /** True if the display name stands for first and last name, so that it is read as these, too. */
  readonly isDisplayOnly: boolean
}

export function roleOf(role: 'learner' | 'instructor'): 'student' | 'teacher' {
  return role === 'instructor' ? 'teacher' : 'student'
}

export function userNamesOf(person: MappedPerson): UserNames {
  const [given, family] = namesOf(person)
  const [preferredGivenName, preferredFamilyName] = preferredNames(person)
  return {
    username: person.username || person.email,
    givenName: given || noName,
    familyName: family || noName,
    ...{ preferredGivenName, preferredFamilyName },
    isUnnamed: given === '' || family === '',
    isDisplayOnly: person.firstName === '' && person.lastName === '' && person.displayName !== '',
  }
}

type Names = Pick<MappedPerson, 'firstName' | 'lastName' | 'displayName'>

/** Splits the display name if both names are missing; either may be empty. */
export function namesOf({ firstName, lastName, displayName }: Names): [given: string, family: string] {
  return firstName === '' && lastName === '' ? splitName(displayName) : [firstName, lastName]
}

function splitName(name: string): [given: string, family: string] {
  const space = name.lastIndexOf(' ')
  return space < 0 ? [name, ''] : [name.slice(0, space).trim(), name.slice(space + 1)]
}

/** The reverse of `displayNameIn`; of one word, the family name is `noName`. */
function preferredNames(person: Names): [given: string, family: string] {
  const { displayName } = person
  if (displayName === '') return ['', '']
  const [given, family] = namesOf(person)
  if (family !== '' && displayName.endsWith(` ${family}`)) {
    return [displayName.slice(0, -family.length - 1).trim(), '']
  }
  if (given !== '' && displayName.startsWith(`${given} `)) {
    return ['', displayName.slice(given.length + 1).trim()]
  }
  const [first, last] = splitName(displayName)
  return [first, last === '' && family !== '' ? noName : last]
}

/** Own names stand in place of empty parts; empty without both. */
export function displayNameIn(
  [given, family]: readonly [given: string, family: string],
  [firstName, lastName]: readonly [firstName: string, lastName: string],
): string {
  if (given === '' && family === '') return ''
  return `${given || firstName} ${family === noName ? '' : family || lastName}`.trim()
}

export function enrollmentIdOf(course: string, user: string, role: 'learner' | 'instructor'): string {
  return joinIds(course, user, roleOf(role))
}

/** OneRoster has no inactive enrolments, and no completion. */
export function isEnrolled(status: string): boolean {
  return status === 'active' || status === 'completed'
}

export interface ItemGrade {
  readonly label: string
  readonly scoreMaximum: number
  /** Null for that of the course. */
  readonly weight: number | null
}

export interface MappedItem {
  readonly sourcedId: string
  readonly itemId: string
  readonly title: string
  readonly max: number
  readonly categoryId: string
  /** Share of the grade of the course; null without one. */
  readonly weight: number | null
}

/** Includes items that have a weight but no grade. `graded` are newest grades by item id, `weights` by item id or title. */
export function itemsOf(
  course: string,
  weights: readonly { readonly name: string; readonly weight: number }[],
  graded: ReadonlyMap<string, ItemGrade>,
) {
  const titles = new Map([...graded].map(([itemId, grade]) => [itemId, titleOf(itemId, grade.label)]))
  const known = new Set([...titles].flat())
  for (const { name } of weights) if (!known.has(name)) titles.set(name, name)
  const { weightByTitle, lost } = weightsOf(weights, titles, graded)
  const items = [...titles]
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([itemId, title]): MappedItem => {
      const weight = weightByTitle.get(title) ?? null
      const categoryId = weight === null ? noCategory.id : joinIds(course, title)
      const max = graded.get(itemId)?.scoreMaximum ?? 100
      return { sourcedId: lineItemIdOf(course, itemId), itemId, title, max, categoryId, weight }
    })
  return { items, /** Weights of grades that the course has no place for. */ lostWeights: lost }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Items are unique in their course only, so the course is a part of the id; a UUID is unique by itself, and stays. */
function lineItemIdOf(course: string, itemId: string): string {
  return uuid.test(itemId) ? itemId : joinIds(course, itemId)
}

export function resultIdOf(course: string, itemId: string, user: string): string {
  return joinIds(course, itemId, user)
}

export function scoreOn(max: number, scoreGiven: number, scoreMaximum: number): number {
  if (scoreMaximum === max) return scoreGiven
  return Math.round((scoreGiven / scoreMaximum) * max * 10_000) / 10_000
}

export function titleOf(itemId: string, label: string): string {
  return label || (itemId === wholeCourse ? wholeCourseTitle : itemId)
}

/** Returns the weights of the course, else of the grades; none if they add up to more than 100, which no course may have. */
function weightsOf(
  weights: readonly { readonly name: string; readonly weight: number }[],
  titles: ReadonlyMap<string, string>,
  graded: ReadonlyMap<string, ItemGrade>,
): { readonly weightByTitle: ReadonlyMap<string, number>; readonly lost: number } {
  const ofCourse = new Map<string, number>()
  const own = new Map<string, number>()
  let lost = 0
  for (const [itemId, title] of titles) {
    const declared = weights.find(({ name }) => name === itemId || name === title)?.weight
    if (declared !== undefined) ofCourse.set(title, declared)
    const given = graded.get(itemId)?.weight ?? null
    if (given === null || given === declared) continue
    if (declared === undefined && !own.has(title)) own.set(title, given)
    else lost += 1
  }
  const all = new Map([...own, ...ofCourse])
  const sum = [...all.values()].reduce((total, weight) => total + weight, 0)
  return sum <= 100 + 1e-9 ? { weightByTitle: all, lost } : { weightByTitle: ofCourse, lost: lost + own.size }
}

// Values that exports write where a format requires one and the academy has none. Readers take them as empty, so that a
// school comes back as it was.

/** Written as a name where a format requires one and the user has none. */
export const noName = '-'

/** Session of courses without a term, which OneRoster requires. */
export const noTerm = { id: 'no-term', title: 'No term' } as const

/** Days of a session whose term has none. */
export const openDays = { startDate: '2000-01-01', endDate: '2099-12-31' } as const

/** Category of line items without a weight of their own, which OneRoster requires. */
export const noCategory = { id: 'no-category', title: 'Grades' } as const

/** Used for the grade of a whole course without a label. */
export const wholeCourseTitle = 'Course grade'

/** Joins with colons; a colon within a part is escaped, so that different parts give different ids. */
export function joinIds(...parts: readonly string[]): string {
  return parts.map(escapeId).join(':')
}

export function splitIds(id: string): string[] {
  return id.split(':').map(unescapeId)
}

/** An id that does not begin with the course's key is the item itself. */
export function itemIn(lineItemId: string, courseKey: string): string {
  const prefix = `${escapeId(courseKey)}:`
  return lineItemId.startsWith(prefix) ? unescapeId(lineItemId.slice(prefix.length)) : lineItemId
}

function escapeId(part: string): string {
  return /[:%]/.test(part) ? part.replaceAll('%', '%25').replaceAll(':', '%3A') : part
}

function unescapeId(part: string): string {
  return part.replaceAll('%3A', ':').replaceAll('%25', '%')
}
