import sql, { join, type Sql } from 'sql-template-tag'
import type { Progress, progress } from '../../contract/progress.ts'
import { knownCourses } from '../courses/course-row.ts'
import type { Row } from '../database/database.ts'
import {
  type Condition,
  during,
  fenced,
  invalidCursor,
  type Page,
  type Place,
  readCursor,
  where,
  writeCursor,
} from '../database/keyset.ts'
import { page, type Select } from '../database/page.ts'
import { referring } from '../database/reference.ts'
import { type Call, onlyUserOf, type Reads } from '../http/handler.ts'
import {
  type ProgressRow,
  progressColumns,
  type StepRow,
  stepColumns,
  toProgress,
  toStep,
} from './progress-row.ts'

/** By creation of the enrolment, a stable order: records written during paging do not move. */
const sort = 'createdAt'
const order = { sort, expressions: { createdAt: sql`e.created_at` }, id: sql`e.id` }
/** Name of the history's order in cursors. */
const stepsSort = 'steps'

/** Reads the progress of all learners that the caller can see. */
export const progressOfAll = {
  async all(call) {
    const { database, query } = call
    const select = await progressOf(call, [
      during(sql`p.last_accessed`, query),
      during(sql`p.updated_at`, { since: query.updated_since }),
    ])
    return page<ProgressRow, Progress>(database, select, order, query, toProgress)
  },

  /**
   * Reads a page of enrolments and returns the steps of their progress, in the order of versions. Each progress has as many
   * steps as versions, so the enrolments of a page are known without reading steps; a period filter may leave fewer of them. No
   * step is newer than its progress. The cursor is that of the enrolments with the version at which the page was cut.
   */
  async steps(call) {
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
    const rows = await database.all<StepRow>(sql`
      select ${stepColumns} from progress_steps s
      ${where([sql`(${join(spans.map(isWithin), ' or ')})`, fenced([recorded])])}`)
    const steps = Map.groupBy(rows, (row) => keyOf(row))
    return {
      data: spans.flatMap(({ row }) => inOrder(steps.get(keyOf(row)) ?? []).map(toStep)),
      nextCursor,
    }
  },
} satisfies Reads<typeof progress>

/** Selects enrolments with their progress; walks enrolments without progress, too. */
async function progressOf(
  call: Call<typeof progress.all> | Call<typeof progress.steps>,
  conditions: readonly Condition[],
): Promise<Select> {
  const { database, query } = call
  const only = onlyUserOf(call)
  const own = only === undefined ? undefined : sql`id = ${only}`
  const learner = await referring(sql`e.user_id`, database, 'users', query.learner_id, 'learner_id', own)
  const seen = knownCourses(call)
  const course = await referring(sql`e.course_id`, database, 'courses', query.course_id, 'course_id', seen)
  return {
    columns: sql`${progressColumns}, e.id as enrollment_id`,
    from: sql`enrollments e left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`,
    base: sql`enrollments e`,
    mostly: [sql`e.status <> 'deleted'`, sql`e.role = 'learner'`],
    where: [sql`p.version is not null`, ...conditions],
    narrow: [only && sql`e.user_id = ${only}`, learner.one ?? learner.several, course.several],
    within: [{ field: sort, condition: course.one }],
  }
}

interface EnrolledRow extends ProgressRow, Place {
  readonly enrollment_id: string
}

/** Start of a page of the history: after an enrolment, or after a version within one. */
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

/** Returns the spans of a page, at most `limit` steps in all. */
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

function keyOf({ user_id, course_id }: Row): string {
  return `${user_id} ${course_id}`
}

function inOrder(rows: readonly StepRow[]): StepRow[] {
  return rows.toSorted((one, other) => one.version - other.version)
}
