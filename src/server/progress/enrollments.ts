import { isDeepStrictEqual } from 'node:util'
import sql, { join, type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import {
  Enrollment,
  EnrollmentInput,
  EnrollmentRole,
  EnrollmentStatus,
  enrollments,
} from '../../contract/enrollments.ts'
import {
  instructorEnrollment,
  recordFilters,
  seenOnly,
  visibleCourses,
  visibleRecords,
  visibleUsers,
} from '../access/sight.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import { findCourse, requireOpen } from '../courses/course-row.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { matchesReference, referenceFilter } from '../database/reference.ts'
import { enrollmentsOfMembers, ofMembers } from '../groups/group-row.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { invalid, notFound, ProblemError, parentNotFound } from '../problem-error.ts'
import { requireNotDeleted } from '../users/user-row.ts'
import { enrollmentColumns, toEnrollment } from './enrollment-row.ts'

const order = { createdAt: sql`e.created_at`, updatedAt: sql`e.updated_at`, enrolledAt: sql`e.enrolled_at` }

export const enrollmentRoutes = routesOf(enrollments, {
  async list(call) {
    const { query, database } = call
    const by = await recordFilters(call, 'e', 'user_id')
    const inTerm = await referenceFilter(sql`term_id`, database, 'terms', query.term_id, 'term_id')
    return page(
      database,
      {
        columns: enrollmentColumns,
        from: sql`enrollments e`,
        by: [...by, inTerm && sql`e.course_id in (select id from courses where ${inTerm})`],
        where: [!query.status && sql`e.status <> 'deleted'`],
        narrow: [
          await ofMembers(call, query.group_id, sql`e.user_id`, enrollmentsOfMembers),
          isStanding(query),
        ],
        within: [
          { field: 'enrolledAt', condition: during(order.enrolledAt, query) },
          {
            field: 'updatedAt',
            condition: during(sql`e.updated_at`, { since: query.updated_since }),
          },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`e.id` },
      query,
      toEnrollment,
    )
  },

  get: (call) => findVisible(call, call.params.enrollmentId),

  create: (call) => createEnrollment(call),

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'fail')
    return runBatch(call, items, async (item, index) => {
      if (index === 0) await readUsers(item, items)
      const found = await findExisting(item)
      const before = found?.enrollment?.status === 'deleted' ? undefined : found?.enrollment
      return upsert(
        onExists,
        before,
        () => createEnrollment(item, found),
        (id) => updateEnrollment(withoutReopening(item, before), id),
      )
    })
  },

  update: (call) => updateEnrollment(call, call.params.enrollmentId),

  async delete(call) {
    const current = await findVisible(call, call.params.enrollmentId)
    requireVersion(call, current.version)
    await requireOpen(call, await findCourse(call.database, current.courseId))
    await write(call, current, { ...current, status: 'deleted' })
    return undefined
  },
})

/** Names both, so that their index is used. */
function isStanding({ role, status }: Call<typeof enrollments.list>['query']): Sql | undefined {
  if (role === undefined && status === undefined) return undefined
  return sql`e.role in (${join(role ? [role] : EnrollmentRole.options)})
    and e.status in (${join(status ?? EnrollmentStatus.options)})`
}

