import sql, { type Sql } from 'sql-template-tag'
import type { Attention } from '../../contract/constants.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import type { ProgressStep } from '../../contract/progress.ts'
import type { Database, Dialect } from '../database/database.ts'
import { type Condition, type Order, type Page, page, walkOf } from '../database/page.ts'
import { matchesText } from '../database/search.ts'
import { attentionConditions } from './figures.ts'
import { byCourse, learning, rowsOf, selected, toLearnerRow } from './rows.ts'

export const learnerSorts = ['name', 'status', 'completion', 'last_accessed', 'grade'] as const

export interface LearnerFilter {
  readonly courseId: string
  readonly status?: ProgressStep['status'] | undefined
  readonly attention?: Attention | undefined
  readonly groupId?: string | undefined
  /** Part of a name, username or email address, in any case; or a complete external id, with or without `ext:`. */
  readonly search?: string | undefined
  /** One of `learnerSorts`; `-` before it for descending. */
  readonly sort: string
}

/** Reads one page of learners. Throws 400 `invalid_cursor`. */
export function pageOfLearners(
  database: Database,
  filter: LearnerFilter,
  now: Date,
  paging: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<LearnerRow>> {
  const { tables, on } = byCourse
  return page(
    database,
    {
      columns: selected,
      from: sql`${tables} ${learning}`,
      by: [on, ...conditionsOf(filter, now), sql`e.course_id = ${filter.courseId}`],
    },
    orderOf(database.dialect, filter),
    paging,
    toLearnerRow,
  )
}

/** Returns the statement that selects all of these learners with the columns of a LearnerRow, in the requested order. */
export function everyLearner(dialect: Dialect, filter: LearnerFilter, now: Date): Sql {
  const rows = rowsOf(byCourse, [...conditionsOf(filter, now), sql`e.course_id = ${filter.courseId}`])
  return sql`select ${selected} from ${rows} ${walkOf(orderOf(dialect, filter), undefined, []).ordered}`
}

/** The email address if there is no name. */
const shownName = sql`coalesce(
  nullif(trim(coalesce(u.profile ->> 'firstName', '') || ' ' || coalesce(u.profile ->> 'lastName', '')), ''), u.email)`

const statusRank = sql`case p.status when 'completed' then 2 when 'in_progress' then 1 else 0 end`
const percentage = sql`coalesce(p.percentage, 0)`

function orderOf(dialect: Dialect, { sort }: LearnerFilter): Order {
  const name = dialect.folded(shownName)
  // Missing values sort last in either direction.
  const [present, missing] = sort.startsWith('-') ? [sql`1`, sql`0`] : [sql`0`, sql`1`]
  const orLast = (value: Sql, none: Sql) => [
    sql`case when ${value} is null then ${missing} else ${present} end`,
    sql`coalesce(${value}, ${none})`,
  ]
  return {
    sort,
    expressions: {
      name: [name],
      status: [statusRank, percentage],
      completion: [percentage],
      last_accessed: orLast(sql`p.last_accessed`, sql`''`),
      grade: orLast(sql`g.percent`, sql`0`),
    },
    ties: [name, sql`u.email`],
    id: sql`u.id`,
  }
}

function conditionsOf(filter: LearnerFilter, now: Date): Condition[] {
  const { courseId, groupId, status, attention, search } = filter
  return [
    sql`c.id = ${courseId}`,
    sql`u.status <> 'deleted'`,
    sql`e.status <> 'deleted'`,
    status && sql`coalesce(p.status, 'not_started') = ${status}`,
    attention && attentionConditions(now)[attention],
    search !== undefined && matchesSearch(search),
    groupId !== undefined &&
      sql`exists (select 1 from group_members m where m.group_id = ${groupId} and m.user_id = u.id)`,
  ]
}

function matchesSearch(search: string): Sql {
  const isExternalId = sql`u.external_id = ${search.trim().replace(/^ext:/, '')}`
  const test = matchesText(sql`u.search_key`, search)
  return test ? sql`(${test} or ${isExternalId})` : isExternalId
}
