import sql, { join } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-text.ts'
import { findTimeZone, utc } from '../../codec/time-zone.ts'
import { digestEvent, testEvent } from '../../contract/actions.ts'
import type { ChatSettings } from '../../contract/endpoints.ts'
import type { Database, Row } from '../database/database.ts'
import type { Claimed, Delivery } from './delivery.ts'
import { type EndpointRow, toChatSettings } from './endpoint-row.ts'

export interface ChatMessage {
  readonly title: string
  readonly lines: readonly string[]
  /** URL of the dashboard; null if the server does not know its own address. */
  readonly link: string | null
}

interface Names {
  readonly courses: ReadonlyMap<string, string>
  /** Empty unless the endpoint may have names of learners. */
  readonly users: ReadonlyMap<string, string>
}

interface Event {
  readonly type: string
  readonly data: JsonObject
}

export async function composeMessage(
  messages: readonly Claimed[],
  { endpoint, database, dashboardUrl: link }: Delivery,
): Promise<ChatMessage> {
  const digest = messages.findLast(({ type }) => type === digestEvent)
  const others = messages.filter(({ type }) => type !== digestEvent)
  const events = others.map(({ type, body }): Event => ({ type, data: JSON.parse(body).data }))
  const { learnerNames = false } = toChatSettings(endpoint) ?? {}
  const names = await readNames(database, events, learnerNames)
  const lines = events.map((event) => sentenceOf(event, names))
  if (digest) {
    const message = await composeDigest(digest, { endpoint, database, link })
    return { ...message, lines: [...message.lines, ...lines] }
  }
  const [only = ''] = lines
  if (lines.length === 1) return { title: only, lines: [], link }
  return { title: `${lines.length} events`, lines, link }
}

async function readNames(
  database: Pick<Database, 'all'>,
  events: readonly Event[],
  learnerNames: boolean,
): Promise<Names> {
  const courseIds = idsIn(events, ['courseId'])
  const userIds = learnerNames ? idsIn(events, ['learnerId', 'userId']) : []
  if (learnerNames) {
    userIds.push(
      ...events.flatMap(({ type, data }) => (type.startsWith('user.') ? [String(data['id'])] : [])),
    )
  }
  return { courses: await titlesOf(database, courseIds), users: await namesOf(database, userIds) }
}

function idsIn(events: readonly Event[], fields: readonly string[]): string[] {
  const all = events.flatMap(({ data }) => fields.map((field) => data[field]))
  return [...new Set(all.filter((id) => typeof id === 'string'))]
}

/** Sentences by event type; `{who}` is a person, `{course}` a course, other names are fields of the event. */
const sentences: Readonly<Record<string, string>> = {
  [testEvent]: 'This is a test message from learnctl. Messages of the academy arrive in this channel.',
  'course.created': 'Course {title} was created.',
  'course.updated': 'Course {title} was changed.',
  'course.published': 'Course {title} was published.',
  'course.unpublished': 'Course {title} was unpublished.',
  'course.archived': 'Course {title} was archived.',
  'course.deleted': 'Course {title} was deleted.',
  'course.restored': 'Course {title} was restored.',
  'course.erased': 'A course was erased.',
  'lesson.created': 'Lesson {title} was added to {course}.',
  'lesson.updated': 'Lesson {title} of {course} was changed.',
  'lesson.published': 'Lesson {title} of {course} was published.',
  'lesson.unpublished': 'Lesson {title} of {course} was unpublished.',
  'lesson.deleted': 'Lesson {title} of {course} was deleted.',
  'lesson.restored': 'Lesson {title} of {course} was restored.',
  'lesson.erased': 'A lesson was erased.',
  'user.created': '{Who} was added as {role}.',
  'user.updated': 'The account of {who} was changed.',
  'user.suspended': '{Who} was suspended.',
  'user.activated': '{Who} was activated.',
  'user.deleted': '{Who} was deleted.',
  'user.restored': '{Who} was restored.',
  'user.erased': 'A user was erased.',
  'enrollment.created': '{Who} was enrolled in {course} as {role}.',
  'enrollment.updated': 'The enrolment of {who} in {course} is {status}.',
  'enrollment.completed': '{Who} completed {course}.',
  'enrollment.deleted': '{Who} was removed from {course}.',
  'enrollment.restored': '{Who} is enrolled in {course} again.',
  'group.created': 'Group {name} was created.',
  'group.updated': 'Group {name} was changed.',
  'group.deleted': 'Group {name} was deleted.',
  'group.restored': 'Group {name} was restored.',
  'group.erased': 'A group was erased.',
  'membership.created': '{Who} joined a group.',
  'membership.deleted': '{Who} left a group.',
  'progress.updated': '{Who} is at {completionPercentage}% in {course}.',
  'progress.completed': '{Who} completed {course}.',
  'grade.updated': '{Who} has {grade} in {course}.',
  'grade.deleted': 'A grade of {who} in {course} was deleted.',
}

function sentenceOf({ type, data }: Event, names: Names): string {
  const values: JsonObject = {
    ...data,
    who: personIn(type, data, names),
    course: names.courses.get(String(data['courseId'])) ?? data['courseExternalId'] ?? 'a course',
    grade: typeof data['percent'] === 'number' ? `${Math.round(data['percent'])}%` : 'no grade',
  }
  const template = sentences[type] ?? `Something happened: ${type}`
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'Who') return capitalized(plainText(values['who']))
    return plainText(values[name])
  })
}

