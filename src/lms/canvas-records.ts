import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import {
  busy,
  hiddenPage,
  jsonIn,
  type LmsRecord,
  nextLinkIn,
  type RecordNote,
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
  troubleIn,
} from './records.ts'

const title = 'Canvas'
const pageSize = 100
/** Quota that each request takes in advance (canvas-lms app/middleware/request_throttle.rb, `up_front_cost`). */
const upFrontCost = 50
const requestsAtOnce = 8
const waitSeconds = 10

/**
 * Reads the REST API of Canvas (developerdocs.instructure.com/services/canvas): the lists of an account if the token is
 * that of an account admin, else the courses of its user with their people.
 */
export const canvasRecords: RecordSystem = {
  title,
  requestsAtOnce,
  lists: [
    { part: 'terms', of: null },
    { part: 'courses', of: null },
    { part: 'users', of: null },
    { part: 'groups', of: null },
    { part: 'groups', of: 'courses' },
    { part: 'memberships', of: 'groups' },
    { part: 'enrollments', of: 'courses', gives: ['memberships'] },
    { part: 'grades', of: 'courses' },
  ],
  request: (question, token) => readRequest(pathOf(question), `Bearer ${token}`),
  read(response, question) {
    const found = readJson(response, question)
    if ('page' in found) return found.page
    if ('refusal' in found) return found
    const { rows } = found
    const { records, notes } = readers[question.part](rows, question)
    const next = nextIn(response, question, rows.length)
    if (next !== null && typeof next !== 'string') return next
    return {
      records,
      notes: [...notes.map(withHidden), ...sisNotes(rows, question.part)],
      next,
      ...paceOf(response),
    }
  },
}

/** A position in the user's own courses, which are read if the account may not be listed. */
const ownCourses = 'own'

function pathOf({ part, of, position }: RecordQuestion): `/${string}` {
  const isOwn = position === ownCourses || position?.startsWith(`${ownCourses}:`) === true
  const page = isOwn ? position.slice(ownCourses.length + 1) : (position ?? '')
  const query = new URLSearchParams([
    ...Object.entries(parameters[part] ?? {}).flatMap(([name, values]) =>
      values.map((value) => [`${name}[]`, value]),
    ),
    ...(part === 'users' && of !== null ? userStates.map((state) => ['enrollment_state[]', state]) : []),
    ['per_page', String(pageSize)],
    ...(page === '' ? [] : [['page', page]]),
  ])
  return `/api/v1/${isOwn ? 'courses' : resourceOf(part, of)}?${query}`
}

function resourceOf(part: RecordQuestion['part'], of: string | null): string {
  const id = encodeURIComponent(of ?? '')
  if (of === null) return `accounts/self/${part}`
  if (part === 'memberships') return `groups/${id}/users`
  const below = { groups: 'sections', grades: 'students/submissions' } as const
  return `courses/${id}/${part === 'groups' || part === 'grades' ? below[part] : part}`
}

const userStates = ['active', 'invited', 'completed', 'inactive']
const parameters: Partial<Record<RecordQuestion['part'], Readonly<Record<string, readonly string[]>>>> = {
  users: { include: ['email'] },
  courses: { include: ['term', 'total_students'] },
  enrollments: { state: ['active', 'invited', 'creation_pending', 'completed', 'inactive'] },
  grades: { student_ids: ['all'], include: ['assignment'] },
}

/** A page takes the place of a list that the token may not read. */
type Found = { readonly rows: readonly JsonObject[] } | { readonly page: RecordPage } | RecordRefusal

function readJson(response: RecordResponse, question: RecordQuestion): Found {
  const { status, headers, body } = response
  // The status was 403 before 2025, with the same text.
  if (status === 429 || (status === 403 && /rate limit exceeded/i.test(body))) {
    return busy(response, 'the quota of the token is used up', waitSeconds)
  }
  const trouble = troubleIn(response, 5, 'set the base URL to where Canvas is, and check the token')
  if (trouble) return trouble
  if (status === 401 && (headers['www-authenticate'] !== undefined || /access token/i.test(body))) {
    return refusal('token', 'the access token is not accepted; it may have expired or been deleted')
  }
  if (status === 401 || status === 403 || status === 404) return withoutRight(status, question)
  const found = jsonIn(response)
  if ('refusal' in found) return found
  if (status !== 200) return refusal('answer', `it answers with HTTP ${status}`)
  return rowsIn(isJsonObject(found.json) ? found.json['enrollment_terms'] : found.json)
}

