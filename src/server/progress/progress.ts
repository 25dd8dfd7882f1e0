import sql, { join, type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import {
  Progress,
  ProgressInput,
  ProgressItem,
  type ProgressStep,
  progress,
} from '../../contract/progress.ts'
import { recordFilters, visibleCourses, visibleUsers } from '../access/sight.ts'
import { findCourse } from '../courses/course-row.ts'
import type { Row } from '../database/database.ts'
import {
  type Condition,
  during,
  fenced,
  invalidCursor,
  type Page,
  type Place,
  page,
  readCursor,
  type Select,
  where,
  writeCursor,
} from '../database/page.ts'
import { resolve, resolveFilter } from '../database/reference.ts'
import { enrollmentsOfMembers, ofMembers } from '../groups/group-row.ts'
import { readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { parseBody, resourceOf, routesOf } from '../http/schema-routes.ts'
import { ProblemError } from '../problem-error.ts'
import { findUser, findVisibleUser } from '../users/user-row.ts'
import { progressReads } from './progress-reads.ts'
import { findProgress, progressColumns, stepColumns, toProgress, toStep } from './progress-row.ts'
import { setProgress } from './progress-setting.ts'

export const progressRoutes = routesOf(progress, {
  ...progressReads,
  all: { isLong: true, handle: listProgress },
  steps: { isLong: true, handle: listSteps },

  async set(call) {
    const learner = await findVisibleUser(call, call.params.learnerId)
    const input = resourceOf(call, ProgressInput, Progress, await readOnlyFieldsOf(call, learner.id))
    return setProgress(call, learner, input, (current) => requireVersion(call, current?.version ?? 0))
  },

  async history(call) {
    const { database, query, params } = call
    const { id } = await findVisibleUser(call, params.learnerId)
    const courseId = await resolveFilter(
      database,
      'courses',
      query.course_id,
      'course_id',
      visibleCourses(call),
    )
    return page(
      database,
      {
        columns: stepColumns,
        from: sql`progress_steps s`,
        within: [{ field: 'version', condition: sql`s.user_id = ${id} and s.course_id = ${courseId}` }],
        where: [during(sql`s.recorded_at`, query)],
      },
      { sort: '-version', expressions: { version: sql`s.version` }, id: sql`s.course_id` },
      query,
      toStep,
    )
  },

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'update')
    return runBatch(call, items, async (item) => {
      const write = async () => {
        const { learnerId, ...input } = parseBody(ProgressItem, item.rawBody)
        const written = await setProgress(call, await findVisibleUser(call, learnerId), input)
        return { id: written.learnerId, version: written.version }
      }
      const before = await findExisting(item)
      if (before && onExists === 'fail') throw await alreadyRecorded(call, before)
      try {
        return await upsert(onExists, before, write, write)
      } catch (error) {
        if (!(error instanceof ProblemError && error.code === 'stale_progress')) throw error
        const current = error.members['current'] as Progress
        if (!(await isInHistory(item, current))) throw error
        return { id: current.learnerId, created: false, code: 'unchanged' }
      }
    })
  },
})

/** Older and recorded before: a file with the history of learners is imported again. */
async function isInHistory({ database, rawBody }: Call, { learnerId, courseId }: Progress): Promise<boolean> {
  const { completionPercentage, lastAccessed } = parseBody(ProgressItem, rawBody)
  const step = await database.one(sql`
    select 1 from progress_steps
    where user_id = ${learnerId} and course_id = ${courseId} and last_accessed = ${lastAccessed ?? null}
      and percentage = ${completionPercentage} limit 1`)
  return step !== undefined
}

/** A caller may send them back unchanged. */
async function readOnlyFieldsOf(call: Call, userId: string): Promise<Partial<Progress>> {
  const { database, rawBody } = call
  const given = isJsonObject(rawBody) ? rawBody : {}
  // Most requests contain no read-only field.
  if (Object.keys(given).every((field) => Object.hasOwn(ProgressInput.shape, field))) return {}
  const reference = given['courseId']
  const courseId =
    typeof reference === 'string'
      ? await resolve(database, 'courses', reference, visibleCourses(call))
      : undefined
  const stored = courseId === undefined ? undefined : await findProgress(database, userId, courseId)
  return Object.fromEntries(
    Object.entries(stored ?? {}).filter(([field]) => !Object.hasOwn(ProgressInput.shape, field)),
  )
}

interface ExistingRow extends Row {
  readonly id: string
  readonly version: number
  readonly course_id: string
}

async function alreadyRecorded(
  { database }: Call,
  { id, course_id: courseId }: ExistingRow,
): Promise<ProblemError> {
  const [{ email }, { title }] = await Promise.all([findUser(database, id), findCourse(database, courseId)])
  const detail = `User ${email} already has progress in course ${title}.`
  return new ProblemError('duplicate', detail, { members: { id } })
}

