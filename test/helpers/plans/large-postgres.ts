import type pg from 'pg'

/** Number of rows of each table in an academy of ten million users. */
const sizes: Readonly<Record<string, number>> = {
  users: 10_000_000,
  courses: 20_000,
  course_tags: 60_000,
  course_versions: 100_000,
  lessons: 400_000,
  lesson_versions: 2_000_000,
  enrollments: 50_000_000,
  progress: 50_000_000,
  progress_steps: 200_000_000,
  grades: 100_000_000,
  grade_steps: 200_000_000,
  course_grades: 50_000_000,
  counters: 6_000_000,
  counter_changes: 1_000_000,
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
export function timesEnlarged(table: string): number {
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
  'counters.kind': `case when n % 10 = 0 then ${choice('none', 'in_progress', 'completed', 'open', 'early')} else 'in_progress at' end`,
  'counter_changes.kind': choice('none', 'none at', 'in_progress', 'in_progress at', 'completed'),
  lms_kind: choice('canvas', 'moodle', 'openedx', 'thinkific', 'standard'),
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
export async function enlarge(client: pg.Client): Promise<void> {
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
