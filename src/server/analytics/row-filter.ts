import sql, { join, type Sql } from 'sql-template-tag'
import { spanOf } from '../../codec/time-text.ts'
import type { analytics, Period } from '../../contract/analytics.ts'
import type { Query } from '../../contract/operation.ts'
import { type Asking, taughtCourses, visibleCourses, visibleUsers } from '../access/sight.ts'
import type { Condition } from '../database/page.ts'
import { resolveFilters } from '../database/reference.ts'
import { groupIdsOf, isInGroups } from '../groups/group-row.ts'
import { ProblemError } from '../problem-error.ts'

type LearnersQuery = Query<typeof analytics.learners>

type FilterQuery = {
  readonly [Name in
    | 'course_id'
    | 'learner_id'
    | 'group_id'
    | 'term_id'
    | 'status'
    | 'difficulty'
    | 'enrollment_status'
    | 'include_not_started'
    | 'include_deleted']?: LearnersQuery[Name]
}

export interface RowFilter {
  readonly query: FilterQuery
  /** Ids, or a statement that selects them; undefined for all. */
  readonly courses: Sql | undefined
  readonly learnerIds: readonly string[] | undefined
  readonly groupIds: readonly string[] | undefined
  readonly termIds: readonly string[] | undefined
  /** On `u`, `e` and `c`. */
  readonly conditions: readonly Condition[]
  /** On `p`. */
  readonly ofProgress: readonly Condition[]
  /** On the last access; undefined without a period. */
  readonly inPeriod: Sql | undefined
}

interface AskingForRows extends Asking {
  readonly query: FilterQuery
}

/** Throws 404 for what the caller may not see, too. */
export async function rowFilterOf(call: AskingForRows, { start, end }: Period): Promise<RowFilter> {
  const { database, query } = call
  // The courses that the query names. Without any, an instructor sees the rows of the courses that they teach.
  const courses = query.course_id ? await namedCourses(call, query.course_id) : taughtCourses(call)
  const learnerIds =
    query.learner_id &&
    (await resolveFilters(database, 'users', query.learner_id, 'learner_id', visibleUsers(call)))
  const groupIds = query.group_id && (await groupIdsOf(call, query.group_id))
  const termIds = query.term_id && (await resolveFilters(database, 'terms', query.term_id, 'term_id'))
  const bounds = [
    ...(start ? [sql`p.last_accessed >= ${start}`] : []),
    ...(end ? [sql`p.last_accessed < ${end}`] : []),
  ]
  const conditions = [
    !query.include_deleted && sql`u.status <> 'deleted'`,
    learnerIds && sql`u.id in (${join(learnerIds)})`,
    groupIds &&
      sql`exists (select 1 from group_members m where ${isInGroups(groupIds)} and m.user_id = u.id)`,
    courses && sql`e.course_id in (${courses})`,
    query.difficulty && sql`c.difficulty in (${join(query.difficulty)})`,
    termIds && sql`c.term_id in (${join(termIds)})`,
    query.enrollment_status
      ? sql`e.status in (${join(query.enrollment_status)})`
      : sql`e.status <> 'deleted'`,
  ]
  const inPeriod = bounds.length === 0 ? undefined : join(bounds, ' and ')
  const ofProgress = [
    query.status && sql`coalesce(p.status, 'not_started') in (${join(query.status)})`,
    inPeriod && (query.include_not_started ? sql`(p.user_id is null or (${inPeriod}))` : sql`(${inPeriod})`),
  ]
  return {
    query,
    courses,
    learnerIds: learnerIds || undefined,
    groupIds: groupIds || undefined,
    termIds: termIds || undefined,
    conditions,
    ofProgress,
    inPeriod,
  }
}

async function namedCourses(call: AskingForRows, list: string): Promise<Sql> {
  const visible = visibleCourses(call)
  return sql`${join(await resolveFilters(call.database, 'courses', list, 'course_id', visible))}`
}

export function allConditions({ conditions, ofProgress }: RowFilter): Condition[] {
  return [...conditions, ...ofProgress]
}

/** Each bound is a day or an instant. Throws 400 if the start is after the end. */
export function periodOf(startDate: string | undefined, endDate: string | undefined): Period {
  const { start, end, ordered } = spanOf(startDate, endDate)
  if (!ordered) {
    const detail = `must not be after end_date: ${startDate} is after ${endDate}`
    throw new ProblemError('invalid_parameter', `The parameter start_date ${detail}.`, {
      errors: [{ parameter: 'start_date', code: 'out_of_order', detail }],
    })
  }
  return { start: timeOf(start), end: timeOf(end) }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
