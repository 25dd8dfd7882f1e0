import sql, { join, raw } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import { attentionKinds } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { AtRiskRow } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import type { Row } from '../database/database.ts'
import type { Page } from '../database/page.ts'
import { attentionConditions } from './figures.ts'
import { rowFilterOf } from './row-filter.ts'
import { type RowShape, readShapedPage } from './row-page.ts'
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
    { ...shape, columns: sql`${shape.columns}, ${join(flags)}` },
  )
}

const copied = [
  'learnerId',
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseId',
  'courseTitle',
  'courseExternalId',
  'lastAccessed',
  'completionPercentage',
  'gradePercent',
  'enrolledAt',
] as const

const expressions = [
  ...copied.map((name) => [name, expressionByColumn[name]] as const),
  ['progressedAt', sql`p.risen_at`] as const,
  ['passingScore', sql`c.passing_score`] as const,
]

const shape: RowShape<AtRiskRow> = {
  columns: join(
    expressions.map(([name, expression]) => sql`${expression} as ${raw(`"${name}"`)}`),
    ', ',
  ),
  show: toAtRiskRow,
}

function toAtRiskRow(row: Row): AtRiskRow {
  // The statement selects the other columns of an AtRiskRow under their names.
  const found = row as Row & Omit<AtRiskRow, 'reasons'>
  return {
    learnerId: found.learnerId,
    email: found.email,
    firstName: found.firstName,
    lastName: found.lastName,
    externalId: found.externalId,
    courseId: found.courseId,
    courseTitle: found.courseTitle,
    courseExternalId: found.courseExternalId,
    reasons: attentionKinds.filter((kind) => row[kind] === 1),
    lastAccessed: found.lastAccessed,
    completionPercentage: found.completionPercentage,
    progressedAt: found.progressedAt,
    gradePercent: found.gradePercent,
    passingScore: found.passingScore,
    enrolledAt: found.enrolledAt,
  }
}
