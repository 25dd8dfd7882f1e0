import { findTimeZone, utc } from '../../codec/time-zone.ts'
import type { ChatSettings } from '../../contract/endpoints.ts'
import type { Database } from '../database/database.ts'
import { type ChatMessage, namesOf, plainText, titlesOf } from './chat-text.ts'
import type { Claimed } from './claim.ts'
import { type EndpointRow, toChatSettings } from './endpoint-row.ts'

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

/** Events of a course in the period of a digest, and the learners who need attention at its end. */
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
  /** Courses besides `courses`. */
  readonly moreCourses: number
}

interface DigestContext {
  readonly endpoint: EndpointRow
  readonly database: Database
  readonly link: string | null
}

/** A line for each course, with names only if the endpoint may have them. */
export async function composeDigest(message: Claimed, context: DigestContext): Promise<ChatMessage> {
  const { endpoint, database, link } = context
  // `queueDigests` wrote the body.
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

/** `23 November 2026`. */
function dayOf(time: string, timezone: string): string {
  const zone = findTimeZone(timezone) ?? utc
  const day = new Date(zone.clockAt(Date.parse(time)))
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(day)
}
