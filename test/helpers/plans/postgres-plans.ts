import pg from 'pg'
import type { Sql } from 'sql-template-tag'
import { valuesOf } from '../../../src/server/database/postgres/transaction.ts'
import { makeAcademyDatabase } from '../postgres.ts'
import { enlarge, timesEnlarged } from './large-postgres.ts'
import { isPlainWalk, isStatement, type Plans, smallTables } from './plan-faults.ts'

/** A step of a plan, from EXPLAIN (FORMAT JSON). */
interface Step {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Plan Rows': number
  readonly 'Total Cost': number
  readonly Plans?: readonly Step[]
}

/**
 * Maximum cost of a statement that looks at a bounded number of rows. Reading a table of ten million rows from end to
 * end costs at least ten times as much.
 */
const maxCost = 12_000
const disabledCost = 10_000_000_000

/**
 * Finds what grows with a table in PostgreSQL's plans of a statement, in an academy that appears to have ten million
 * users: a table that is read from end to end, and a cost above that of a bounded number of rows. A prepared statement
 * has two plans, a custom one for its values and a generic one, which PostgreSQL uses unless it is estimated to cost
 * more (PREPARE).
 */
export async function postgresPlans(): Promise<Plans> {
  const database = await makeAcademyDatabase()
  const client = new pg.Client(database.url)
  await client.connect()
  await enlarge(client)
  // The program sets this on its connections.
  await client.query('set enable_seqscan = off')

  async function planOf(kind: 'custom' | 'generic', execution: string): Promise<Step> {
    await client.query(`set plan_cache_mode = force_${kind}_plan`)
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: Step }] }>(
      `explain (format json) ${execution}`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (!plan) throw new Error(`There is no plan of ${execution}`)
    return plan
  }

  async function prepared<Result>(
    statement: Sql,
    work: (execution: string) => Promise<Result>,
  ): Promise<Result> {
    const given = valuesOf(statement).map((value) => (value === null ? 'null' : pg.escapeLiteral(`${value}`)))
    await client.query(`prepare asked as ${statement.text}`)
    try {
      return await work(`execute asked${given.length > 0 ? `(${given.join()})` : ''}`)
    } finally {
      await client.query('deallocate asked')
    }
  }

  async function look(statement: Sql): Promise<string[]> {
    if (!isStatement(statement.sql)) return []
    const plans = await prepared(statement, async (execution) => {
      const custom = await planOf('custom', execution)
      const generic = await planOf('generic', execution)
      const isTaken = generic['Total Cost'] < custom['Total Cost'] + planningCost(custom)
      return isTaken ? [custom, generic] : [custom]
    })
    const text = statement.text.replace(/\s+/g, ' ').trim()
    return plans.flatMap((plan) => faultsIn(plan, statement)).map((fault) => `${fault}: ${text}`)
  }

  async function count(statement: Sql): Promise<number | undefined> {
    const plan = await prepared(statement, (execution) => planOf('custom', execution))
    return stepsOf(plan).find((step) => step['Node Type'] === 'Limit')?.['Plan Rows']
  }

  // There is one connection, so statements run one after the other.
  let last: Promise<unknown> = Promise.resolve()
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }

  return {
    faultsOf: (statement) => inTurn(() => look(statement)),
    countBy: (statement) => inTurn(() => count(statement)),
    async placeBy(statement) {
      const [, table = ''] = /\bfrom (\w+)/.exec(statement.sql) ?? []
      const values = valuesOf(statement)
      const offset = Math.floor(Number(values.at(-1)) / timesEnlarged(table))
      const { rows } = await client.query<object>(statement.text, [...values.slice(0, -1), offset])
      return rows[0]
    },
    async close() {
      await client.end()
      await database.remove()
    },
  }
}

/** Tables that may be read from one end of an index to the other as long as that is cheap, with the reason. */
const fewRows: Readonly<Record<string, string>> = { courses: 'there are some thousand' }

/** Returns PostgreSQL's estimate of what planning costs. */
function planningCost(plan: Step): number {
  const perTable = 2.5
  return perTable * (stepsOf(plan).filter((step) => step['Relation Name']).length + 1)
}

function faultsIn(plan: Step, statement: Sql): string[] {
  const walks = isPlainWalk(statement.sql) ? [] : walksIn(plan)
  const scans = stepsOf(plan).filter((step) => step['Node Type'] === 'Seq Scan')
  const whole = [...scans, ...walks]
    .filter((step) => !((step['Relation Name'] ?? '') in smallTables))
    .map((step) => `${step['Node Type']} of ${step['Index Name'] ?? step['Relation Name']}`)
  // Small tables are read from end to end even though that is disabled, which adds the cost of disabled steps.
  const cost = plan['Total Cost'] % disabledCost
  return cost > maxCost && whole.length === 0 ? [`cost ${Math.round(cost)}`] : whole
}

/** Returns the walks through a whole index, except those that stop at a limit without filtering. */
function walksIn(step: Step, parent?: Step): Step[] {
  const { 'Node Type': type, 'Index Cond': condition, 'Relation Name': table = '', Filter: filter } = step
  const isWalk = /^(Index|Index Only|Bitmap Index) Scan/.test(type) && condition === undefined
  const isBounded = parent?.['Node Type'] === 'Limit' && filter === undefined
  const below = (step.Plans ?? []).flatMap((one) => walksIn(one, step))
  return isWalk && !isBounded && !(table in fewRows) ? [step, ...below] : below
}

function stepsOf(plan: Step): Step[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)]
}
