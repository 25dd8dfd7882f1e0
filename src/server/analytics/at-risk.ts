import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import { calls } from '../../contract/calls.ts'
import { attentionKinds } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { AtRiskRow } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import type { Page } from '../database/page.ts'
import { attentionConditions } from './figures.ts'
import { readShapedPage } from './learner-pages.ts'
import { rowFilterOf } from './row-filter.ts'
import { expressionByColumn } from './rows.ts'

/** `now` is ISO 8601 in UTC. */
interface AskingForRisk extends Asking {
  readonly query: Query<typeof analytics.atRisk>
  readonly now: string
}

/**
 * Reads a page of learners who may need help: those with one of the reasons of the query, each with all of its reasons.
 * Throws 404 for filters as `rowFilterOf` does, and 400 `invalid_cursor`.
 */
export async function listAtRisk(call: AskingForRisk): Promise<Page<AtRiskRow>> {
  const { database, query, now } = call
  const conditions = attentionConditions(new Date(now), {
    inactiveDays: query.inactive_days,
    stuckDays: query.stuck_days,
    stuckBelow: query.stuck_below,
  })
  const filter = await rowFilterOf(call, { start: null, end: null })
  const wanted = (query.reason ?? attentionKinds).map((kind) => conditions[kind])
  const isAtRisk = sql`(${join(wanted, ' or ')})`
  const flags = attentionKinds.map(
    (kind) => sql`case when ${conditions[kind]} then 1 else 0 end as ${raw(kind)}`,
  )
  return readShapedPage(
    database,
    { limit: query.limit, cursor: query.cursor, include_total: false },
    { ...filter, ofProgress: [...filter.ofProgress, isAtRisk] },
    { columns: sql`${columns}, ${join(flags)}`, show: toAtRiskRow },
  )
}

const expressions: Readonly<Record<string, Sql>> = {
  ...expressionByColumn,
  progressedAt: sql`p.risen_at`,
  passingScore: sql`c.passing_score`,
}

/** In the order of the answer. */
const names = calls.analytics.atRisk.holds.answer
const columns = join(
  names.flatMap((name) => (expressions[name] ? [sql`${expressions[name]} as ${raw(`"${name}"`)}`] : [])),
)

function toAtRiskRow(row: Row): AtRiskRow {
  const reasons = attentionKinds.filter((kind) => row[kind] === 1)
  // The statement selects the other columns of an AtRiskRow under their names.
  return Object.fromEntries(
    names.map((name) => [name, name === 'reasons' ? reasons : (row[name] ?? null)]),
  ) as unknown as AtRiskRow
}
