import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import type { RecordPart } from '../contract/constants.ts'
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
  type RowsRead,
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
  request: (question, token) => readRequest(pathOf(question), `Bearer ${token}`),
  read(response, question) {
    const found = readClassroom(response)
    if ('json' in found) return pageOf(found.json, question)
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

interface List {
  /** Without the version of the API. */
  readonly path: string
  /** Null for a single record. */
  readonly name: string | null
  read(row: JsonObject): RowRecords
}

function listOf(question: RecordQuestion): List {
  const { part } = question
  const of = question.of ?? ''
  const course = `courses/${encodeURIComponent(of)}`
  switch (part) {
    case 'courses':
      if (question.of === null) return { path: 'courses', name: 'courses', read: courseOf }
      if (isAlias(of)) return { path: course, name: null, read: courseOf }
      return { path: `${course}/aliases`, name: 'aliases', read: (row) => aliasOf(row, of) }
    case 'items':
      return { path: `${course}/courseWork`, name: 'courseWork', read: (row) => itemOf(row, of) }
    case 'grades': {
      const name = 'studentSubmissions'
      return { path: `${course}/courseWork/-/${name}`, name, read: (row) => gradeOf(row, of) }
    }
    case 'users':
      return { path: `userProfiles/${encodeURIComponent(of || 'me')}`, name: null, read: userOf }
    default: {
      const { list } = peoplePageOf(question)
      if (list === 'invitations') {
        const read = (row: JsonObject) =>
          enrollmentOf(row, of, row['role'] === 'TEACHER' ? 'instructor' : 'learner', 'invited')
        return { path: list, name: list, read }
      }
      const role = list === 'teachers' ? 'instructor' : 'learner'
      return { path: `${course}/${list}`, name: list, read: (row) => memberOf(row, of, role) }
    }
  }
}

function pathOf(question: RecordQuestion): `/${string}` {
  const { part, of, position } = question
  const { path, name } = listOf(question)
  if (name === null) return `/v1/${path}`
  const pageToken = part === 'enrollments' ? peoplePageOf(question).pageToken : (position ?? '')
  const query = new URLSearchParams([
    ...(name === 'courses'
      ? ['ACTIVE', 'ARCHIVED', 'PROVISIONED'].map((state) => ['courseStates', state])
      : []),
    ...(name === 'invitations' ? [['courseId', of ?? '']] : []),
    ['pageSize', String(pageSize)],
    ...(pageToken === '' ? [] : [['pageToken', pageToken]]),
  ])
  return `/v1/${path}?${query}`
}

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

/** Classroom leaves out the member of a list without records. */
export function isListOf(json: JsonObject, name: string): boolean {
  const isKnown = Object.keys(json).every((key) => key === name || key === 'nextPageToken')
  return isKnown && 'rows' in rowsIn(json[name] ?? [])
}

function pageOf(json: JsonObject, question: RecordQuestion): RecordPage | RecordRefusal {
  const { name, read } = listOf(question)
  if (name === null) return textIn(json, 'id') === null ? noList : { ...readEach([json], read), next: null }
  if (!isListOf(json, name)) return noList
  const page = { ...readEach(objectsIn(json[name]), read), next: textIn(json, 'nextPageToken') }
  return question.part === 'enrollments' ? withPeople(page, question) : page
}

function withPeople(
  { records, notes, next: pageToken }: RowsRead & RecordPage,
  question: RecordQuestion,
): RecordPage {
  const { list, after } = peoplePageOf(question)
  const hidden = records.filter(({ part, record }) => part === 'users' && !('email' in record)).length
  const invited = list === 'invitations' ? records.length : 0
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
  return typeof user === 'string' || typeof enrollment === 'string' ? enrollment : [user, enrollment]
}

function enrollmentOf(row: JsonObject, course: string, role: string, status: string): LmsRecord | string {
  const userId = textIn(row, 'userId')
  if (userId === null) return 'a member without an id is left out'
  const record = { courseId: `own:${course}`, userId: `own:${userId}`, role, status }
  return { part: 'enrollments', id: null, record }
}

function userOf(profile: JsonObject): LmsRecord | string {
  const id = textIn(profile, 'id')
  if (id === null) return ''
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

export interface ForeignSignIn {
  /** Identifier of the authorization server (RFC 9207). */
  readonly issuer: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  /** Base URL of the API that the access tokens are for. */
  readonly baseUrl: string
  readonly scopes: readonly string[]
  readonly readScopes: readonly string[]
  /** Parameters of the authorization request that OAuth 2.0 does not have. */
  readonly parameters: Readonly<Record<string, string>>
}

export const googleScopes = 'https://www.googleapis.com/auth/'

const scopes = ['courses', 'rosters', 'profile.emails', 'coursework.students'].map(
  (name) => `${googleScopes}classroom.${name}`,
)

/**
 * Google's endpoints (accounts.google.com/.well-known/openid-configuration) and the scopes of Classroom. Without
 * `access_type=offline` there is no refresh token, without `prompt=consent` only at the first sign-in
 * (developers.google.com/identity/protocols/oauth2/web-server, "Refreshing an access token").
 */
export const classroomSignIn: ForeignSignIn = {
  issuer: 'https://accounts.google.com',
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  baseUrl: 'https://classroom.googleapis.com',
  scopes,
  readScopes: scopes.map((scope) => (scope.endsWith('.emails') ? scope : `${scope}.readonly`)),
  parameters: { access_type: 'offline', prompt: 'consent' },
}

/** Returns short names; a scope to write includes that to read. */
export function missingScopes(granted: readonly string[], wanted: readonly string[]): readonly string[] {
  return wanted
    .filter((scope) => !granted.includes(scope) && !granted.includes(scope.replace(/\.readonly$/, '')))
    .map((scope) => scope.replace(googleScopes, ''))
}
