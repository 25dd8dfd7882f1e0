import type { Sql } from 'sql-template-tag'
import { onPostgres, openTestAcademy } from '../test-academy.ts'
import { unknownFaults } from './known-plans.ts'
import { type Plans, sqlitePlans } from './plan-faults.ts'
import { watchDatabase } from './watched-database.ts'

/** How many times more rows than there are a large academy says there are. */
const many = 1_000_000

/** Opens an academy whose statements are planned: it tells which of them read or sort a table from end to end. */
export async function openPlannedAcademy() {
  let isLarge = false
  let statements = new Map<string, Sql>()
  let plans: Plans | undefined
  const academy = await openTestAcademy({
    through: (database) =>
      watchDatabase(database, {
        seen: (statement) => void statements.set(statement.sql, statement),
        answered: (statement, answer) => (plans ? answerBySize(plans, statement, answer, isLarge) : answer),
      }),
  })
  const made = onPostgres
    ? await (await import('./postgres-plans.ts')).postgresPlans()
    : sqlitePlans(academy.path)
  plans = made
  const faultsByText = new Map<string, string[]>()

  /** Returns the faults in the plans of the statements that some work caused. */
  async function faultsOf(work: () => Promise<unknown>): Promise<string[]> {
    statements = new Map()
    await work()
    const faults: string[] = []
    for (const [text, statement] of statements) {
      const found = faultsByText.get(text) ?? (await made.faultsOf(statement))
      faultsByText.set(text, found)
      faults.push(...found)
    }
    return unknownFaults(faults)
  }

  /**
   * Does the same twice: in an academy whose filters leave few rows, and in one whose filters leave very many. On PostgreSQL
   * once, as its planner has statistics of how many each filter leaves.
   */
  async function faultsAtEachSize(work: () => Promise<unknown>): Promise<string[]> {
    const faults: string[] = []
    for (isLarge of onPostgres ? [true] : [false, true]) faults.push(...(await faultsOf(work)))
    isLarge = false
    return faults
  }

  async function close(): Promise<void> {
    await made.close()
    await academy.close()
  }

  return { academy, plans: made, faultsOf, faultsAtEachSize, close }
}

/**
 * Replaces the answer of each statement by which the server finds out how many rows there are, to decide how to read them. So an
 * academy of a dozen rows is read as a large one.
 */
async function answerBySize(
  plans: Plans,
  statement: Sql,
  answer: unknown,
  isLarge: boolean,
): Promise<unknown> {
  // The rows of a filter, counted up to the most that are sorted.
  if (/^\s*select count\(\*\) as count from \(/.test(statement.sql)) {
    const count = (await plans.countBy(statement)) ?? (isLarge ? many : undefined)
    return count === undefined ? answer : { count }
  }
  return answer
}