async function createEnrollment(call: Call, found?: LookedUp): Promise<Enrollment> {
  const { database, now } = call
  const input = resourceOf(call, EnrollmentInput, Enrollment)
  const { course, user, shown } = await requireParents(call, input)
  const { courseId, userId } = shown
  await requireKnown(call, input.userId, user)
  await requireOpen(call, course)
  const isFound =
    found && (['courseId', 'userId', 'role'] as const).every((field) => found[field] === input[field])
  const before = isFound ? found.enrollment : await findEnrollment(database, courseId, userId, input.role)
  if (before && before.status !== 'deleted') {
    throw new ProblemError(
      'duplicate',
      `User ${shown.userEmail} is already enrolled in course ${shown.courseTitle} as ${input.role}: ${before.id} (${before.status}).`,
      { members: { id: before.id, existingStatus: before.status } },
    )
  }
  requireNotDeleted(user, input.userId)
  const enrolledAt = input.enrolledAt ?? now
  if (before) return write(call, before, { ...input, enrolledAt })
  const id = call.newId('enr')
  const { role, status, managedBy } = input
  const completedAt = status === 'completed' ? now : null
  await database.run(sql`
    insert into enrollments (id, course_id, user_id, role, status, enrolled_at, completed_at, source, managed_by,
                             version, created_at, updated_at, user_email)
    values (${id}, ${courseId}, ${userId}, ${role}, ${status}, ${enrolledAt}, ${completedAt}, 'api',
            ${managedBy}, 1, ${now}, ${now}, ${shown.userEmail})`)
  const enrollment: Enrollment = {
    id,
    ...shown,
    role,
    status,
    enrolledAt,
    completedAt,
    source: 'api',
    managedBy,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  await recordChange(call, { action: 'enrollment.created', id, before: null, after: enrollment })
  return enrollment
}

async function updateEnrollment(call: Call, id: string): Promise<Enrollment> {
  const current = await findVisible(call, id)
  const input = resourceOf(call, EnrollmentInput, Enrollment, current)
  requireVersion(call, current.version)
  const { course, user, shown } = await requireParents(call, input)
  for (const field of ['courseId', 'userId', 'role'] as const) {
    if ({ ...input, ...shown }[field] === current[field]) continue
    const detail = 'cannot be changed; delete this enrolment and create another'
    throw invalid([{ pointer: `#/${field}`, code: 'read_only', detail }])
  }
  await requireOpen(call, course)
  if (current.status === 'deleted' && input.status !== 'deleted') requireNotDeleted(user, input.userId)
  return write(call, current, { ...input, enrolledAt: input.enrolledAt ?? current.enrolledAt })
}

async function write(
  call: Call,
  current: Enrollment,
  { status, enrolledAt, managedBy }: Pick<Enrollment, 'status' | 'enrolledAt' | 'managedBy'>,
): Promise<Enrollment> {
  const { id, version } = current
  if (
    isDeepStrictEqual(
      [status, enrolledAt, managedBy],
      [current.status, current.enrolledAt, current.managedBy],
    )
  )
    return current
  const completedAt = status === 'completed' ? (current.completedAt ?? call.now) : current.completedAt
  await call.database.run(sql`
    update enrollments set
      status = ${status}, enrolled_at = ${enrolledAt}, completed_at = ${completedAt}, managed_by = ${managedBy},
      version = version + 1, updated_at = ${call.now}
    where id = ${id} and version = ${version}`)
  const written = await find(call.database, id)
  await recordUpdate(call, 'enrollment', current, written, statusActionOf(current.status, status))
  return written
}

/** Undefined if the change is no more specific than an update. */
function statusActionOf(from: Enrollment['status'], to: Enrollment['status']) {
  if (from === 'deleted') return 'enrollment.restored'
  return {
    completed: 'enrollment.completed',
    deleted: 'enrollment.deleted',
    active: undefined,
    inactive: undefined,
  }[to] as 'enrollment.completed' | 'enrollment.deleted' | undefined
}

function findVisible(call: Call, id: string): Promise<Enrollment> {
  return find(call.database, id, visibleRecords(call, 'e'))
}

async function find(database: Database, id: string, visible?: Sql): Promise<Enrollment> {
  const row = await database.one(
    sql`select ${enrollmentColumns} from enrollments e where ${seenOnly(sql`e.id = ${id}`, visible)}`,
  )
  if (!row) throw notFound('enrolment', id)
  return toEnrollment(row)
}

/** Drops `status: active` for a completed enrolment: the item repeats the initial status and must not reopen it. */
function withoutReopening(item: Call, before: Enrollment | undefined): Call {
  if (before?.status !== 'completed' || !isJsonObject(item.rawBody)) return item
  const { status, ...rest } = item.rawBody
  return status === 'active' ? { ...item, rawBody: rest } : item
}

/** `enrollment` is undefined if there is none, not even a deleted one. */
interface LookedUp {
  readonly courseId: string
  readonly userId: string
  readonly role: string
  readonly enrollment: Enrollment | undefined
}

async function findExisting(call: Call): Promise<LookedUp | undefined> {
  const { database, rawBody } = call
  if (!isJsonObject(rawBody)) return undefined
  const { courseId, userId, role = 'learner' } = rawBody
  if (typeof courseId !== 'string' || typeof userId !== 'string' || typeof role !== 'string') return undefined
  if (!isStorableText(role)) return undefined
  const { course, user } = await findParents(call, { courseId, userId })
  if (!course || !user) return undefined
  return { courseId, userId, role, enrollment: await findEnrollment(database, course.id, user.id, role) }
}

async function findEnrollment(
  database: Database,
  courseId: string,
  userId: string,
  role: string,
): Promise<Enrollment | undefined> {
  const row = await database.one(sql`
    select ${enrollmentColumns} from enrollments e
    where e.course_id = ${courseId} and e.user_id = ${userId} and e.role = ${role}`)
  return row && toEnrollment(row)
}

interface ParentCourse extends Row {
  readonly id: string
  readonly title: string
  readonly external_id: string | null
  readonly status: string
}

interface ParentUser extends Row {
  readonly id: string
  readonly email: string
  readonly external_id: string | null
  readonly status: string
}

type Shown = Pick<
  Enrollment,
  'courseId' | 'courseTitle' | 'courseExternalId' | 'userId' | 'userEmail' | 'userExternalId'
>

/** Throws 404 that points to the unknown one. The user may be one whom the caller does not see. */
async function requireParents(
  call: Call,
  { courseId, userId }: EnrollmentInput,
): Promise<{ course: ParentCourse; user: ParentUser; shown: Shown }> {
  const { course, user } = await findParents(call, { courseId, userId })
  if (!course) throw parentNotFound('#/courseId', 'course', courseId)
  if (!user) throw parentNotFound('#/userId', 'user', userId)
  const shown = {
    courseId: course.id,
    courseTitle: course.title,
    courseExternalId: course.external_id,
    userId: user.id,
    userEmail: user.email,
    userExternalId: user.external_id,
  }
  return { course, user, shown }
}

/**
 * Throws 404 for a user whom an instructor neither sees nor names by address or id, because external ids can be guessed;
 * the setting `instructorEnrollment` allows it.
 */
async function requireKnown(call: Call, reference: string, user: ParentUser): Promise<void> {
  const visible = visibleUsers(call)
  const name = reference.replace(/^email:/, '')
  if (!visible || name === user.id || name.toLowerCase() === user.email.toLowerCase()) return
  const isAllowed = sql`(${visible} or ${instructorEnrollment} = 'anyone')`
  if (await call.database.one(sql`select id from users where id = ${user.id} and ${isAllowed}`)) return
  throw parentNotFound('#/userId', 'user', reference)
}

/** Finds the course and user of an enrolment; in a batch, which changes neither, each once. */
async function findParents(
  call: Call,
  { courseId, userId }: Pick<EnrollmentInput, 'courseId' | 'userId'>,
): Promise<{ course: ParentCourse | undefined; user: ParentUser | undefined }> {
  const { database } = call
  const [course, user] = await Promise.all([
    once(call, `course ${courseId}`, () => {
      const isCourse = seenOnly(matchesReference('courses', courseId), visibleCourses(call))
      return database.one<ParentCourse>(
        sql`select id, title, external_id, status from courses where ${isCourse}`,
      )
    }),
    once(call, `user ${userId}`, () =>
      database.one<ParentUser>(
        sql`select id, email, external_id, status from users where ${matchesReference('users', userId)}`,
      ),
    ),
  ])
  return { course, user }
}

/** In one statement; those that are not named by external ids are read one by one. */
async function readUsers({ database, batch }: Call, items: readonly unknown[]): Promise<void> {
  const named = items.flatMap((item) => {
    const userId = isJsonObject(item) ? item['userId'] : undefined
    const isExternal = typeof userId === 'string' && userId.startsWith('ext:') && isStorableText(userId)
    return isExternal ? [userId.slice(4)] : []
  })
  if (named.length === 0) return
  const rows = await database.all<ParentUser>(
    sql`select id, email, external_id, status from users where external_id in (${join([...new Set(named)])})`,
  )
  for (const row of rows) batch?.rows.set(`user ext:${row.external_id}`, row)
}

/** In a batch, the items share what was read once. */
async function once<Shape extends Row>(
  { batch }: Call,
  name: string,
  read: () => Promise<Shape | undefined>,
): Promise<Shape | undefined> {
  const known = batch?.rows.get(name)
  if (known) return known as Shape
  const row = await read()
  if (row) batch?.rows.set(name, row)
  return row
}
