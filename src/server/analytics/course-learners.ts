import sql, { raw, type Sql } from 'sql-template-tag'
import type { LearnerRow } from '../../contract/analytics.ts'
import type { ProgressStep } from '../../contract/progress.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'
import { selected, toRow } from './analytics-rows.ts'
import { byCourse } from './analytics-tables.ts'
import { type Attention, attentionConditions } from './attention.ts'

/** What the learners of a course can be sorted by. */
export const learnerSorts = ['name', 'status', 'completion', 'last_accessed', 'grade'] as const

/** Which learners of a course, in which order. */
export interface LearnerFilter {
  readonly courseId: string
  readonly status?: ProgressStep['status'] | undefined
  readonly attention?: Attention | undefined
  /** A part of a name or e-mail address, in any case. */
  readonly search?: string | undefined
  /** One of `learnerSorts`, with `-` in front from the end. */
  readonly sort: string
}

/** A learner's name as it is shown: the e-mail address where there is none. */
const shownName = sql`lower(coalesce(
  nullif(trim(coalesce(u.profile ->> 'firstName', '') || ' ' || coalesce(u.profile ->> 'lastName', '')), ''), u.email))`

// What is not there at all comes last in either direction.
const expressions: Readonly<Record<string, readonly Sql[]>> = {
  name: [shownName],
  status: [
    sql`case p.status when 'completed' then 2 when 'in_progress' then 1 else 0 end`,
    sql`coalesce(p.percentage, 0)`,
  ],
  completion: [sql`coalesce(p.percentage, 0)`],
  last_accessed: [sql`p.last_accessed`],
  grade: [sql`g.percent`],
}

/** The learners of one page, and how many there are on all pages. */
export async function pageOfLearners(
  database: Database,
  filter: LearnerFilter,
  now: Date,
  { size, from }: { size: number; from: number },
): Promise<{ readonly rows: LearnerRow[]; readonly total: number }> {
  const only = where(conditionsOf(filter, now))
  const count = await database.one<Row & { total: number }>(
    sql`select count(*) as total from ${byCourse} ${only}`,
  )
  const cells = await database.cells(sql`${everyLearner(filter, now)} limit ${size} offset ${from}`)
  return { rows: cells.map(toRow), total: count?.total ?? 0 }
}

/** The statement that selects all of these learners, with the columns of a LearnerRow. */
export function everyLearner(filter: LearnerFilter, now: Date): Sql {
  const descending = filter.sort.startsWith('-')
  const order = expressions[filter.sort.replace(/^-/, '')] ?? [shownName]
  const terms = order.map((term) => sql`${term} ${raw(descending ? 'desc' : 'asc')} nulls last`)
  const ordered = terms.reduce((left, right) => sql`${left}, ${right}`)
  return sql`select ${selected} from ${byCourse} ${where(conditionsOf(filter, now))}
    order by ${ordered}, ${shownName}, u.email, u.id`
}

function conditionsOf({ courseId, status, attention, search }: LearnerFilter, now: Date): Condition[] {
  const text = search?.toLowerCase()
  return [
    sql`c.id = ${courseId}`,
    sql`u.status <> 'deleted'`,
    status && sql`coalesce(p.status, 'not_started') = ${status}`,
    attention && attentionConditions(now)[attention],
    text && sql`(instr(${shownName}, ${text}) > 0 or instr(lower(u.email), ${text}) > 0)`,
  ]
}
