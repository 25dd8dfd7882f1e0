import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { wholeCourse } from '../contract/constants.ts'
import { labelAt, memberAt, numberAt, requiredIdAt } from './delivery.ts'
import { candidatesOf, type EventReader, ignoreEvent, makeGrade, type SimulatedEvents } from './event.ts'
import {
  hiddenPage,
  jsonIn,
  type LmsRecord,
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
  troubleIn,
} from './records.ts'

export const readOpenedxEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'event_metadata.event_type')
  const data = findGradeData(body)
  if (data === undefined) return ignoreEvent(name, 'event_type')
  const fraction = numberAt(data, 'percent_grade')
  const event = {
    name,
    course: candidatesOf(
      ...(['key', 'externalId'] as const).map((by) => [by, requiredIdAt(data, 'course.course_key')] as const),
    ),
    learner: candidatesOf(['key', requiredIdAt(data, 'user_id')]),
    itemId: wholeCourse,
    label: '',
    // Four decimals, because 0.07 · 100 is 7.000000000000001.
    scoreGiven: fraction === null ? null : Math.round(fraction * 1e6) / 1e4,
    scoreMaximum: 100,
    published: true,
    gradedAt: at(),
  }
  // A value above 1 is not a fraction; with another scale every grade would be a hundred times too high.
  if ((fraction ?? 0) > 1) return ignoreEvent(name, 'score_out_of_range')
  return makeGrade(event, settings)
}

function findGradeData(body: JsonObject): JsonObject | undefined {
  return [body, ...Object.values(body)]
    .filter(isJsonObject)
    .find((value) => memberAt(value, 'percent_grade') !== undefined)
}

export const openedxEvents: SimulatedEvents = {
  grade: {
    summary: 'The grade of a learner in a course changed (a percentage)',
    takes: ['score'],
    namesUser: ['id'],
    namesCourse: ['id', 'externalId'],
    payload: ({ user, course, score, at, serial }) => ({
      'openedx_events.learning.data.PersistentCourseGradeData': {
        user_id: /^\d{1,15}$/.test(user.value) ? Number(user.value) : user.value,
        course: { course_key: course.value, display_name: 'Simulated course', start: null, end: null },
        course_edited_timestamp: naiveTime(at).slice(0, 19),
        course_version: '',
        grading_policy_hash: '',
        percent_grade: score === null ? null : Math.round(score * 1e4) / 1e6,
        letter_grade: '',
        passed_timestamp: null,
      },
      event_metadata: {
        id: serial,
        event_type: 'org.openedx.learning.course.persistent_grade_summary.changed.v1',
        minorversion: 0,
        source: 'openedx/lms/web',
        sourcehost: 'openedx.example.org',
        time: naiveTime(at),
        sourcelib: [0, 6, 0],
      },
    }),
  },
}

/** UTC without a zone, in microseconds. */
function naiveTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '000')
}

const title = 'Open edX'
const pageSize = '100'

/**
 * Reads the REST APIs of Open edX (openedx/openedx-platform lms/djangoapps/course_api, lms/djangoapps/grades/rest_api/v1 and
 * openedx/core/djangoapps/enrollments). People are read from the grades of courses, which have their addresses.
 */
export const openedxRecords: RecordSystem = {
  title,
  // It limits staff to 40 requests a minute for courses, and 120 for enrolments.
  requestsAtOnce: 2,
  lists: [
    { part: 'courses', of: null },
    { part: 'users', of: 'courses', gives: ['grades'] },
    { part: 'enrollments', of: 'courses' },
  ],
  request: (question, token) => readRequest(pathOf(question), authorizationOf(token)),
  read(response, question) {
    const found = readJson(response, question)
    if ('refusal' in found || 'records' in found) return found
    const { rows, next } = found
    return { ...readEach(rows, (row) => readers[question.part](row, question)), next }
  },
}

/** JSON Web Tokens have a scheme of their own. */
export function authorizationOf(token: string): string {
  return `${/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) ? 'JWT' : 'Bearer'} ${token}`
}

