import { setImmediate as nextTurn } from 'node:timers/promises'
import sql, { join, type Sql } from 'sql-template-tag'
import { digestEvent } from '../contract/actions.ts'
import { attentionKinds } from '../contract/constants.ts'
import type { ChatSettings } from '../contract/endpoints.ts'
import { pageOfLearners } from './analytics/learner-pages.ts'
import { readCourseStanding } from './analytics/summary.ts'
import { enqueueFor } from './changes/event-queue.ts'
import type { Database, Row, Store } from './database/database.ts'
import type { IdMaker } from './database/id.ts'
import { type CourseDigest, type Digest, nextDigestAt } from './events/chat-message.ts'
import { type EndpointRow, endpointColumns, isKept, toChatSettings } from './events/endpoint-row.ts'

/** Courses with most learners who need attention come first. */
const maxCourses = 30
/** Maximum courses whose learners are named, and learners of each. */
const [maxNamedCourses, maxNamed] = [10, 5] as const
const dayMs = 24 * 60 * 60 * 1000
/** Longest period of a digest, after a time without a server. */
const maxPeriodMs = 7 * dayMs

/**
 * Queues the digests that are due, each by one of the servers on the database. Nothing is queued for an endpoint that
 * has nothing to tell.
 */
export async function queueDigests({
  database,
  now,
  newId,
}: {
  readonly database: Store
  readonly now: Date
  readonly newId: IdMaker
}): Promise<void> {
  const time = now.toISOString()
  const due = await database.all<EndpointRow & { readonly digest_due_at: string }>(sql`
    select ${endpointColumns}, e.digest_due_at from webhook_endpoints e
    where e.status = 'active' and e.digest_due_at <= ${time} and ${isKept(time)} order by e.created_at, e.id`)
  for (const endpoint of due) {
    const chat = toChatSettings(endpoint)
    if (!chat) continue
    const data = await readDigest(database, chat, periodUntil(now, endpoint.digest_due_at), now)
    await database.write(async (transaction) => {
      const taken = await transaction.run(sql`
        update webhook_endpoints set digest_due_at = ${nextDigestAt(chat, now)}
        where id = ${endpoint.id} and digest_due_at = ${endpoint.digest_due_at} and status = 'active'`)
      if (taken === 0 || data.courses.length === 0) return
      const message = { type: digestEvent, subject: endpoint.id, timestamp: time, data: { ...data } }
      enqueueFor({ database: transaction, now: time, newId }, endpoint, message)
    })
  }
}

/** From a day before the digest was due, so that a late one leaves nothing out. */
function periodUntil(now: Date, dueAt: string): Pick<Digest, 'since' | 'until'> {
  const since = Math.max(Date.parse(dueAt) - dayMs, now.getTime() - maxPeriodMs)
  return { since: new Date(since).toISOString(), until: now.toISOString() }
}

async function readDigest(
  database: Store,
  { courseIds, atRiskOnly, learnerNames }: ChatSettings,
  period: Pick<Digest, 'since' | 'until'>,
  now: Date,
): Promise<Digest> {
  const published = sql`select id from courses where status = 'published'`
  const courses = courseIds.length === 0 ? published : sql`${published} and id in (${join(courseIds)})`
  const none: ReadonlyMap<string, number> = new Map()
  const enrolled = atRiskOnly ? none : await countEnrolled(database, courses, period)
  const completed = atRiskOnly ? none : await countCompleted(database, courses, period)
  const all = (await readAttention(database, courses, now))
    .map(({ courseId, attention }) => ({
      ...{ courseId, attention },
      ...{ enrolled: enrolled.get(courseId) ?? 0, completed: completed.get(courseId) ?? 0 },
    }))
    .filter((course) => course.enrolled + course.completed + countAttention(course) > 0)
    .toSorted((one, other) => countAttention(other) - countAttention(one))
  const shown: CourseDigest[] = []
  for (const [index, course] of all.slice(0, maxCourses).entries()) {
    const isNamed = learnerNames && index < maxNamedCourses
    shown.push({ ...course, learnerIds: isNamed ? await idsAtRisk(database, course, now) : [] })
  }
  return {
    ...period,
    courses: shown,
    moreCourses: Math.max(0, all.length - maxCourses),
  }
}

/** Course by course: other requests are answered in between. */
async function readAttention(
  database: Store,
  courses: Sql,
  now: Date,
): Promise<Pick<CourseDigest, 'courseId' | 'attention'>[]> {
  const all = await database.all<Row & { id: string }>(
    sql`select id from courses where id in (${courses}) order by title, id`,
  )
  const found: Pick<CourseDigest, 'courseId' | 'attention'>[] = []
  for (const { id } of all) {
    found.push({ courseId: id, attention: (await readCourseStanding(database, id, now)).attention })
    await nextTurn()
  }
  return found
}

function countAttention({ attention }: Pick<CourseDigest, 'attention'>): number {
  return attention.inactive + attention.stuck + attention.not_passed
}

function countEnrolled(
  database: Database,
  courses: Sql,
  { since, until }: Pick<Digest, 'since' | 'until'>,
): Promise<ReadonlyMap<string, number>> {
  return countsOf(
    database,
    sql`
    select course_id, count(*) as learners from enrollments
    where created_at >= ${since} and created_at < ${until} and role = 'learner' and status <> 'deleted'
      and course_id in (${courses})
    group by course_id`,
  )
}

function countCompleted(
  database: Database,
  courses: Sql,
  { since, until }: Pick<Digest, 'since' | 'until'>,
): Promise<ReadonlyMap<string, number>> {
  // Progress is found by its last access, which is not before its completion.
  return countsOf(
    database,
    sql`
    select course_id, count(*) as learners from progress
    where course_id in (${courses}) and last_accessed >= ${since} and completed_at >= ${since} and completed_at < ${until}
    group by course_id`,
  )
}

async function countsOf(database: Database, query: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await database.all<Row & { course_id: string; learners: number }>(query)
  return new Map(rows.map(({ course_id: courseId, learners }) => [courseId, Number(learners)]))
}

async function idsAtRisk(
  database: Database,
  { courseId, attention }: Pick<CourseDigest, 'courseId' | 'attention'>,
  now: Date,
): Promise<readonly string[]> {
  const ids = new Set<string>()
  for (const kind of attentionKinds.filter((kind) => attention[kind] > 0)) {
    const filter = { courseId, attention: kind, sort: 'name' }
    const { data } = await pageOfLearners(database, filter, now, { limit: maxNamed })
    for (const { learnerId } of data) ids.add(learnerId)
  }
  return [...ids].slice(0, maxNamed)
}
