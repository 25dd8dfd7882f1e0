import pg from 'pg'
import type { Sql } from 'sql-template-tag'
import { valuesOf } from '../../../src/server/database/postgres/transaction.ts'
import { makeAcademyDatabase } from '../postgres.ts'
import { isPage, isStatement, type Plans, smallTables } from './plan-faults.ts'

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
    async close() {
      await client.end()
      await database.remove()
    },
  }
}

/** Tables that may be read from one end of an index to the other as long as that is cheap, with the reason. */
const fewRows: Readonly<Record<string, string>> = {
  courses: 'there are some thousand',
  terms: 'there are some dozen',
}

/** Returns PostgreSQL's estimate of what planning costs. */
function planningCost(plan: Step): number {
  const perTable = 2.5
  return perTable * (stepsOf(plan).filter((step) => step['Relation Name']).length + 1)
}

function faultsIn(plan: Step, statement: Sql): string[] {
  const walks = isPage(statement.sql) ? [] : walksIn(plan)
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

/** Number of rows of each table in an academy of ten million users. */
const sizes: Readonly<Record<string, number>> = {
  users: 10_000_000,
  terms: 1_000,
  groups: 500_000,
  group_members: 20_000_000,
  courses: 20_000,
  course_tags: 60_000,
  course_versions: 100_000,
  lessons: 400_000,
  lesson_versions: 2_000_000,
  enrollments: 50_000_000,
  deletions: 100_000,
  deleted_courses: 20_000,
  deleted_enrollments: 5_000_000,
  progress: 50_000_000,
  progress_steps: 200_000_000,
  grades: 100_000_000,
  grade_steps: 200_000_000,
  course_grades: 50_000_000,
  line_items: 400_000,
  results: 100_000_000,
  calendars: 1_000_000,
  client_tokens: 1_000_000,
  api_keys: 1_000_000,
  oauth_clients: 10_000,
  grants: 10_000_000,
  access_tokens: 10_000_000,
  refresh_tokens: 10_000_000,
  authorization_codes: 1_000_000,
  device_codes: 1_000_000,
  browser_sessions: 10_000_000,
  idempotency: 10_000_000,
  attempts: 65_536,
  audit_entries: 100_000_000,
  changes: 1_000_000,
  row_changes: 200_000_000,
  integration_mappings: 1_000_000,
  webhook_deliveries: 10_000_000,
  webhook_messages: 5_000_000,
  webhook_attempts: 10_000_000,
}

/** Rows that each table really gets: enough for a histogram. */
const seeded = 3000

const choice = (...values: readonly string[]) =>
  `(array[${values.map((value) => `'${value}'`).join()}])[1 + n * 7919 % ${values.length}]`
const sometimes = (value: string) => `case when n % 100 = 0 then ${value} end`

/** Returns how many rows of the large academy one real row stands for. */
function timesEnlarged(table: string): number {
  const size = sizes[table] ?? seeded
  return size / Math.min(seeded, size)
}

/** SQL expression of a column in row `n`, by column or table and column; otherwise the type decides. */
const values: Readonly<Record<string, string>> = {
  'authorization_codes.grant_id': `case when n % 10 > 0 then 'grants_' || n end`,
  user_id: `'users_' || n % 2500`,
  course_id: `'courses_' || n * 7 % 2000`,
  client_id: `'oauth_clients_' || n % 1000`,
  grade_id: `'grades_' || n`,
  lesson_id: `'lessons_' || n`,
  'users.role': `case when n % 50 = 0 then ${choice('instructor', 'analyst', 'admin')} else 'learner' end`,
  'users.status': `case when n % 20 = 0 then ${choice('suspended', 'deleted')} else 'active' end`,
  'users.search_key': `'name' || n || ' ' || md5(n::text) || ' school example'`,
  'enrollments.role': `case when n % 50 = 0 then 'instructor' else 'learner' end`,
  'enrollments.status': choice('active', 'active', 'active', 'completed', 'inactive', 'deleted'),
  'courses.status': choice('published', 'published', 'draft', 'archived'),
  'courses.difficulty': choice('beginner', 'intermediate', 'advanced'),
  'lessons.status': choice('published', 'published', 'draft'),
  'progress.status': choice('completed', 'in_progress', 'in_progress', 'not_started'),
  'progress_steps.status': choice('completed', 'in_progress'),
  lms_kind: choice('canvas', 'moodle', 'openedx', 'thinkific', 'classroom', 'standard'),
  'webhook_deliveries.status': choice('applied', 'applied', 'stale', 'ignored', 'unmatched', 'failed'),
  'webhook_messages.status': choice('delivered', 'delivered', 'pending', 'failed'),
  'webhook_messages.type': choice(
    'progress.updated',
    'progress.completed',
    'course.updated',
    'grade.updated',
  ),
  'webhook_messages.endpoint_id': `'endpoint_' || n % 20`,
  'webhook_attempts.message_id': `'webhook_messages_' || n`,
  module_id: sometimes(`'module_' || n`),
  term_id: `'terms_' || n % 100`,
  managed_by: sometimes(`'sis'`),
  revoked_at: sometimes(`'2026-01-01T00:00:00.000Z'`),
  tag: `'tag_' || n % 100`,
  level: 'n % 3',
  position: 'n % 20',
  version: '1',
  slot: 'n',
  place: 'n % 10001',
}

/** Number of distinct values of a column; negative for a share of the rows (PostgreSQL, ALTER TABLE). */
const distinct: Readonly<Record<string, number>> = {
  user_id: -0.2,
  course_id: 20_000,
  term_id: 1_000,
  client_id: 10_000,
  grade_id: -0.5,
  lesson_id: -0.2,
  place: 10_001,
}

function cellOf(table: string, column: string, type: string): string {
  const known = values[`${table}.${column}`] ?? values[column]
  if (known !== undefined) return known
  if (type === 'json') return `'{}'`
  if (type !== 'text') return 'n % 100'
  const time = `to_char(timestamp '2026-01-01' + n * 7919 % ${seeded} * interval '97 minutes', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`
  if (column.endsWith('_at') || column === 'last_accessed') return time
  return column === 'id' ? `'${table}_' || n` : `'${column}_' || n`
}

/**
 * Makes an academy look like one of ten million users to the planner of PostgreSQL: inserts a few thousand rows into
 * each table, gathers statistics about them, and sets the number of rows.
 */
async function enlarge(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; type: string }>(`
    select relname as "table", attname as "column", format_type(atttypid, null) as type
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped`)
  // Insert rows before those that they refer to.
  await client.query('set session_replication_role = replica')
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    const size = sizes[table]
    if (size === undefined) continue
    const names = columns.map(({ column }) => column)
    const made = columns.map(({ column, type }) => cellOf(table, column, type))
    const spread = names.flatMap((name) =>
      distinct[name] ? [`alter column ${name} set (n_distinct = ${distinct[name]})`] : [],
    )
    const rowsMade = Math.min(seeded, size)
    await client.query(`
      alter table ${table} ${[...spread, 'set (autovacuum_enabled = off)'].join()};
      insert into ${table} (${names.join()}) select ${made.join()} from generate_series(1, ${rowsMade}) n
        on conflict do nothing`)
    await client.query(`vacuum analyze ${table}`)
    // Vacuum marks a page as visible to all only if no other connection, such as autovacuum's, has an older view.
    await client.query(`
      update pg_class set reltuples = reltuples * ${timesEnlarged(table)}, relallvisible = relpages
      where oid = '${table}'::regclass or oid in (select indexrelid from pg_index where indrelid = '${table}'::regclass)`)
  }
  await client.query('set session_replication_role = origin')
}
