import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import {
  displayNameIn,
  itemIn,
  noName,
  noTerm,
  openDays,
  roleNamed,
  rosterEnrollmentRoles,
} from './oneroster-mapping.ts'
import {
  busy,
  hiddenPage,
  jsonIn,
  type LmsRecord,
  nextLinkIn,
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

const title = 'OneRoster'
const pageSize = 500
const requestsAtOnce = 4
const waitSeconds = 10

/** Scopes that reading needs; a provider may also grant what the client has if none is named. */
export const oneRosterScopes = ['roster.readonly', 'gradebook.readonly'].map(
  (name) => `https://purl.imsglobal.org/spec/or/v1p2/scope/${name}`,
)

/**
 * Reads a provider of OneRoster over REST: 1.2, else 1.1 (1EdTech, OneRoster 1.2 REST/JSON binding). The base URL is the
 * part before the service and the version. Each class is a course, as in packages.
 */
export const oneRosterRecords: RecordSystem = {
  title,
  requestsAtOnce,
  lists: [
    { part: 'terms', of: null },
    { part: 'courses', of: null },
    { part: 'users', of: null },
    { part: 'enrollments', of: null },
    { part: 'grades', of: 'courses' },
  ],
  request: (question, token) => readRequest(pathOf(question, placeIn(question.position)), `Bearer ${token}`),
  read(response, question) {
    const place = placeIn(question.position)
    const trouble = troubleIn(response, question, place)
    if (trouble) return trouble
    const found = jsonIn(response)
    if ('refusal' in found) return found
    const name = place.item ? 'results' : listNames[question.part as Part]
    const list = rowsIn(
      isJsonObject(found.json) ? found.json[name] : undefined,
      `it sent no list of ${name}: check the base URL`,
    )
    if ('refusal' in list) return list
    return question.part === 'grades'
      ? gradesIn(response, question, place, list.rows)
      : recordsIn(response, question, place, list.rows)
  },
}

type Part = 'terms' | 'courses' | 'users' | 'enrollments' | 'grades'

/** Grades are read line item by line item. */
const listNames: Readonly<Record<Part, string>> = {
  terms: 'academicSessions',
  courses: 'classes',
  users: 'users',
  enrollments: 'enrollments',
  grades: 'lineItems',
}

/** For results, `item` is the line item that they are of. */
interface PagePlace {
  readonly version: '1.2' | '1.1'
  readonly offset: number
  readonly item?: LineItem | undefined
  /** Id of the first record of the page before, of a provider that does not say how many there are. */
  readonly before?: string | undefined
}

interface LineItem {
  readonly sourcedId: string
  readonly label: string
  readonly max: number
  readonly at: number
}

function placeIn(position: string | null): PagePlace {
  if (position === null) return { version: '1.2', offset: 0 }
  // `placeText` made the position, and the client returns it encrypted.
  return JSON.parse(position) as PagePlace
}

function placeText(place: PagePlace): string {
  return JSON.stringify(place)
}

function pathOf({ part, of }: RecordQuestion, { version, offset, item }: PagePlace): `/${string}` {
  const service = part === 'grades' ? 'gradebook' : 'rostering'
  const base: `/${string}` = version === '1.1' ? '/v1p1' : `/${service}/v1p2`
  const course = `/classes/${encodeURIComponent(of ?? '')}`
  if (part !== 'grades') return `${base}/${listNames[part as Part]}?limit=${pageSize}&offset=${offset}`
  if (!item) return `${base}${course}/lineItems?limit=1&offset=${offset}`
  const results = `${course}/lineItems/${encodeURIComponent(item.sourcedId)}/results`
  return `${base}${results}?limit=${pageSize}&offset=${offset}`
}

/** Returns why a response has no list, or where it is instead; undefined for a list. */
function troubleIn(
  response: RecordResponse,
  { part, of }: RecordQuestion,
  place: PagePlace,
): RecordPage | RecordRefusal | undefined {
  const { status } = response
  if (status === 200) return undefined
  if (status === 429 || status >= 500) {
    const detail = status === 429 ? 'the client has sent too many requests' : `it answers with HTTP ${status}`
    return busy(response, detail, waitSeconds)
  }
  if (status >= 300 && status < 400) {
    return refusal('answer', `it redirects to another page: check the base URL`)
  }
  if (status === 401)
    return refusal('token', 'the access token is not accepted; check the client id and the client secret')
  if (status === 403) {
    const scope = part === 'grades' ? 'gradebook.readonly' : 'roster.readonly'
    if (part !== 'grades')
      return refusal('permission', `the client may not read ${part}: it needs the scope ${scope}`)
    const text = `class does not show its grades to this client, for want of the scope ${scope}`
    return hiddenPage('grades', text)
  }
  if (status === 404 && of === null && place.version === '1.2' && place.offset === 0) {
    return { records: [], next: placeText({ version: '1.1', offset: 0 }) }
  }
  if (status === 404 && part === 'grades') {
    if (place.version === '1.2' && !place.item && place.offset === 0) {
      return { records: [], next: placeText({ version: '1.1', offset: 0 }) }
    }
    const text = 'class does not show its grades to this client (HTTP 404)'
    const next = place.item ? placeText({ version: place.version, offset: place.item.at + 1 }) : null
    return hiddenPage('grades', text, { next })
  }
  const detail = status === 404 ? 'knows no such list' : `answers with HTTP ${status}`
  return refusal(
    'answer',
    `it ${detail}: check the base URL, which ends before the service, as in https://sis.example.org/ims/oneroster`,
  )
}

/** Null after the last page. A refusal for an empty page before the end. */
function nextPlace(
  response: RecordResponse,
  { before: _, ...place }: PagePlace,
  rows: readonly JsonObject[],
): PagePlace | null | RecordRefusal {
  const { offset } = place
  const { headers } = response
  const linked = Number(nextLinkIn(response)?.get('offset') ?? Number.NaN)
  // A provider that leads back would never end.
  if (linked > offset) return { ...place, offset: linked }
  const total = Number(headers['x-total-count'] ?? Number.NaN)
  const [first] = rows
  if (!first) {
    return offset < total ? refusal('answer', `a page is empty, although X-Total-Count is ${total}`) : null
  }
  const next = { ...place, offset: offset + rows.length }
  if (!Number.isNaN(total)) return next.offset < total ? next : null
  if (headers['link'] !== undefined) return rows.length < pageSize ? null : next
  // Its pages may be shorter than asked for, so that only an empty one is known to be the last.
  return { ...next, before: idOf(first) }
}

/** A provider that knows no pages sends the same one again. */
function isRepeated({ before }: PagePlace, [first]: readonly JsonObject[]): boolean {
  return before !== undefined && first !== undefined && idOf(first) === before
}

function recordsIn(
  response: RecordResponse,
  { part }: RecordQuestion,
  place: PagePlace,
  rows: readonly JsonObject[],
): RecordPage | RecordRefusal {
  const read = readers[part as keyof typeof readers]
  if (isRepeated(place, rows)) return { records: [], next: null }
  const next = nextPlace(response, place, rows)
  if (next !== null && 'refusal' in next) return next
  // A package has no records to be deleted either, unless it is a delta.
  return { ...readEach(rows.filter(isActive), read), next: next && placeText(next) }
}

function isActive(row: JsonObject): boolean {
  const status = textIn(row, 'status') ?? 'active'
  return status.toLowerCase() === 'active'
}

const readers = { terms: termOf, courses: courseOf, users: userOf, enrollments: enrollmentOf } as const

function idOf(row: JsonObject): string {
  return textIn(row, 'sourcedId') ?? ''
}

function refIn(row: JsonObject, name: string): string | null {
  const ref = row[name]
  return isJsonObject(ref) ? textIn(ref, 'sourcedId') : null
}

function termOf(row: JsonObject): RowRecords {
  if (idOf(row) === noTerm.id) return ''
  if (textIn(row, 'type') === 'gradingPeriod') return 'grading periods are left out'
  const day = (name: 'startDate' | 'endDate') => {
    const text = textIn(row, name)?.slice(0, 10) ?? null
    return text === openDays[name] ? null : text
  }
  const days = { startDate: day('startDate'), endDate: day('endDate') }
  const record = { externalId: idOf(row), name: textIn(row, 'title') ?? '', ...days }
  return { part: 'terms', id: idOf(row), record }
}

function courseOf(row: JsonObject): RowRecords {
  const [term] = objectsIn(row['terms']).map((one) => textIn(one, 'sourcedId'))
  const isInTerm = term !== undefined && term !== null && term !== noTerm.id
  return recordOf('courses', idOf(row), {
    externalId: idOf(row),
    title: textIn(row, 'title') ?? '',
    term: isInTerm ? `ext:${term}` : null,
  })
}

function userOf(row: JsonObject): RowRecords {
  const roles = objectsIn(row['roles'])
  const primary = roles.find((one) => textIn(one, 'roleType') === 'primary') ?? roles[0]
  const role = roleNamed((primary ? textIn(primary, 'role') : textIn(row, 'role')) ?? '')
  if (role === null) return 'people without a role in an academy are left out'
  const name = (field: string) => {
    const text = textIn(row, field)
    return text === noName ? null : text
  }
  const [first, last] = [name('givenName'), name('familyName')]
  const preferred = [textIn(row, 'preferredFirstName') ?? '', textIn(row, 'preferredLastName') ?? ''] as const
  const [email, username] = [textIn(row, 'email'), textIn(row, 'username')]
  return recordOf('users', idOf(row), {
    externalId: idOf(row),
    ...{ email, username: username === email ? null : username, firstName: first, lastName: last, role },
    displayName: displayNameIn(preferred, [first ?? '', last ?? '']) || null,
    status: String(row['enabledUser'] ?? 'true').toLowerCase() === 'false' ? 'suspended' : 'active',
  })
}

function enrollmentOf(row: JsonObject): RowRecords {
  const role = rosterEnrollmentRoles.get((textIn(row, 'role') ?? '').toLowerCase())
  if (!role) return 'enrolments with other roles than student and teacher are left out'
  const [course, user] = [refIn(row, 'class'), refIn(row, 'user')]
  if (course === null || user === null) return 'enrolments without a class or a user are left out'
  return recordOf('enrollments', null, {
    ...{ courseId: `ext:${course}`, userId: `ext:${user}`, role, status: 'active' },
    firstDay: textIn(row, 'beginDate')?.slice(0, 10),
  })
}

function gradesIn(
  response: RecordResponse,
  { of }: RecordQuestion,
  place: PagePlace,
  rows: readonly JsonObject[],
): RecordPage | RecordRefusal {
  const { version, offset, item } = place
  if (!item) {
    const [row] = rows
    if (!row) {
      const end = nextPlace(response, place, rows)
      return end !== null && 'refusal' in end ? end : { records: [], next: null }
    }
    const max = row['resultValueMax']
    const found: LineItem = {
      sourcedId: idOf(row),
      label: (textIn(row, 'title') ?? '').slice(0, 255),
      max: typeof max === 'number' && max > 0 ? max : 100,
      at: offset,
    }
    const next = isActive(row) ? { version, offset: 0, item: found } : { version, offset: offset + 1 }
    return { records: [], next: placeText(next) }
  }
  const nextItem = { version, offset: item.at + 1 }
  if (isRepeated(place, rows)) return { records: [], next: placeText(nextItem) }
  const more = nextPlace(response, place, rows)
  if (more !== null && 'refusal' in more) return more
  const records = rows.flatMap((row) => gradeOf(row, of ?? '', item))
  return { records, next: placeText(more ?? nextItem) }
}

function gradeOf(row: JsonObject, course: string, { sourcedId, label, max }: LineItem): LmsRecord[] {
  const [scoreGiven, student] = [row['score'], refIn(row, 'student')]
  const status = (textIn(row, 'scoreStatus') ?? '').toLowerCase()
  if (!isActive(row) || typeof scoreGiven !== 'number' || student === null || status === 'exempt') return []
  const day = textIn(row, 'scoreDate')?.slice(0, 10)
  const of = { courseId: `ext:${course}`, learnerId: `ext:${student}`, itemId: itemIn(sourcedId, course) }
  const score = { scoreGiven, scoreMaximum: max, gradedAt: day && `${day}T00:00:00.000Z` }
  return [recordOf('grades', null, { ...of, label, ...score, published: status !== 'partially graded' })]
}
