import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { wholeCourse } from '../contract/constants.ts'
import {
  hiddenPage,
  jsonIn,
  type LmsRecord,
  objectsIn,
  type RecordNote,
  type RecordPage,
  type RecordQuestion,
  type RecordRefusal,
  type RecordRequest,
  type RecordResponse,
  type RecordSystem,
  readEach,
  recordOf,
  refusal,
  rowsIn,
  textIn,
  troubleIn,
} from './records.ts'

const title = 'Moodle'
const pageSize = 200

/**
 * Reads Moodle by its web services (docs.moodle.org/en/Using_web_services; moodle/moodle enrol/externallib.php,
 * course/externallib.php, group/externallib.php, cohort/externallib.php, grade/report/user/classes/external/user.php).
 * People are those of courses: no function lists all of them in pages.
 */
export const moodleRecords: RecordSystem = {
  title,
  requestsAtOnce: 4,
  lists: [
    { part: 'courses', of: null },
    { part: 'groups', of: null },
    { part: 'groups', of: 'courses' },
    { part: 'memberships', of: 'groups' },
    { part: 'enrollments', of: 'courses', gives: ['users', 'memberships'] },
    { part: 'grades', of: 'courses' },
  ],
  request: (question, token) => moodleRequest(token, callOf(question)),
  read(response, question) {
    const found = readJson(response, question)
    return 'refusal' in found || 'records' in found ? found : pageOf(found.json, question)
  },
}

/** Calls a function of the web services. The token is a parameter; POST keeps it out of access logs. */
export function moodleRequest(token: string, call: readonly (readonly string[])[]): RecordRequest {
  const parameters = [
    ['wstoken', token],
    ['moodlewsrestformat', 'json'],
    // Texts as they are stored, without entities and filters.
    ['moodlewssettingraw', 'true'],
    ['moodlewssettingfilter', 'false'],
    ...call.map((pair) => [...pair]),
  ]
  return {
    method: 'POST',
    path: '/webservice/rest/server.php',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(parameters)),
  }
}

/** Moodle reports errors with status 200; null without one. */
export function moodleErrorIn(json: unknown): string | null {
  return isJsonObject(json) ? textIn(json, 'errorcode') : null
}

/**
 * A page of the people of a course. Moodle omits people that are not visible to the token, so only an empty page is
 * known to be the last. The first request reads active enrolments; then all people are read to the empty page, then
 * the other active enrolments as far. `every` takes all as active, if the token may not know who is.
 */
interface PeoplePage {
  readonly pass: 'active' | 'all' | 'every'
  readonly from: number
  /** End of the list; 0 until it is known. */
  readonly end: number
}

function peoplePageOf({ position }: RecordQuestion): PeoplePage {
  const [, pass, from, end] = /^(active|all|every):(\d+):(\d+)$/.exec(position ?? '') ?? []
  if (pass !== 'all' && pass !== 'every')
    return { pass: 'active', from: Number(from ?? 0), end: Number(end ?? 0) }
  return { pass, from: Number(from), end: 0 }
}

const functions: Readonly<Record<RecordQuestion['part'], string>> = {
  items: '',
  terms: '',
  users: '',
  courses: 'core_course_get_courses',
  groups: 'core_group_get_course_groups',
  memberships: 'core_cohort_get_cohort_members',
  enrollments: 'core_enrol_get_enrolled_users',
  grades: 'gradereport_user_get_grade_items',
}

function functionOf({ part, of }: RecordQuestion): string {
  return part === 'groups' && of === null ? 'core_cohort_get_cohorts' : functions[part]
}

function callOf(question: RecordQuestion): string[][] {
  const { part, of } = question
  const name = ['wsfunction', functionOf(question)]
  if (of === null) return [name]
  if (part === 'memberships') return [name, ['cohortids[0]', of.replace(cohortPrefix, '')]]
  if (part !== 'enrollments') return [name, ['courseid', of]]
  const { pass, from } = peoplePageOf(question)
  const options = {
    limitfrom: String(from),
    limitnumber: String(pageSize),
    sortby: 'id',
    userfields: 'id,username,firstname,lastname,email,idnumber,suspended,groups,roles',
    ...(pass === 'active' && { onlyactive: '1' }),
  }
  const pairs = Object.entries(options).flatMap(([option, value], index) => [
    [`options[${index}][name]`, option],
    [`options[${index}][value]`, value],
  ])
  return [name, ['courseid', of], ...pairs]
}

