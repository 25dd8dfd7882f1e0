import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { counters } from './count.ts'
import { type CountedStatus, kindsOf, learnersKind, standings } from './tally.ts'

/** Whose figures are read: of which courses, in which standings, and whether of deleted users, too. */
export interface Scope {
  /** Course ids, or a statement that selects some; undefined for the academy as a whole. */
  readonly courses: Sql | undefined
  readonly statuses: readonly CountedStatus[]
  readonly withDeleted: boolean
}

/** Figures of the learners of one course in one standing: sums in millionths of a per cent. */
export interface StatusFigures {
  readonly courseId: string
  readonly status: CountedStatus
  readonly learners: number
  readonly percentage: number
  readonly graded: number
  readonly grade: number
}

/** How many learners stand between a hundredth of a per cent and the next, and the sum of their percentages. */
export interface Step {
  readonly status: CountedStatus
  readonly hundredths: number
  readonly learners: number
  /** In millionths of a per cent. */
  readonly amount: number
}

interface CounterRow extends Row {
  readonly kind: string
  readonly course_id: string
  readonly place: number
  readonly learners: number
  readonly amount: number
}

/** Whoever is not deleted, in all courses and standings. */
export const everybody: Scope = { courses: undefined, statuses: standings, withDeleted: false }

/** Figures course by course, for each standing that there is. */
export async function courseFigures(database: Database, scope: Scope): Promise<StatusFigures[]> {
  const meanings = new Map<string, { status: CountedStatus; graded: boolean }>(
    named(scope).flatMap(({ status, kinds }) => [
      [kinds.all, { status, graded: false }] as const,
      [kinds.graded, { status, graded: true }] as const,
    ]),
  )
  const found = new Map<string, StatusFigures>()
  for (const { kind, course_id: courseId, learners, amount } of await rowsOf(
    database,
    [...meanings.keys()],
    scope,
  )) {
    const { status, graded } = meanings.get(kind) ?? { status: 'none', graded: false }
    const key = `${courseId} ${status}`
    const before = found.get(key) ?? { courseId, status, learners: 0, percentage: 0, graded: 0, grade: 0 }
    found.set(key, {
      ...before,
      ...(graded
        ? { graded: before.graded + learners, grade: before.grade + amount }
        : { learners: before.learners + learners, percentage: before.percentage + amount }),
    })
  }
  return [...found.values()].filter(({ learners }) => learners > 0)
}

/** How many learners stand at which percentage, in all the courses of a scope together; in order. */
export async function steps(database: Database, scope: Scope): Promise<Step[]> {
  const meanings = new Map<string, CountedStatus>(named(scope).map(({ status, kinds }) => [kinds.at, status]))
  const found = new Map<string, Step>()
  const rows = await rowsOf(database, [...meanings.keys()], scope, true)
  for (const { kind, place: hundredths, learners, amount } of rows) {
    const status = meanings.get(kind) ?? 'none'
    const key = `${status} ${hundredths}`
    const before = found.get(key)
    found.set(key, {
      status,
      hundredths,
      learners: learners + (before?.learners ?? 0),
      amount: amount + (before?.amount ?? 0),
    })
  }
  return [...found.values()]
    .filter(({ learners }) => learners > 0)
    .sort((one, other) => one.hundredths - other.hundredths)
}

/** The graded of the whole academy: how many, and the sum of their grades in millionths of a per cent. */
export async function gradedOfAcademy(
  database: Database,
): Promise<{ readonly learners: number; readonly amount: number }> {
  const rows = await rowsOf(
    database,
    named(everybody).map(({ kinds }) => kinds.graded),
    everybody,
    true,
  )
  return {
    learners: rows.reduce((sum, { learners }) => sum + learners, 0),
    amount: rows.reduce((sum, { amount }) => sum + amount, 0),
  }
}

/** How many users learn anywhere, each counted once. */
export async function learnersOf(database: Database, withDeleted: boolean): Promise<number> {
  const kinds = [learnersKind(false), ...(withDeleted ? [learnersKind(true)] : [])]
  const rows = await rowsOf(database, kinds, everybody, true)
  return rows.reduce((sum, { learners }) => sum + learners, 0)
}

/** Counters of these kinds in the courses of a scope; `whole` where those of the whole academy are meant. */
async function rowsOf(
  database: Database,
  kinds: readonly string[],
  { courses }: Scope,
  whole = false,
): Promise<CounterRow[]> {
  const only = courses ? sql`course_id in (${courses})` : whole ? sql`course_id = ''` : sql`course_id <> ''`
  return database.all<CounterRow>(sql`
    select kind, course_id, place, learners, amount from ${counters} where kind in (${join(kinds)}) and ${only}`)
}

function named({ statuses, withDeleted }: Scope) {
  return statuses.flatMap((status) =>
    [false, ...(withDeleted ? [true] : [])].map((gone) => ({ status, kinds: kindsOf(status, gone) })),
  )
}