async function findExisting(call: Call): Promise<ExistingRow | undefined> {
  const { database, rawBody } = call
  if (!isJsonObject(rawBody)) return undefined
  const { learnerId, courseId } = rawBody
  if (typeof learnerId !== 'string' || typeof courseId !== 'string') return undefined
  return database.one<ExistingRow>(sql`
    select user_id as id, version, course_id from progress
    where user_id = ${(await resolve(database, 'users', learnerId, visibleUsers(call))) ?? ''}
      and course_id = ${(await resolve(database, 'courses', courseId, visibleCourses(call))) ?? ''}`)
}

/** By creation of the enrolment, a stable order: records written during paging do not move. */
const sort = 'createdAt'
const order = { sort, expressions: { createdAt: sql`e.created_at` }, id: sql`e.id` }
const stepsSort = 'steps'

async function listProgress(call: Call<typeof progress.all>): Promise<Page<Progress>> {
  const { database, query } = call
  const select = await progressOf(call, [
    during(sql`p.last_accessed`, query),
    during(sql`p.updated_at`, { since: query.updated_since }),
  ])
  return page(database, select, order, query, toProgress)
}

/**
 * Reads a page of enrolments, then the steps of their progress. Each progress has as many steps as versions, so the page
 * is known without reading steps; a period filter may leave fewer. The cursor is that of the enrolments with the version
 * at which the page was cut.
 */
async function listSteps(call: Call<typeof progress.steps>): Promise<Page<ProgressStep>> {
  const { database, query } = call
  const cursor = query.cursor === undefined ? {} : readStepCursor(query.cursor)
  const found = await page<EnrolledRow, EnrolledRow>(
    database,
    await progressOf(call, [during(sql`p.updated_at`, { since: query.since })]),
    order,
    { limit: query.limit, cursor: cursor.before },
    (row) => row,
  )
  const { spans, nextCursor } = spansOf(found, cursor, query.limit)
  if (spans.length === 0) return { data: [], nextCursor }
  const recorded = during(sql`s.recorded_at`, query)
  const rows = await database.all(sql`
      select ${stepColumns} from progress_steps s
      ${where([sql`(${join(spans.map(isWithin), ' or ')})`, fenced([recorded])])}`)
  const steps = Map.groupBy(rows.map(toStep), ({ learnerId, courseId }) => `${learnerId} ${courseId}`)
  return {
    data: spans.flatMap(({ row }) => inOrder(steps.get(`${row.user_id} ${row.course_id}`) ?? [])),
    nextCursor,
  }
}

async function progressOf(
  call: Call<typeof progress.all> | Call<typeof progress.steps>,
  conditions: readonly Condition[],
): Promise<Select> {
  const by = await recordFilters(call, 'e', 'learner_id')
  return {
    columns: sql`${progressColumns}, e.id as enrollment_id`,
    from: sql`enrollments e left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`,
    base: sql`enrollments e`,
    by,
    where: [sql`e.status <> 'deleted'`, sql`e.role = 'learner'`, sql`p.version is not null`, ...conditions],
    narrow: [await ofMembers(call, call.query.group_id, sql`e.user_id`, enrollmentsOfMembers)],
  }
}

interface EnrolledRow extends Place {
  readonly enrollment_id: string
  readonly user_id: string
  readonly course_id: string
  readonly version: number
}

interface StepCursor {
  readonly before?: string | undefined
  readonly enrollment?: string
  readonly version?: number
}

/** Steps of one progress, from the version after `from` to `to`. */
interface Span {
  readonly row: EnrolledRow
  readonly from: number
  readonly to: number
}

function spansOf(
  { data, nextCursor }: Page<EnrolledRow>,
  { before, enrollment, version = 0 }: StepCursor,
  limit: number,
): { spans: Span[]; nextCursor: string | null } {
  const spans: Span[] = []
  let room = limit
  let last = before
  for (const row of data) {
    if (room === 0) return { spans, nextCursor: stepCursor(last) }
    const from = row.enrollment_id === enrollment ? version : 0
    const to = Math.min(row.version, from + room)
    if (to > from) spans.push({ row, from, to })
    room -= to - from
    if (to < row.version) return { spans, nextCursor: stepCursor(last, row.enrollment_id, to) }
    last = writeCursor(sort, row.cursor_value, row.cursor_id)
  }
  return { spans, nextCursor: nextCursor && stepCursor(nextCursor) }
}

function stepCursor(before = '', enrollment = '', version = 0): string {
  return writeCursor(stepsSort, before, enrollment, version)
}

function readStepCursor(cursor: string): StepCursor {
  const [before, enrollment, version] = readCursor(cursor, stepsSort, 3)
  if (typeof before !== 'string' || typeof enrollment !== 'string' || typeof version !== 'number') {
    throw invalidCursor()
  }
  return { before: before === '' ? undefined : before, enrollment, version }
}

function isWithin({ row, from, to }: Span): Sql {
  return sql`(s.user_id = ${row.user_id} and s.course_id = ${row.course_id} and s.version > ${from} and s.version <= ${to})`
}

function inOrder(steps: readonly ProgressStep[]): ProgressStep[] {
  return steps.toSorted((one, other) => one.version - other.version)
}