function personIn(type: string, data: JsonObject, { users }: Names): string {
  const isUser = type.startsWith('user.')
  const id = isUser ? data['id'] : (data['learnerId'] ?? data['userId'])
  const name = users.get(String(id))
  if (name !== undefined) return name
  const noun = isUser || type.startsWith('membership.') ? 'user' : nounOf(data['role'])
  const externalId = isUser ? data['externalId'] : data['userExternalId']
  return typeof externalId === 'string' ? `${noun} ${externalId}` : `a ${noun}`
}

function nounOf(role: unknown): string {
  return role === 'instructor' ? 'user' : 'learner'
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Returns the first time of a digest after another time, by the hour in the time zone of the endpoint. */
export function nextDigestAt(
  { digestHour, digestTimezone }: Pick<ChatSettings, 'digestHour' | 'digestTimezone'>,
  now: Date,
): string {
  const zone = findTimeZone(digestTimezone) ?? utc
  const clockMs = zone.clockAt(now.getTime())
  const today = clockMs - (clockMs % dayMs)
  const times = [today, today + dayMs].map((dayMs) => zone.instantOf(dayMs + digestHour * hourMs))
  return new Date(times.find((time) => time > now.getTime()) ?? now.getTime() + dayMs).toISOString()
}

export interface CourseDigest {
  readonly courseId: string
  readonly enrolled: number
  readonly completed: number
  readonly attention: Readonly<Record<'inactive' | 'stuck' | 'not_passed', number>>
  /** The first learners who need attention, if the endpoint may have their names. */
  readonly learnerIds: readonly string[]
}

/** As it is queued: without names. */
export interface Digest {
  /** ISO 8601 in UTC. */
  readonly since: string
  readonly until: string
  readonly courses: readonly CourseDigest[]
  readonly moreCourses: number
}

interface DigestContext {
  readonly endpoint: EndpointRow
  readonly database: Database
  readonly link: string | null
}

/** A line for each course, with names only if the endpoint may have them. */
async function composeDigest(message: Claimed, context: DigestContext): Promise<ChatMessage> {
  const { endpoint, database, link } = context
  const { until, courses, moreCourses } = JSON.parse(message.body).data as Digest
  const { learnerNames = false, digestTimezone = 'UTC' } = toChatSettings(endpoint) ?? {}
  const titles = await titlesOf(
    database,
    courses.map(({ courseId }) => courseId),
  )
  const learnerIds = learnerNames ? courses.flatMap(({ learnerIds }) => learnerIds) : []
  const names = await namesOf(database, [...new Set(learnerIds)])
  const lines = courses.map((course) => {
    const named = course.learnerIds.flatMap((id) => names.get(id) ?? [])
    return lineOf(titles.get(course.courseId) ?? 'A course', course, named)
  })
  if (moreCourses > 0) lines.push(`… and ${moreCourses} more ${moreCourses === 1 ? 'course' : 'courses'}`)
  return { title: `Digest of ${dayOf(until, digestTimezone)}`, lines, link }
}

function lineOf(
  title: string,
  { enrolled, completed, attention }: CourseDigest,
  named: readonly string[],
): string {
  const happened = [
    ...(enrolled > 0 ? [`${enrolled} enrolled`] : []),
    ...(completed > 0 ? [`${completed} completed`] : []),
  ]
  const needs = [
    ...(attention.inactive > 0 ? [`${attention.inactive} inactive`] : []),
    ...(attention.stuck > 0 ? [`${attention.stuck} stuck`] : []),
    ...(attention.not_passed > 0 ? [`${attention.not_passed} not passed`] : []),
  ]
  const who = named.length > 0 ? ` (${named.map(plainText).join(', ')})` : ''
  const parts = [happened.join(', '), needs.length > 0 ? `needs attention: ${needs.join(', ')}${who}` : '']
  return `${plainText(title)}: ${parts.filter((part) => part !== '').join('; ')}`
}

function dayOf(time: string, timezone: string): string {
  const zone = findTimeZone(timezone) ?? utc
  const day = new Date(zone.clockAt(Date.parse(time)))
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(day)
}

/** Without characters that control the display. */
function plainText(value: unknown): string {
  const line = String(value ?? '')
    .replace(/[\p{Cc}\s\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim()
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength - 1).toWellFormed()}…` : line
}

const maxTextLength = 200

function titlesOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return mapOf(database, ids, sql`select id, title as name from courses`)
}

/** By id; users without a name have their external id. */
function namesOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const name = sql`trim(coalesce(profile ->> 'firstName', '') || ' ' || coalesce(profile ->> 'lastName', ''))`
  return mapOf(
    database,
    ids,
    sql`select id, coalesce(nullif(${name}, ''), external_id, id) as name from users`,
  )
}

async function mapOf(
  database: Pick<Database, 'all'>,
  ids: readonly string[],
  select: ReturnType<typeof sql>,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await database.all<Row & { id: string; name: string }>(
    sql`${select} where id in (${join(ids)})`,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
