import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import type { RecordPart } from '../contract/constants.ts'
import { googleScopes } from './classroom.ts'
import {
  busy,
  hiddenPage,
  jsonIn,
  type LmsRecord,
  objectsIn,
  type RecordPage,
  type RecordQuestion,
  type RecordRefusal,
  type RecordResponse,
  type RecordSystem,
  type RowRecords,
  readEach,
  readRequest,
  recordOf,
  refusal,
  rowsIn,
  textIn,
} from './records.ts'

const title = 'Google Classroom'
const pageSize = 100
/** Far below 1,200 requests a minute for a user (developers.google.com/classroom/limits). */
const requestsAtOnce = 8
const waitSeconds = 10

/**
 * Reads the Classroom API (developers.google.com/classroom/reference/rest): the courses that the user who signed in
 * may see. Members of a course come with their profiles: students,
 * then teachers, then invited people.
 */
export const classroomRecords: RecordSystem = {
  title,
  requestsAtOnce,
  lists: [
    { part: 'courses', of: null },
    // Their aliases; of an alias, its course.
    { part: 'courses', of: 'courses' },
    { part: 'enrollments', of: 'courses', gives: ['users'] },
    // The profile of one person, such as an invited one.
    { part: 'users', of: 'users' },
    { part: 'items', of: 'courses' },
    { part: 'grades', of: 'courses' },
  ],
  request: (question, { token }) => readRequest(pathOf(question), `Bearer ${token}`),
  read(response, question) {
    const found = readClassroom(response)
    if ('json' in found) return isAnswerTo(question, found.json) ? pageOf(found.json, question) : noList
    const { refusal: why, status } = found
    // Of one course: its people or grades are not shown to this user, or it has just been deleted.
    if (why === 'permission' && question.of !== null && found.scope === null) return hidden(question)
    if (status === 404 && question.of !== null) return hidden(question)
    // An account without a domain cannot have its aliases.
    if (found.code === 'FAILED_PRECONDITION' && isAlias(question.of)) return hidden(question)
    return found
  },
}

function isAlias(of: string | null): boolean {
  return of !== null && /^[dp]:/.test(of)
}

/** Lists of the people of a course, read one after the other. */
const peopleLists = ['students', 'teachers', 'invitations'] as const

function peoplePageOf({ position }: RecordQuestion) {
  const [, name = '', pageToken = ''] = /^(\w+):(.*)$/s.exec(position ?? '') ?? []
  const list = peopleLists.find((each) => each === name) ?? 'students'
  return { list, pageToken, after: peopleLists[peopleLists.indexOf(list) + 1] }
}

function pathOf(question: RecordQuestion): `/${string}` {
  const { part, of, position } = question
  const people = part === 'enrollments' ? peoplePageOf(question) : null
  const pageToken = people?.pageToken ?? position ?? ''
  if (part === 'courses' && isAlias(of)) return `/v1/courses/${encodeURIComponent(of ?? '')}`
  if (part === 'users') return `/v1/userProfiles/${encodeURIComponent(of ?? 'me')}`
  const query = new URLSearchParams([
    ...(part === 'courses' && of === null
      ? ['ACTIVE', 'ARCHIVED', 'PROVISIONED'].map((state) => ['courseStates', state])
      : []),
    ...(people?.list === 'invitations' ? [['courseId', of ?? '']] : []),
    ['pageSize', String(pageSize)],
    ...(pageToken === '' ? [] : [['pageToken', pageToken]]),
  ])
  const below: Readonly<Partial<Record<RecordPart, string>>> = {
    courses: 'aliases',
    ...(people && { enrollments: people.list }),
    items: 'courseWork',
    grades: 'courseWork/-/studentSubmissions',
  }
  if (people?.list === 'invitations') return `/v1/invitations?${query}`
  return of === null
    ? `/v1/courses?${query}`
    : `/v1/courses/${encodeURIComponent(of)}/${below[part] ?? part}?${query}`
}

/** An answer of Classroom, or why there is none: its status, and the scope that is missing. */
export type ClassroomAnswer =
  | { readonly json: JsonObject }
  | (RecordRefusal & {
      readonly status: number
      readonly scope: string | null
      /** Name of an access error (developers.google.com/classroom/reference/Access.Errors), or the status in words. */
      readonly code: string
    })

