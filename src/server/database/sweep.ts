import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Store } from './database.ts'
import { firstIdAt, type IdPrefix } from './id.ts'
import { sweepTrash } from './trash.ts'

/** Per transaction: a few milliseconds of work. */
const batchRows = 500
const dayMs = 24 * 60 * 60 * 1000
const hourMs = 60 * 60 * 1000

interface ExpiringRows {
  readonly table: string
  readonly key: readonly string[]
  readonly since: string
  /** Prefix of the ids if that column is an id, which contains its creation time. */
  readonly prefix?: IdPrefix
  readonly retentionMs: number
  readonly only?: Sql
}

/** Expiry never depends on this sweep: each reader of these tables checks the time. */
const expiring: readonly ExpiringRows[] = [
  {
    table: 'idempotency',
    key: ['user_id', 'method', 'path', 'key'],
    since: 'created_at',
    retentionMs: dayMs,
  },
  // Kept as long as the grant: reuse of an exchanged code must revoke the grant.
  {
    table: 'authorization_codes',
    key: ['hash'],
    since: 'expires_at',
    retentionMs: 0,
    only: sql`grant_id is null`,
  },
  // Kept for a while to distinguish expired codes from unknown ones.
  { table: 'device_codes', key: ['hash'], since: 'expires_at', retentionMs: hourMs },
  { table: 'access_tokens', key: ['hash'], since: 'expires_at', retentionMs: dayMs },
  { table: 'client_tokens', key: ['hash'], since: 'expires_at', retentionMs: dayMs },
  { table: 'grants', key: ['id'], since: 'expires_at', retentionMs: dayMs },
  { table: 'browser_sessions', key: ['hash'], since: 'expires_at', retentionMs: 0 },
  // Undelivered messages are given up after this time.
  { table: 'webhook_messages', key: ['id'], since: 'id', prefix: 'msg', retentionMs: 7 * dayMs },
  { table: 'plan_steps', key: ['plan_id', 'step'], since: 'plan_id', prefix: 'pln', retentionMs: dayMs },
  // By then its steps are deleted.
  { table: 'plans', key: ['id'], since: 'id', prefix: 'pln', retentionMs: 2 * dayMs },
  // Within this time further failures add to earlier ones.
  { table: 'attempts', key: ['slot'], since: 'next_at', retentionMs: hourMs },
  // A repeated delivery is recognised by the time in its content after that.
  { table: 'webhook_deliveries', key: ['id'], since: 'received_at', retentionMs: 30 * dayMs },
]

/** In small transactions that let other writes through; at most `maxBatches` per table. */
export async function sweep(database: Pick<Store, 'write'>, now: Date, maxBatches = 100): Promise<void> {
  for (const { table, key, since, prefix, retentionMs, only } of expiring) {
    const columns = raw(key.join(', '))
    const beforeMs = now.getTime() - retentionMs
    const before = prefix ? firstIdAt(prefix, beforeMs + 1) : new Date(beforeMs).toISOString()
    const dead = [sql`${raw(since)} <= ${before}`, ...(only ? [only] : [])]
    const statement = sql`
      delete from ${raw(table)} where (${columns}) in (
        select ${columns} from ${raw(table)} where ${join(dead, ' and ')} limit ${batchRows})`
    for (let batch = 0; batch < maxBatches; batch += 1) {
      if ((await database.write((transaction) => transaction.run(statement))) < batchRows) break
    }
  }
  await sweepTrash(database, now, maxBatches)
}

const secondMs = 1000
const maxChecks = 3600

type Later = (work: () => Promise<void>, ms: number) => void

const whileRunning: Later = (work, ms) => {
  setTimeout(() => void work(), ms).unref()
}

/** Remaining checks, by database that waits for readers of an earlier state. */
const checksLeft = new WeakMap<Store, number>()

/**
 * Removes deleted data from the write-ahead log as well: at once, or as soon as no reader uses an earlier state. One
 * check a second serves all deletions. The last program to close the database removes the log anyway.
 */
export async function removeTraces(database: Store, later: Later = whileRunning): Promise<void> {
  const isScheduled = checksLeft.has(database)
  checksLeft.set(database, maxChecks)
  if (!isScheduled) await checkAgain(database, later)
}

async function checkAgain(database: Store, later: Later): Promise<void> {
  const count = (checksLeft.get(database) ?? 0) - 1
  checksLeft.set(database, count)
  if (count > 0 && !(await isDone(database))) later(() => checkAgain(database, later), secondMs)
  else checksLeft.delete(database)
}

async function isDone(database: Store): Promise<boolean> {
  try {
    return await database.emptyLog()
  } catch {
    // The database was closed or the disk failed; the deletion itself is committed.
    return true
  }
}
