import sql, { join, type Sql } from 'sql-template-tag'
import type { Summary } from '../../contract/analytics.ts'
import { courseFigures, type Scope, steps } from '../counters/standings.ts'
import { type CountedStatus, standings } from '../counters/tally.ts'
import type { Database } from '../database/database.ts'
import { type SummaryParts, summaryOf } from './analytics-summary.ts'
import { byCourse, byTime, byUser } from './analytics-tables.ts'
import { countedParts, fewLearners } from './counted-summary.ts'
import { allConditions, type RowFilter } from './row-filter.ts'
import { partsOfRows } from './row-summary.ts'

/**
 * Figures over all that is filtered. Counters tell them, but for some learners, whose few rows are read, and for a
 * period, whose rows an index finds.
 */
export function filteredSummary(database: Database, filter: RowFilter): Summary {
  return summaryOf(database, partsOf(database, filter))
}

function partsOf(database: Database, filter: RowFilter): SummaryParts {
  const { query, learnerIds, courseIds, inPeriod } = filter
  if (learnerIds) return partsOfRows(database, byUser, allConditions(filter))
  const scope: Scope = {
    courses: coursesOf(courseIds, query.difficulty),
    statuses: statusesOf(query.status),
    withDeleted: query.include_deleted,
  }
  const rows = { tables: byCourse, conditions: allConditions(filter) }
  if (!inPeriod) return countedParts(database, scope, rows)
  const dated = partsOfRows(database, byTime, [...filter.conditions, inPeriod])
  if (!query.include_not_started || !scope.statuses.includes('none')) return dated
  const unstarted: Scope = { ...scope, statuses: ['none'] }
  return {
    figures: [...courseFigures(database, unstarted), ...dated.figures],
    steps: [...steps(database, unstarted), ...dated.steps],
    learners: fewLearners(database, scope, rows),
  }
}

/** A statement that selects the courses of a filter. */
function coursesOf(
  courseIds: readonly string[] | undefined,
  difficulties: readonly string[] | undefined,
): Sql | undefined {
  if (!courseIds && !difficulties) return undefined
  const conditions = [
    ...(courseIds ? [sql`id in (${join(courseIds)})`] : []),
    ...(difficulties ? [sql`difficulty in (${join(difficulties)})`] : []),
  ]
  return sql`select id from courses where ${join(conditions, ' and ')}`
}

/** Whoever has no progress has not started, too. */
function statusesOf(statuses: readonly string[] | undefined): readonly CountedStatus[] {
  if (!statuses) return standings
  return standings.filter((standing) => statuses.includes(standing === 'none' ? 'not_started' : standing))
}
