import sql, { join } from 'sql-template-tag'
import type { JsonObject } from '../../codec/json-text.ts'
import { statementEvents, testEvent } from '../../contract/actions.ts'
import { type Statement, XapiSettings } from '../../contract/statements.ts'
import { type LearningRecord, StatementMaker, type Subject } from '../../lms/xapi.ts'
import type { Database, Row } from '../database/database.ts'
import type { Claimed } from './claim.ts'
import type { EndpointDelivery } from './endpoint-kind.ts'
import { toXapiSettings } from './endpoint-row.ts'
import type { Outcome } from './outcome.ts'
import { storeStatements } from './record-store.ts'

/**
 * A learning record store (xAPI 1.0.3 and 2.0): due messages become statements, in batches. Statements have the same
 * ids each time, so that a store keeps one that arrives twice once.
 */
export const xapiDelivery: EndpointDelivery = {
  maxMessages: 500,
  maxConcurrent: 1,
  intervalMs: 0,

  async deliver(messages, delivery) {
    const { endpoint, database } = delivery
    const settings = toXapiSettings(endpoint) ?? XapiSettings.parse({})
    const maker = new StatementMaker({ ...settings, version: settings.xapiVersion })
    const statementsById = new Map<string, Statement>()
    const idsByMessage = new Map<string, string[]>()
    const known = await readKnown(database, messages)
    for (const message of messages) {
      const made =
        message.type === testEvent
          ? [maker.test(endpoint.id, endpoint.created_at)]
          : recordsOf(message, known).map((record) => maker.statementOf(record))
      for (const statement of made) statementsById.set(statement.id, statement)
      idsByMessage.set(
        message.id,
        made.map(({ id }) => id),
      )
    }
    const outcomes = await storeStatements([...statementsById.values()], settings, delivery)
    return messages.map(({ id }) => {
      const own = (idsByMessage.get(id) ?? []).flatMap((each) => outcomes.get(each) ?? [])
      return own.find(({ kind }) => kind !== 'delivered') ?? own[0] ?? nothingToSend
    })
  },
}

/** For a message without a statement, such as about a grade that is not published. */
const nothingToSend: Outcome = {
  ...{ kind: 'delivered', status: null, response: '', pauseMs: 0 },
  result: 'Nothing to send: the event makes no statement',
}

interface UserRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly email: string
}

interface CourseRow extends Row {
  readonly id: string
  readonly title: string
  readonly language: string | null
  readonly passing_score: number
}

interface CourseGradeRow extends Row {
  readonly user_id: string
  readonly course_id: string
  readonly percent: number
  readonly updated_at: string
}

/** By id. */
interface Known {
  readonly users: ReadonlyMap<string, UserRow>
  readonly courses: ReadonlyMap<string, CourseRow>
  readonly grades: ReadonlyMap<string, CourseGradeRow>
}

/** What events do not have: the title of a course, the identifiers of a learner, and the grade of the course. */
async function readKnown(database: Pick<Database, 'all'>, messages: readonly Claimed[]): Promise<Known> {
  const data = messages.filter(({ type }) => isStatementEvent(type)).map(dataOf)
  const userIds = [...new Set(data.map(({ learnerId }) => String(learnerId)))]
  const courseIds = [...new Set(data.map(({ courseId }) => String(courseId)))]
  if (data.length === 0) return { users: new Map(), courses: new Map(), grades: new Map() }
  const [users, courses, grades] = await Promise.all([
    database.all<UserRow>(
      sql`select id, external_id, email from users where id in (${join(userIds)}) and status <> 'deleted'`,
    ),
    database.all<CourseRow>(sql`
      select id, title, attributes ->> 'language' as language, passing_score
      from courses where id in (${join(courseIds)})`),
    database.all<CourseGradeRow>(sql`
      select user_id, course_id, percent, updated_at from course_grades
      where user_id in (${join(userIds)}) and course_id in (${join(courseIds)})`),
  ])
  return {
    users: new Map(users.map((user) => [user.id, user])),
    courses: new Map(courses.map((course) => [course.id, course])),
    grades: new Map(grades.map((grade) => [pairOf(grade.user_id, grade.course_id), grade])),
  }
}

function isStatementEvent(type: string): boolean {
  return (statementEvents as readonly string[]).includes(type)
}

function dataOf({ body }: Claimed): JsonObject {
  // The server wrote the body.
  return (JSON.parse(body) as { data: JsonObject }).data
}

function pairOf(userId: string, courseId: string): string {
  return `${userId} ${courseId}`
}

/** Nothing if the learner or the course was deleted. */
function recordsOf(message: Claimed, { users, courses, grades }: Known): LearningRecord[] {
  if (!isStatementEvent(message.type)) return []
  const data = dataOf(message)
  const user = users.get(String(data['learnerId']))
  const course = courses.get(String(data['courseId']))
  if (!user || !course) return []
  const subject: Subject = {
    learner: { id: user.id, externalId: user.external_id, email: user.email },
    course: { id: course.id, title: course.title, language: course.language },
  }
  if (message.type === 'grade.updated') {
    const own = gradeOf(subject, data)
    const grade = grades.get(pairOf(user.id, course.id))
    if (!grade) return own
    const { percent, updated_at: updatedAt } = grade
    const record = { ...subject, percent, passed: percent >= course.passing_score, updatedAt }
    return [...own, { kind: 'courseGrade', record }]
  }
  const record = {
    ...subject,
    version: Number(data['version']),
    completionPercentage: Number(data['completionPercentage']),
    lastAccessed: String(data['lastAccessed']),
  }
  return [{ kind: message.type === 'progress.completed' ? 'completion' : 'progress', record }]
}

/** Nothing for a grade that is cleared, or not published. */
function gradeOf(subject: Subject, data: JsonObject): LearningRecord[] {
  const { scoreGiven, published } = data
  if (typeof scoreGiven !== 'number' || published !== true) return []
  return [
    {
      kind: 'grade',
      record: {
        ...subject,
        id: String(data['id']),
        version: Number(data['version']),
        itemId: String(data['itemId']),
        label: String(data['label'] ?? ''),
        scoreGiven,
        scoreMaximum: Number(data['scoreMaximum']),
        gradedAt: String(data['gradedAt']),
      },
    },
  ]
}