/** Names are those in the settings of Canvas. */
const permissions = {
  terms: 'account admin (any permission on the account)',
  users: 'Users - view list',
  courses: 'Courses - view list',
  groups: 'Groups - view all student groups',
  memberships: 'Groups - view all student groups',
  enrollments: 'Users - view list of the course',
  items: 'Grades - view all grades',
  grades: 'Grades - view all grades',
} as const

const hiddenLists: Partial<Record<RecordQuestion['part'], readonly [list: string, missing: string]>> = {
  courses: ['courses', ': courses of other users are missing'],
  users: ['people', ': people without a course are missing'],
  terms: ['terms', ''],
  groups: ['groups', ''],
}

function withoutRight(status: number, { part, of, position }: RecordQuestion): Found {
  const permission = permissions[part]
  const lacks = `for want of the permission “${permission}”`
  const hidden = of === null && position === null ? hiddenLists[part] : undefined
  if (hidden) {
    const [list, missing] = hidden
    const text = `the list of ${list} is not visible to this token, ${lacks}${missing}`
    const next = part === 'courses' ? ownCourses : null
    return { page: hiddenPage(part, text, { next, ...(part === 'users' && { byCourse: true }) }) }
  }
  if (part === 'grades' || status === 404) {
    const text = `a ${part === 'memberships' ? 'group' : 'course'} does not show its ${part} to this token, ${lacks}`
    return { page: hiddenPage(part, text) }
  }
  return refusal('permission', `the token may not read ${part}: it needs the permission “${permission}”`)
}

/** Null after the last page. */
function nextIn(
  response: RecordResponse,
  { position }: RecordQuestion,
  count: number,
): string | null | RecordRefusal {
  if (response.headers['link'] === undefined && count >= pageSize) {
    return refusal('answer', 'a full page has no header Link, so that the next one is unknown')
  }
  const query = nextLinkIn(response)
  if (!query) return null
  const page = query.get('page') ?? ''
  if (page === '') return refusal('answer', 'its header Link names no next page')
  return position?.startsWith(ownCourses) === true ? `${ownCourses}:${page}` : page
}

/** Returns one request at a time while the quota is nearly used up: the header counts all requests under way. */
function paceOf({ headers }: RecordResponse): Pick<RecordPage, 'requestsAtOnce'> {
  const remaining = Number(headers['x-rate-limit-remaining'] ?? Number.NaN)
  return remaining < 2 * upFrontCost ? { requestsAtOnce: 1 } : {}
}

type Reader = (rows: readonly JsonObject[], question: RecordQuestion) => RowsRead

function each(read: (row: JsonObject, question: RecordQuestion) => RowRecords): Reader {
  return (rows, question) => readEach(rows, (row) => read(row, question))
}

const readers: Readonly<Record<RecordQuestion['part'], Reader>> = {
  terms: each(termOf),
  users: each(userOf),
  courses: each(courseOf),
  groups: (rows, question) => (question.of === null ? each(groupOf)(rows, question) : sectionsOf(rows)),
  items: each(() => ''),
  memberships: each(({ id }, { of }) =>
    recordOf('memberships', null, { groupId: `own:${of}`, userId: `own:${id}` }),
  ),
  enrollments: each(enrollmentOf),
  grades: each(gradeOf),
}

/** Names of the ids of a SIS, which Canvas leaves out for tokens that may not see them. */
const sisIds = { terms: 'sis_term_id', users: 'sis_user_id', courses: 'sis_course_id' } as const

function sisNotes(rows: readonly JsonObject[], part: RecordQuestion['part']): RecordNote[] {
  const name = part === 'terms' || part === 'users' || part === 'courses' ? sisIds[part] : null
  const count = name === null ? 0 : rows.filter((row) => !Object.hasOwn(row, name)).length
  if (count === 0) return []
  const text = `${part} do not show their SIS ids to this token, for want of the permission “SIS Data - read”: ids of Canvas take their place`
  return [{ text, count, hides: part }]
}

const restrictedCourse = 'courses are not visible to this token, because their dates are over'

function withHidden(note: RecordNote): RecordNote {
  return note.text === restrictedCourse ? { ...note, hides: 'courses' } : note
}

function externalIdOf(row: JsonObject, sis: string): string {
  return textIn(row, sis) ?? textIn(row, 'id') ?? ''
}

function termOf(row: JsonObject): LmsRecord | string {
  // Courses without a term are in this one; SIS imports do not have it.
  if (textIn(row, 'sis_term_id') === null && row['name'] === 'Default Term') return ''
  if (row['workflow_state'] === 'deleted') return 'deleted terms are left out'
  const day = (name: string) => textIn(row, name)?.slice(0, 10) ?? null
  const name = textIn(row, 'name') ?? ''
  const days = { startDate: day('start_at'), endDate: day('end_at') }
  const record = { externalId: externalIdOf(row, 'sis_term_id'), name, ...days }
  return { part: 'terms', id: textIn(row, 'id'), record }
}

