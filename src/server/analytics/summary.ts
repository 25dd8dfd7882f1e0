import type { Summary } from '../../contract/analytics.ts'
import { courseFigures, type Scope, steps } from '../counters/standings.ts'
import type { Database } from '../database/database.ts'
import { type SummaryParts, summaryOf } from './analytics-summary.ts'
import { byCourse, byStatus, byTime, byUser } from './analytics-tables.ts'
import { countedParts, fewLearners } from './counted-summary.ts'
import { allConditions, type RowFilter, scopeOf, withStatus } from './row-filter.ts'
import { partsOfRows } from './row-summary.ts'

/**
 * Summarises the rows of a filter. Uses counters, except for single learners, whose few rows are read, and for a
 * period or statuses, whose rows an index finds.
 */
export async function filteredSummary(database: Database, filter: RowFilter): Promise<Summary> {
  return summaryOf(database, await partsOf(database, filter))
}

/** Reads the rows of enrolments with some statuses, which counters do not distinguish. */
async function partsOfStatus(database: Database, filter: RowFilter): Promise<SummaryParts> {
  const { query, courseIds, inPeriod } = filter
  const conditions = allConditions(filter)
  if (inPeriod && !query.include_not_started) return partsOfRows(database, byTime, conditions)
  return courseIds
    ? partsOfRows(database, byCourse, conditions)
    : partsOfRows(database, byStatus, [withStatus(query.enrollment_status ?? []), ...conditions])
}

async function partsOf(database: Database, filter: RowFilter): Promise<SummaryParts> {
  const { query, learnerIds, inPeriod } = filter
  if (learnerIds) return partsOfRows(database, byUser, allConditions(filter))
  if (query.enrollment_status) return partsOfStatus(database, filter)
  const scope = scopeOf(filter)
  const rows = { tables: byCourse, conditions: allConditions(filter) }
  if (!inPeriod) return countedParts(database, scope, rows)
  const dated = await partsOfRows(database, byTime, [...filter.conditions, inPeriod])
  if (!query.include_not_started || !scope.statuses.includes('none')) return dated
  const unstarted: Scope = { ...scope, statuses: ['none'] }
  return {
    figures: [...(await courseFigures(database, unstarted)), ...dated.figures],
    steps: [...(await steps(database, unstarted)), ...dated.steps],
    learners: await fewLearners(database, scope, rows),
  }
}