function pathOf({ part, of, position }: RecordQuestion): `/${string}` {
  const [, name = '', value = ''] = /^(cursor|page):(.*)$/s.exec(position ?? '') ?? []
  const query = (given: Readonly<Record<string, string>>) =>
    new URLSearchParams({ ...given, page_size: pageSize, ...(name !== '' && { [name]: value }) })
  if (of === null) return `/api/courses/v1/courses/?${query({})}`
  if (part === 'enrollments') return `/api/enrollment/v1/enrollments?${query({ course_id: of })}`
  return `/api/grades/v1/courses/${encodeURIComponent(of)}/?${query({})}`
}

function readJson(
  response: RecordResponse,
  question: RecordQuestion,
): { readonly rows: readonly JsonObject[]; readonly next: string | null } | RecordPage | RecordRefusal {
  const { status } = response
  const advice = 'set the base URL to where the LMS is, and check the token'
  const trouble = troubleIn(response, status === 429 ? 60 : 5, advice)
  if (trouble) return trouble
  if (status === 401) {
    return refusal('token', 'the access token is not accepted; JSON Web Tokens expire within the hour')
  }
  if (status === 403 || status === 404) return withoutRight(question)
  const found = jsonIn(response)
  if ('refusal' in found) return found
  const json = status === 200 && isJsonObject(found.json) ? found.json : {}
  const list = rowsIn(json['results'], `it sent no list of records (HTTP ${status}): check the base URL`)
  if ('refusal' in list) return list
  const next = nextIn(json)
  return next === undefined
    ? refusal('answer', 'it does not say where the next page is')
    : { rows: list.rows, next }
}

function withoutRight({ part, of }: RecordQuestion): RecordPage | RecordRefusal {
  if (part === 'enrollments') {
    return refusal('permission', 'the token may not list enrolments: its user must be global staff')
  }
  if (of === null) return refusal('permission', `the token may not list ${part}`)
  const text = `a course does not show its ${part} to this token: its user must be global staff or staff of the course`
  return hiddenPage(part, text)
}

/** Open edX gives the next page as a URL; null after the last one. */
function nextIn(json: JsonObject): string | null | undefined {
  const paging = isJsonObject(json['pagination']) ? json['pagination'] : json
  const url = paging['next']
  if (url === null) return null
  if (typeof url !== 'string' || !URL.canParse(url, 'https://lms.invalid')) return undefined
  const { searchParams } = new URL(url, 'https://lms.invalid')
  for (const name of ['cursor', 'page']) {
    const value = searchParams.get(name)
    if (value !== null) return `${name}:${value}`
  }
  return undefined
}

type Reader = (row: JsonObject, question: RecordQuestion) => RowRecords

const readers: Readonly<Record<RecordQuestion['part'], Reader>> = {
  items: () => '',
  terms: () => '',
  groups: () => '',
  memberships: () => '',
  courses: (row) => {
    const id = textIn(row, 'course_id') ?? textIn(row, 'id')
    return recordOf('courses', id, {
      externalId: id,
      title: textIn(row, 'name'),
      description: textIn(row, 'short_description'),
      status: row['hidden'] === true ? 'draft' : 'published',
    })
  },
  users: (row) => [userOf(row), ...gradeOf(row)],
  enrollments: (row) =>
    recordOf('enrollments', null, {
      courseId: `own:${textIn(row, 'course_id')}`,
      userId: `own:${textIn(row, 'user')}`,
      role: 'learner',
      status: row['is_active'] === true ? 'active' : 'inactive',
      firstDay: textIn(row, 'created')?.slice(0, 10),
    }),
  grades: gradeOf,
}

function userOf(row: JsonObject): LmsRecord {
  const username = textIn(row, 'username')
  return recordOf('users', username, { externalId: username, username, email: textIn(row, 'email') })
}

function gradeOf(row: JsonObject): LmsRecord[] {
  const percent = row['percent']
  if (typeof percent !== 'number') return []
  return [
    recordOf('grades', null, {
      courseId: `own:${textIn(row, 'course_id')}`,
      learnerId: `own:${textIn(row, 'username')}`,
      itemId: wholeCourse,
      label: '',
      scoreGiven: Math.round(percent * 10_000) / 100,
      scoreMaximum: 100,
      published: true,
    }),
  ]
}
