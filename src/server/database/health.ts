import sql from 'sql-template-tag'
import { unavailable } from '../problem-error.ts'
import { type Database, DatabaseError, type Row, type Store } from './database.ts'

/** Load balancers ask every few seconds, and there may be several. */
const cacheMs = 1000
const defaultTimeoutMs = 2000

interface Check {
  readonly outcome: Promise<unknown>
  /** When the check ended (performance.now()); undefined while it runs. */
  endedMs: number | undefined
}

const checkByDatabase = new WeakMap<object, Check>()

type Asked = Pick<Store, 'one' | 'requireFiles'>

/** Throws 503 if it fails, is damaged, lost a file, or is late. Checks at most once a second, never twice at a time. */
export async function requireAnswering(database: Asked, timeoutMs = defaultTimeoutMs): Promise<void> {
  try {
    database.requireFiles?.()
  } catch (cause) {
    const reason = cause instanceof DatabaseError ? cause.message : 'cannot be used'
    throw unavailable(`The database ${reason}; stop the server and restore a backup.`, 30, cause)
  }
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = setTimeout(reject, timeoutMs)
  try {
    await Promise.race([checkDatabase(database), late])
  } catch (cause) {
    throw unavailable('The database does not respond.', 1, cause)
  } finally {
    clearTimeout(giveUp)
  }
}

function checkDatabase(database: Asked): Promise<unknown> {
  const cached = checkByDatabase.get(database)
  if (cached && performance.now() - (cached.endedMs ?? Number.POSITIVE_INFINITY) < cacheMs)
    return cached.outcome
  const check: Check = { outcome: database.one(sql`select 1 from settings limit 1`), endedMs: undefined }
  checkByDatabase.set(database, check)
  const end = () => {
    check.endedMs = performance.now()
  }
  check.outcome.then(end, end)
  return check.outcome
}

/**
 * Returns by how many milliseconds this process's clock is at least ahead of the database's (negative if behind); 0
 * on the same machine. The round trip makes it a lower bound.
 */
export async function clockAheadMs(
  { dialect, one }: Pick<Database, 'dialect' | 'one'>,
  now: () => Date,
): Promise<number> {
  if (!dialect.clock) return 0
  const askedMs = now().getTime()
  const row = await one<Row & { seconds: number }>(dialect.clock)
  const answeredMs = now().getTime()
  const thereMs = Number(row?.seconds) * 1000
  return Math.round(Math.max(0, askedMs - thereMs) + Math.min(0, answeredMs - thereMs))
}