function userOf(row: JsonObject): LmsRecord {
  const names = { firstName: textIn(row, 'first_name'), lastName: textIn(row, 'last_name') }
  const isNameless = names.firstName === null && names.lastName === null
  return recordOf('users', textIn(row, 'id'), {
    externalId: externalIdOf(row, 'sis_user_id'),
    email: textIn(row, 'email'),
    username: textIn(row, 'login_id'),
    ...names,
    displayName: textIn(row, 'short_name') ?? (isNameless ? textIn(row, 'name') : null),
  })
}

const courseStatuses: Readonly<Record<string, string>> = {
  available: 'published',
  completed: 'archived',
  unpublished: 'draft',
}

function courseOf(row: JsonObject): LmsRecord | string {
  if (row['access_restricted_by_date'] === true || textIn(row, 'name') === null) {
    return restrictedCourse
  }
  const term = isJsonObject(row['term']) ? row['term'] : null
  const isInTerm = term !== null && (textIn(term, 'sis_term_id') !== null || term['name'] !== 'Default Term')
  const students = row['total_students']
  return recordOf('courses', textIn(row, 'id'), {
    externalId: externalIdOf(row, 'sis_course_id'),
    title: textIn(row, 'name'),
    status: courseStatuses[textIn(row, 'workflow_state') ?? ''],
    term: isInTerm ? `ext:${externalIdOf(term, 'sis_term_id')}` : null,
    ...(typeof students === 'number' && { learnerCount: students }),
  })
}

function groupOf(row: JsonObject): LmsRecord {
  const record = { externalId: externalIdOf(row, 'sis_group_id'), name: textIn(row, 'name') ?? '' }
  return { part: 'groups', id: textIn(row, 'id'), record: { ...record, courseId: null } }
}

/** Sections of a course; without ids of a SIS they count only if there are several, since each course has one. */
function sectionsOf(rows: readonly JsonObject[]): RowsRead {
  const named = rows.filter((row) => textIn(row, 'sis_section_id') !== null)
  const counted = named.length > 0 || rows.length === 1 ? named : rows
  const records = counted.map((row): LmsRecord => {
    const record = { externalId: externalIdOf(row, 'sis_section_id'), name: textIn(row, 'name') ?? '' }
    const courseId = `own:${textIn(row, 'course_id')}`
    return { part: 'groups', id: sectionId(textIn(row, 'id')), record: { ...record, courseId } }
  })
  return { records, notes: [] }
}

const roles: Readonly<Record<string, 'learner' | 'instructor'>> = {
  StudentEnrollment: 'learner',
  TeacherEnrollment: 'instructor',
  TaEnrollment: 'instructor',
  DesignerEnrollment: 'instructor',
}

/** Sections and groups are numbered apart. */
function sectionId(id: string | null): string {
  return `section-${id}`
}

function enrollmentOf(row: JsonObject, { of }: RecordQuestion): RowRecords {
  const type = textIn(row, 'type') ?? ''
  if (type === 'StudentViewEnrollment') return ''
  const role = Object.hasOwn(roles, type) ? roles[type] : undefined
  if (role === undefined) return 'enrolments of observers are left out'
  const state = textIn(row, 'enrollment_state') ?? ''
  const sis = textIn(row, 'sis_user_id')
  const userId = sis === null ? `own:${textIn(row, 'user_id')}` : `ext:${sis}`
  const status = state === 'completed' || state === 'inactive' ? state : 'active'
  const groupId = `own:${sectionId(textIn(row, 'course_section_id'))}`
  return [
    { part: 'enrollments', id: null, record: { courseId: `own:${of}`, userId, role, status } },
    recordOf('memberships', null, { groupId, userId }),
  ]
}

function gradeOf(row: JsonObject, { of }: RecordQuestion): LmsRecord | string {
  const score = row['score']
  const assignment = isJsonObject(row['assignment']) ? row['assignment'] : {}
  if (typeof score !== 'number') return ''
  const maximum = assignment['points_possible']
  if (typeof maximum !== 'number' || maximum <= 0) return 'scores of assignments without points are left out'
  return recordOf('grades', null, {
    courseId: `own:${of}`,
    learnerId: `own:${textIn(row, 'user_id')}`,
    itemId: textIn(row, 'assignment_id'),
    label: textIn(assignment, 'name') ?? '',
    scoreGiven: score,
    scoreMaximum: maximum,
    gradedAt: textIn(row, 'graded_at'),
    published: textIn(row, 'posted_at') !== null && row['workflow_state'] === 'graded',
  })
}
