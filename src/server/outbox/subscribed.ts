import sql, { join } from 'sql-template-tag'
import { patternsOf } from '../../contract/events.ts'
import type { Database } from '../database/database.ts'

/** How long it may take until an endpoint that another process makes gets its first event. */
const goodForMs = 1000
/** Longer than a transaction takes that changes who subscribes. */
const unsettledMs = 10_000

interface Known {
  readonly isWanted: boolean
  /** By performance.now(). */
  readonly untilMs: number
}

/** Of each database, what was found out about events a moment ago. */
const known = new WeakMap<object, Map<string, Known>>()
let settledAtMs = 0

/**
 * False where nobody subscribes to an event: it need not be made then. That is known for a second, except after this
 * process has changed who subscribes: whether somebody does is then told by the database alone.
 */
export async function isWanted(
  database: Pick<Database, 'dialect' | 'one'>,
  type: string,
  nowMs = performance.now(),
): Promise<boolean> {
  if (nowMs < settledAtMs) return true
  // Each database has a dialect of its own, which its transactions share.
  const ofDatabase = known.get(database.dialect) ?? new Map<string, Known>()
  const found = ofDatabase.get(type)
  if (found && nowMs < found.untilMs) return found.isWanted
  const row = await database.one(
    sql`select 1 from webhook_subscriptions where pattern in (${join(patternsOf(type))}) limit 1`,
  )
  // Who subscribes may have been changed while it was looked.
  if (nowMs < settledAtMs) return true
  ofDatabase.set(type, { isWanted: row !== undefined, untilMs: nowMs + goodForMs })
  known.set(database.dialect, ofDatabase)
  return row !== undefined
}

/** Is told of each change of who subscribes, where it is written: nothing that was found before counts any more. */
export function forgetSubscribers(nowMs = performance.now()): void {
  settledAtMs = nowMs + unsettledMs
}