function readJson(
  response: RecordResponse,
  question: RecordQuestion,
): { readonly json: unknown } | RecordPage | RecordRefusal {
  const { status } = response
  const trouble = troubleIn(response, 5, 'set the base URL to where Moodle is')
  if (trouble) return trouble
  const found = jsonIn(response)
  if ('refusal' in found) return found
  const { json } = found
  const code = moodleErrorIn(json)
  if (code !== null) return failureOf(code, question)
  // Errors of PHP have a class, but no code.
  const exception = isJsonObject(json) ? textIn(json, 'exception') : null
  if (exception !== null) return refusal('answer', `${functionOf(question)} failed (${exception})`)
  if (status !== 200)
    return refusal('answer', `HTTP ${status}: web services or the REST protocol may be disabled`)
  return found
}

const tokenCodes = [
  'invalidtoken',
  'accesskeyexpired',
  'invalidtimedtoken',
  'expiredtoken',
  'usernotfullysetup',
]
const rightCodes = [
  'accessexception',
  'nopermissions',
  'nopermission',
  'nopermissiontoviewgrades',
  'required_capability_exception',
  'errorcoursecontextnotvalid',
  'requireloginerror',
  'notingroup',
]

/** For some codes the whole reading fails, for others only this list is not visible. */
function failureOf(code: string, question: RecordQuestion): RecordPage | RecordRefusal {
  const { part, of } = question
  const name = functionOf(question)
  if (tokenCodes.includes(code)) {
    return refusal('token', `the access token is not accepted (${code}); it may have expired`)
  }
  if (code === 'sitemaintenance')
    return { refusal: 'busy', detail: 'it is under maintenance', retryAfter: 60 }
  if (!rightCodes.includes(code)) return refusal('answer', `${name} failed (${code})`)
  if (part === 'enrollments' && peoplePageOf(question).pass === 'active' && code !== 'accessexception') {
    const text =
      'a course does not show which enrolments are suspended, for want of moodle/course:enrolreview: they count as active'
    return { records: [], next: 'every:0:0', notes: [{ text, count: 1 }] }
  }
  const isOptional = of !== null || part === 'groups'
  if (code === 'accessexception' && !(part === 'groups' || part === 'memberships')) {
    return refusal('permission', `the web service of the token lacks the function ${name}`)
  }
  if (!isOptional) return refusal('permission', `the token may not call ${name} (${code})`)
  const whose = of === null ? 'the list of cohorts is' : 'a list is'
  const text = `${whose} not visible to this token: ${name} is not allowed (${code})`
  return hiddenPage(part, text)
}

function pageOf(json: unknown, question: RecordQuestion): RecordPage | RecordRefusal {
  const { part, of } = question
  const found = rowsIn(
    part === 'grades' && isJsonObject(json) ? json['usergrades'] : json,
    `${functionOf(question)} sent no list of records: check the base URL`,
  )
  if ('refusal' in found) return found
  const { rows } = found
  switch (part) {
    case 'courses':
      return { ...readEach(rows, courseOf), next: null }
    case 'groups':
      return { ...readEach(rows, of === null ? cohortOf : (row) => groupOf(row, of)), next: null }
    case 'memberships':
      return { records: rows.flatMap((row) => membersOf(row)), next: null }
    case 'grades':
      return gradesOf(rows, of)
    default:
      return peopleOf(rows, question)
  }
}

function courseOf(row: JsonObject): LmsRecord | string {
  // The front page of the site is a course, too.
  if (row['format'] === 'site') return ''
  const visible = row['visible']
  return recordOf('courses', textIn(row, 'id'), {
    externalId: textIn(row, 'shortname'),
    title: textIn(row, 'fullname'),
    description: textIn(row, 'summary'),
    language: textIn(row, 'lang')?.replaceAll('_', '-'),
    status: visible === undefined ? null : Number(visible) === 1 ? 'published' : 'draft',
  })
}

/** Groups are named within their course, as in its uploads. */
function groupOf(row: JsonObject, course: string): LmsRecord {
  const record = { name: textIn(row, 'name') ?? '', courseId: `own:${course}` }
  return { part: 'groups', id: textIn(row, 'id'), record }
}

/** Cohorts and groups are numbered apart. */
const cohortPrefix = 'cohort-'

function cohortOf(row: JsonObject): LmsRecord {
  const name = textIn(row, 'name') ?? ''
  return { part: 'groups', id: `${cohortPrefix}${textIn(row, 'id')}`, record: { externalId: name, name } }
}

function membersOf(row: JsonObject): LmsRecord[] {
  const groupId = `own:${cohortPrefix}${textIn(row, 'cohortid')}`
  const users = Array.isArray(row['userids']) ? row['userids'] : []
  return users.map((user) => ({ part: 'memberships', id: null, record: { groupId, userId: `own:${user}` } }))
}