/** Errors are those of cloud.google.com/apis/design/errors. */
export function readClassroom(response: RecordResponse): ClassroomAnswer {
  const { status, headers } = response
  const refused = (given: RecordRefusal, code = '', scope: string | null = null) => ({
    ...given,
    ...{ status, code, scope },
  })
  const found = jsonIn(response)
  if (status >= 500) return refused(busy(response, `it failed (HTTP ${status})`, 2))
  if ('refusal' in found) return refused(found)
  if (!isJsonObject(found.json)) return refused(refusal('answer', `unexpected answer (HTTP ${status})`))
  if (status < 300) return { json: found.json }
  const error = isJsonObject(found.json['error']) ? found.json['error'] : {}
  const message = textIn(error, 'message') ?? ''
  const code = /^@(\w+)/.exec(message)?.[1] ?? textIn(error, 'status') ?? ''
  if (
    status === 429 ||
    code === 'RESOURCE_EXHAUSTED' ||
    (status === 403 && /quota|rate limit/i.test(message))
  ) {
    return refused(busy(response, 'the quota is used up', waitSeconds), code)
  }
  if (status === 401) return refused(refusal('token', 'the access token is not accepted'), code)
  const scope = /error="?insufficient_scope"?.*scope="([^"]*)"/.exec(headers['www-authenticate'] ?? '')?.[1]
  if (scope !== undefined || /insufficient authentication scopes/i.test(message)) {
    const name = (scope ?? '').replaceAll(googleScopes, '')
    const detail = `the sign-in lacks the scope ${name === '' ? 'that this requires' : name}`
    return refused(refusal('permission', detail), code, name)
  }
  if (status === 403) return refused(refusal('permission', `the account may not do this${said(code)}`), code)
  return refused(refusal('answer', `HTTP ${status}${said(code)}`), code)
}

function said(code: string): string {
  return code === '' || code === 'PERMISSION_DENIED' ? '' : ` (${code})`
}

const hiddenWords: Readonly<Partial<Record<RecordPart, string>>> = {
  enrollments: 'people',
  items: 'course work',
  grades: 'grades',
}

function hidden({ part, of }: RecordQuestion): RecordPage {
  const words = hiddenWords[part]
  if (part === 'courses' && !isAlias(of)) {
    const text = 'a course does not show its aliases to this account: its id takes their place'
    return hiddenPage(part, text)
  }
  if (words === undefined) return { records: [], next: null }
  return hiddenPage(part === 'items' ? 'grades' : part, `a course does not show its ${words} to this account`)
}

export const noList = refusal('answer', 'it sent no list of records: check the base URL')

function isAnswerTo(question: RecordQuestion, json: JsonObject): boolean {
  const name = listNameOf(question)
  return name === null ? textIn(json, 'id') !== null : isListOf(json, name)
}

/** Classroom leaves out the member of a list without records. */
export function isListOf(json: JsonObject, name: string): boolean {
  const isKnown = Object.keys(json).every((key) => key === name || key === 'nextPageToken')
  return isKnown && 'rows' in rowsIn(json[name] ?? [])
}

/** Null for a single record. */
function listNameOf(question: RecordQuestion): string | null {
  const { part, of } = question
  if (of === null) return part === 'users' ? null : 'courses'
  switch (part) {
    case 'courses':
      return isAlias(of) ? null : 'aliases'
    case 'items':
      return 'courseWork'
    case 'grades':
      return 'studentSubmissions'
    case 'users':
      return null
    default:
      return peoplePageOf(question).list
  }
}

function pageOf(json: JsonObject, question: RecordQuestion): RecordPage {
  const { part, of } = question
  const next = textIn(json, 'nextPageToken')
  const read = (name: string, make: (row: JsonObject) => RowRecords) => readEach(objectsIn(json[name]), make)
  if (of === null) return { ...read('courses', courseOf), next }
  switch (part) {
    case 'courses':
      if (isAlias(of)) return { ...readEach([json], courseOf), next: null }
      return { ...read('aliases', (row) => aliasOf(row, of)), next }
    case 'items':
      return { ...read('courseWork', (row) => itemOf(row, of)), next }
    case 'grades':
      return { ...read('studentSubmissions', (row) => gradeOf(row, of)), next }
    case 'users': {
      const user = userOf(json)
      return { records: user ? [user] : [], next: null }
    }
    default:
      return peopleIn(json, question)
  }
}

