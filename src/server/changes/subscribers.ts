import sql, { join } from 'sql-template-tag'
import { patternsOf } from '../../contract/actions.ts'
import type { Database } from '../database/database.ts'

/** Lifetime of the cache; endpoints created by other processes get their first event after it. */
const cacheMs = 1000
/** Longer than a transaction that changes subscriptions. */
const maxTransactionMs = 10_000

interface CachedAnswer {
  readonly hasSubscribers: boolean
  /** By performance.now(). */
  readonly untilMs: number
}

/** Which event types have subscribers, by database. */
const subscribersByDatabase = new WeakMap<object, Map<string, CachedAnswer>>()
let settledAtMs = 0

/**
 * False if no endpoint subscribes to an event, so that it need not be written. Cached for a second; always true for a while
 * after this process has changed subscriptions.
 */
export async function hasSubscribers(
  database: Pick<Database, 'dialect' | 'one'>,
  type: string,
  nowMs = performance.now(),
): Promise<boolean> {
  if (nowMs < settledAtMs) return true
  // The dialect identifies a database: its transactions share it.
  const ofDatabase = subscribersByDatabase.get(database.dialect) ?? new Map<string, CachedAnswer>()
  const found = ofDatabase.get(type)
  if (found && nowMs < found.untilMs) return found.hasSubscribers
  const row = await database.one(
    sql`select 1 from webhook_subscriptions where pattern in (${join(patternsOf(type))}) limit 1`,
  )
  // Subscriptions may have changed during the query.
  if (nowMs < settledAtMs) return true
  ofDatabase.set(type, { hasSubscribers: row !== undefined, untilMs: nowMs + cacheMs })
  subscribersByDatabase.set(database.dialect, ofDatabase)
  return row !== undefined
}

/** Invalidates the cache; called with each change of subscriptions. */
export function forgetSubscribers(nowMs = performance.now()): void {
  settledAtMs = nowMs + maxTransactionMs
}
