import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Store } from './database.ts'
import { firstIdAt, type IdPrefix } from './id.ts'
import { sweepTrash } from './trash.ts'

/** Rows in one transaction: a few milliseconds' worth. */
const pieceRows = 500
const dayMs = 24 * 60 * 60 * 1000
const hourMs = 60 * 60 * 1000

/** Rows that are of no use any more. */
interface Leftovers {
  readonly table: string
  readonly key: readonly string[]
  /** The column that says since when, and how long after that they are kept. */
  readonly since: string
  /** Where that column is an id, which tells when it was made: its prefix. */
  readonly prefix?: IdPrefix
  readonly keptMs: number
  readonly only?: Sql
}

/** Whoever reads one of these looks at its time: none of them counts for longer because it is still there. */
const leftovers: readonly Leftovers[] = [
  {
    table: 'idempotency',
    key: ['user_id', 'method', 'path', 'key'],
    since: 'created_at',
    keptMs: dayMs,
  },
  // A code that was exchanged stays as long as its grant: shown again, it has to end that.
  {
    table: 'authorization_codes',
    key: ['hash'],
    since: 'expires_at',
    keptMs: 0,
    only: sql`grant_id is null`,
  },
  // For a while, what has expired is told apart from what never was.
  { table: 'device_codes', key: ['hash'], since: 'expires_at', keptMs: hourMs },
  { table: 'access_tokens', key: ['hash'], since: 'expires_at', keptMs: dayMs },
  { table: 'grants', key: ['id'], since: 'expires_at', keptMs: dayMs },
  { table: 'browser_sessions', key: ['hash'], since: 'expires_at', keptMs: 0 },
  // A message that its endpoint did not take in this time is of no use to it any more.
  { table: 'webhook_messages', key: ['id'], since: 'id', prefix: 'msg', keptMs: 7 * dayMs },
  // For so long, further failures add to those before.
  { table: 'attempts', key: ['slot'], since: 'next_at', keptMs: hourMs },
  // One that is sent again after that is told by the time of what it says.
  { table: 'webhook_deliveries', key: ['id'], since: 'received_at', keptMs: 30 * dayMs },
]

/** Deletes what has expired, in small transactions between which others write; at most so many for each table. */
export async function sweep(database: Pick<Store, 'write'>, now: Date, mostPieces = 100): Promise<void> {
  for (const { table, key, since, prefix, keptMs, only } of leftovers) {
    const columns = raw(key.join(', '))
    const beforeMs = now.getTime() - keptMs
    const before = prefix ? firstIdAt(prefix, beforeMs + 1) : new Date(beforeMs).toISOString()
    const dead = [sql`${raw(since)} <= ${before}`, ...(only ? [only] : [])]
    const statement = sql`
      delete from ${raw(table)} where (${columns}) in (
        select ${columns} from ${raw(table)} where ${join(dead, ' and ')} limit ${pieceRows})`
    for (let piece = 0; piece < mostPieces; piece += 1) {
      if ((await database.write((transaction) => transaction.run(statement))) < pieceRows) break
    }
  }
  await sweepTrash(database, now, mostPieces)
}