function peopleIn(json: JsonObject, question: RecordQuestion): RecordPage {
  const { list, after } = peoplePageOf(question)
  const course = question.of ?? ''
  const { records, notes } = readEach(objectsIn(json[list]), (row) =>
    list === 'invitations'
      ? enrollmentOf(row, course, row['role'] === 'TEACHER' ? 'instructor' : 'learner', 'invited')
      : memberOf(row, course, list === 'teachers' ? 'instructor' : 'learner'),
  )
  const hidden = records.filter(({ part, record }) => part === 'users' && !('email' in record)).length
  const invited = list === 'invitations' ? records.length : 0
  const pageToken = textIn(json, 'nextPageToken')
  const next = pageToken === null ? (after ?? null) && `${after}:` : `${list}:${pageToken}`
  return {
    ...{ records, next },
    notes: [
      ...notes,
      ...(hidden > 0
        ? [{ text: 'an enrolled person has no e-mail address that this account may see', count: hidden }]
        : []),
      ...(invited > 0 ? [{ text: 'a person who is invited has not accepted yet', count: invited }] : []),
    ],
  }
}

const courseStatuses: Readonly<Record<string, string>> = {
  ACTIVE: 'published',
  ARCHIVED: 'archived',
  PROVISIONED: 'draft',
}

function courseOf(row: JsonObject): RowRecords {
  const id = textIn(row, 'id')
  if (id === null) return 'a course without an id is left out'
  return recordOf('courses', id, {
    externalId: id,
    title: textIn(row, 'name') ?? '',
    description: textIn(row, 'description'),
    status: courseStatuses[textIn(row, 'courseState') ?? ''],
  })
}

/** The alias of a course is its external id: of the domain, or of the project that made it. */
function aliasOf(row: JsonObject, course: string): RowRecords {
  const externalId = /^[dp]:(.+)$/s.exec(textIn(row, 'alias') ?? '')?.[1]
  return externalId === undefined ? '' : { part: 'courses', id: course, record: { externalId } }
}

function memberOf(row: JsonObject, course: string, role: 'learner' | 'instructor'): RowRecords {
  const enrollment = enrollmentOf(row, course, role, 'active')
  const user = userOf({ id: row['userId'], ...(isJsonObject(row['profile']) ? row['profile'] : {}) })
  return user && typeof enrollment !== 'string' ? [user, enrollment] : enrollment
}

function enrollmentOf(row: JsonObject, course: string, role: string, status: string): LmsRecord | string {
  const userId = textIn(row, 'userId')
  if (userId === null) return 'a member without an id is left out'
  const record = { courseId: `own:${course}`, userId: `own:${userId}`, role, status }
  return { part: 'enrollments', id: null, record }
}

function userOf(profile: JsonObject): LmsRecord | null {
  const id = textIn(profile, 'id')
  if (id === null) return null
  const name = isJsonObject(profile['name']) ? profile['name'] : {}
  return recordOf('users', id, {
    externalId: id,
    email: textIn(profile, 'emailAddress'),
    firstName: textIn(name, 'givenName'),
    lastName: textIn(name, 'familyName'),
  })
}

function itemOf(row: JsonObject, course: string): RowRecords {
  const id = textIn(row, 'id')
  const maximum = row['maxPoints']
  const isGraded = typeof maximum === 'number' && maximum > 0
  const record = {
    courseId: `own:${course}`,
    label: textIn(row, 'title') ?? '',
    scoreMaximum: isGraded ? maximum : null,
    // Grades are written only to course work of the same project.
    isWritable: row['associatedWithDeveloper'] === true,
  }
  return id === null ? '' : { part: 'items', id, record }
}

/** A grade that is assigned is visible to the student, a draft is not (…/guides/classroom-api/manage-grades). */
function gradeOf(row: JsonObject, course: string): LmsRecord {
  const [assigned, draft] = [row['assignedGrade'], row['draftGrade']]
  const score = typeof assigned === 'number' ? assigned : draft
  const gradedAt = textIn(row, 'updateTime')
  const record = {
    courseId: `own:${course}`,
    learnerId: `own:${textIn(row, 'userId')}`,
    itemId: textIn(row, 'courseWorkId') ?? '',
    ...(typeof score === 'number' && { scoreGiven: score }),
    ...(gradedAt !== null && { gradedAt }),
    published: typeof assigned === 'number',
    state: textIn(row, 'state'),
  }
  return { part: 'grades', id: textIn(row, 'id'), record }
}
