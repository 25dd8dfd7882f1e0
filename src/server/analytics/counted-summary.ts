import { courseFigures, learnersOf, type Scope, type StatusFigures, steps } from '../counters/standings.ts'
import { standings } from '../counters/tally.ts'
import type { Database } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import type { SummaryParts } from './analytics-summary.ts'
import type { Joined } from './analytics-tables.ts'
import { distinctLearners } from './row-summary.ts'

/** Enrolments among which learners are told apart: more would hold others up. */
const mostRead = 20_000

/** The rows behind a scope, course by course. */
interface Rows {
  readonly tables: Joined
  readonly conditions: readonly Condition[]
}

/** The parts of a summary from counters: the same few rows are read for any number of learners. */
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
  // Nobody is in a course twice.
  const courses = new Set(figures.map(({ courseId }) => courseId))
  return courses.size <= 1 ? enrollmentsOf(figures) : fewLearners(database, scope, rows)
}

/** The different learners behind a scope, where its courses have few enrolments in all; else null. */
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
