import { courseFigures, learnersOf, type Scope, type StatusFigures, steps } from '../counters/standings.ts'
import { standings } from '../counters/tally.ts'
import type { Database } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import type { SummaryParts } from './analytics-summary.ts'
import type { Joined } from './analytics-tables.ts'
import { distinctLearners } from './row-summary.ts'

/** Maximum enrolments to read for a distinct count of learners: more would block other requests. */
const mostRead = 20_000

/** The rows of a scope, by course. */
interface Rows {
  readonly tables: Joined
  readonly conditions: readonly Condition[]
}

/** Reads the figures of a summary from counters; the cost does not depend on the number of learners. */
export async function countedParts(database: Database, scope: Scope, rows: Rows): Promise<SummaryParts> {
  const figures = await courseFigures(database, scope)
  return {
    figures,
    steps: await steps(database, scope),
    learners: await learnersIn(database, scope, figures, rows),
  }
}

async function learnersIn(
  database: Database,
  scope: Scope,
  figures: readonly StatusFigures[],
  rows: Rows,
): Promise<number | null> {
  const isWhole = !scope.courses && scope.statuses.length === standings.length
  if (isWhole) return learnersOf(database, scope.withDeleted)
  // A learner is in a course once.
  const courses = new Set(figures.map(({ courseId }) => courseId))
  return courses.size <= 1 ? enrollmentsOf(figures) : fewLearners(database, scope, rows)
}

/** Counts distinct learners; null if the scope has too many enrolments to count exactly. */
export async function fewLearners(
  database: Database,
  scope: Scope,
  { tables, conditions }: Rows,
): Promise<number | null> {
  const all = await courseFigures(database, { ...scope, statuses: standings })
  return enrollmentsOf(all) > mostRead ? null : distinctLearners(database, tables, conditions)
}

function enrollmentsOf(figures: readonly StatusFigures[]): number {
  return figures.reduce((sum, { learners }) => sum + learners, 0)
}
