import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { LearnerRow } from '../../contract/analytics.ts'
import type { ProgressStep } from '../../contract/progress.ts'
import type { Database, Dialect, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import { isTooManyAtOnce } from '../database/page.ts'
import { found, searchTest } from '../database/search.ts'
import { selected, toRow } from './analytics-rows.ts'
import { byCourse, byUser, lastOf, rowsOf } from './analytics-tables.ts'
import { type Attention, attentionConditions } from './attention.ts'

/** Sort fields of a course's learners. */
export const learnerSorts = ['name', 'status', 'completion', 'last_accessed', 'grade'] as const

/** Filter and order of a course's learners. */
export interface LearnerFilter {
  readonly courseId: string
  readonly status?: ProgressStep['status'] | undefined
  readonly attention?: Attention | undefined
  /** Part of a name, username or email address, in any case; or a complete external id, with or without `ext:`. */
  readonly search?: string | undefined
  /** One of `learnerSorts`; `-` before it for descending. */
  readonly sort: string
}

/** The displayed name of a learner: the email address if there is no name. */
const shownName = sql`coalesce(
  nullif(trim(coalesce(u.profile ->> 'firstName', '') || ' ' || coalesce(u.profile ->> 'lastName', '')), ''), u.email)`

// Missing values sort last in either direction.
const expressions: Readonly<Record<string, readonly Sql[]>> = {
  status: [
    sql`case p.status when 'completed' then 2 when 'in_progress' then 1 else 0 end`,
    sql`coalesce(p.percentage, 0)`,
  ],
  completion: [sql`coalesce(p.percentage, 0)`],
  last_accessed: [sql`p.last_accessed`],
  grade: [sql`g.percent`],
}

/** Maximum learners of a course that are sorted for a page. */
export const mostSorted = 10_000

/** Options of a page of learners besides the filter. */
interface PageAsked {
  readonly size: number
  readonly from: number
  /** Number of learners in the course. */
  readonly learners: number
  /** Maximum learners to sort (default `mostSorted`). */
  readonly most?: number
}

/** One page of a course's learners. */
interface LearnerPage {
  readonly rows: LearnerRow[]
  /** Number of learners on all pages. */
  readonly total: number
  /** True if the course is too large, so only its newest enrolments were considered. */
  readonly isPart: boolean
}

/**
 * Reads one page of learners. In a large course it covers the matches of the search or, if these are too many, the
 * newest enrolments.
 */
export async function pageOfLearners(
  database: Database,
  filter: LearnerFilter,
  now: Date,
  { size, from, learners, most = mostSorted }: PageAsked,
): Promise<LearnerPage> {
  const { dialect } = database
  const isLarge = learners > most
  const { search, courseId } = filter
  const all =
    isLarge && search !== undefined ? await found(database, 'users', sql`u.search_key`, search) : undefined
  const wanted = all && !(await isTooManyAtOnce(all)) ? all : undefined
  const tables = !isLarge ? byCourse : wanted ? byUser : lastOf(courseId, most)
  const named =
    wanted &&
    sql`u.id in (
      select id from (${wanted.ids} limit ${most}) found
      union all select id from users where external_id = ${externalIdIn(search ?? '')})`
  const rows = rowsOf(tables, [...conditionsOf(filter, now), named, sql`e.course_id = ${courseId}`])
  const count = await database.one<Row & { total: number }>(sql`select count(*) as total from ${rows}`)
  const cells = await database.cells(
    sql`select ${selected} from ${rows} ${orderOf(dialect, filter)} limit ${size} offset ${from}`,
  )
  return { rows: cells.map(toRow), total: count?.total ?? 0, isPart: isLarge && !wanted }
}

/**
 * Returns the statement that selects all of these learners with the columns of a LearnerRow: in the requested order
 * or, if the course has too many to sort, by newest enrolment.
 */
export function everyLearner(
  dialect: Dialect,
  filter: LearnerFilter,
  now: Date,
  { learners, most = mostSorted }: Pick<PageAsked, 'learners' | 'most'>,
): Sql {
  const rows = rowsOf(byCourse, [...conditionsOf(filter, now), sql`e.course_id = ${filter.courseId}`])
  const order = learners > most ? sql`order by e.created_at desc, e.id desc` : orderOf(dialect, filter)
  return sql`select ${selected} from ${rows} ${order}`
}

function orderOf(dialect: Dialect, { sort }: LearnerFilter): Sql {
  const name = dialect.folded(shownName)
  const order = expressions[sort.replace(/^-/, '')] ?? [name]
  const terms = order.map((term) => sql`${term} ${raw(sort.startsWith('-') ? 'desc' : 'asc')} nulls last`)
  return sql`order by ${join(terms)}, ${name}, u.email, u.id`
}

function conditionsOf(filter: LearnerFilter, now: Date): Condition[] {
  const { courseId, status, attention, search } = filter
  return [
    sql`c.id = ${courseId}`,
    sql`u.status <> 'deleted'`,
    sql`e.status <> 'deleted'`,
    status && sql`coalesce(p.status, 'not_started') = ${status}`,
    attention && attentionConditions(now)[attention],
    search !== undefined && matches(search),
  ]
}

function matches(search: string): Sql {
  const isExternalId = sql`u.external_id = ${externalIdIn(search)}`
  const test = searchTest(sql`u.search_key`, search)
  return test ? sql`(${test} or ${isExternalId})` : isExternalId
}

function externalIdIn(search: string): string {
  return search.trim().replace(/^ext:/, '')
}