/** Archetypes of roles, as in files. */
const roles: Readonly<Record<string, 'learner' | 'instructor'>> = {
  student: 'learner',
  teacher: 'instructor',
  editingteacher: 'instructor',
  manager: 'instructor',
  coursecreator: 'instructor',
}

function peopleOf(rows: readonly JsonObject[], question: RecordQuestion): RecordPage {
  const { pass, from, end } = peoplePageOf(question)
  const next = from + pageSize
  const enrolled = (row: JsonObject, status: 'active' | 'inactive') =>
    enrollmentsOf(row, question.of ?? '', status)
  if (pass === 'active') {
    const { records } = readEach(rows, (row) => enrolled(row, 'active'))
    if (end === 0) return { records, next: 'all:0:0' }
    return { records, next: next < end ? `active:${next}:${end}` : null }
  }
  const { records } = readEach(rows, (row) => [
    userOf(row),
    ...enrolled(row, pass === 'every' ? 'active' : 'inactive'),
    ...groupsOf(row),
  ])
  if (rows.length > 0) return { records, next: `${pass}:${next}:0`, notes: rolesLeftOut(rows) }
  return { records, next: pass === 'all' && from > pageSize ? `active:${pageSize}:${from}` : null }
}

function userOf(row: JsonObject): LmsRecord {
  const username = textIn(row, 'username')
  const suspended = row['suspended']
  return recordOf('users', textIn(row, 'id'), {
    externalId: textIn(row, 'idnumber') ?? username ?? textIn(row, 'id'),
    email: textIn(row, 'email'),
    username,
    firstName: nameIn(row, 'firstname'),
    lastName: nameIn(row, 'lastname'),
    status: suspended === undefined ? null : Number(suspended) === 1 ? 'suspended' : 'active',
  })
}

/** Null for the sign that stands where there is no name. */
function nameIn(row: JsonObject, field: string): string | null {
  const name = textIn(row, field)
  return name === '-' ? null : name
}

function enrollmentsOf(row: JsonObject, course: string, status: 'active' | 'inactive'): LmsRecord[] {
  const known = rolesIn(row).flatMap((name) => (Object.hasOwn(roles, name) ? (roles[name] ?? []) : []))
  const place = { courseId: `own:${course}`, userId: `own:${textIn(row, 'id')}` }
  return [...new Set(known)].map((role) => recordOf('enrollments', null, { ...place, role, status }))
}

function groupsOf(row: JsonObject): LmsRecord[] {
  const userId = `own:${textIn(row, 'id')}`
  return objectsIn(row['groups']).map((group) =>
    recordOf('memberships', null, { groupId: `own:${textIn(group, 'id')}`, userId }),
  )
}

function rolesIn(row: JsonObject): string[] {
  return objectsIn(row['roles']).map((role) => textIn(role, 'shortname') ?? '')
}

function rolesLeftOut(rows: readonly JsonObject[]): RecordNote[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const names = rolesIn(row)
    if (names.some((name) => Object.hasOwn(roles, name))) continue
    const text = `people are left out of a course: ${names.length === 0 ? 'they have no role there' : `role ${names.join(', ')}`}`
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].map(([text, count]) => ({ text, count }))
}

function gradesOf(people: readonly JsonObject[], course: string | null): RecordPage {
  const items = people.flatMap((person) => objectsIn(person['gradeitems']).map((item) => ({ person, item })))
  return { ...readEach(items, ({ person, item }) => gradeOf(person, item, course)), next: null }
}

function gradeOf(person: JsonObject, item: JsonObject, course: string | null): LmsRecord | string {
  const { graderaw: score, grademax: maximum } = item
  if (item['itemtype'] === 'category' || typeof score !== 'number') return ''
  if ((textIn(item, 'scaleid') ?? '0') !== '0') return 'grades on a scale are left out'
  if (typeof maximum !== 'number' || maximum <= 0) return 'grades without a maximum are left out'
  const isWhole = item['itemtype'] === 'course'
  const seconds = item['gradedategraded']
  return recordOf('grades', null, {
    courseId: `own:${course}`,
    learnerId: `own:${textIn(person, 'userid')}`,
    itemId: isWhole ? wholeCourse : textIn(item, 'id'),
    label: isWhole ? '' : (textIn(item, 'itemname') ?? ''),
    scoreGiven: score,
    scoreMaximum: maximum,
    gradedAt: typeof seconds === 'number' && seconds > 0 ? new Date(seconds * 1000).toISOString() : null,
    published: item['gradeishidden'] !== true,
  })
}
