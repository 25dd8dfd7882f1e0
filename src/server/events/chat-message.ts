import type { JsonObject } from '../../codec/json-text.ts'
import { digestEvent, testEvent } from '../../contract/actions.ts'
import type { Database } from '../database/database.ts'
import { type ChatMessage, namesOf, plainText, titlesOf } from './chat-text.ts'
import type { Claimed } from './claim.ts'
import { composeDigest } from './digest.ts'
import type { Delivery } from './endpoint-kind.ts'
import { toChatSettings } from './endpoint-row.ts'

interface Names {
  readonly courses: ReadonlyMap<string, string>
  /** Empty unless the endpoint may have names of learners. */
  readonly users: ReadonlyMap<string, string>
}

interface Event {
  readonly type: string
  readonly data: JsonObject
}

/** One for all messages, in the order in which they happened, or a digest. */
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
