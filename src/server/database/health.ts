import sql from 'sql-template-tag'
import { unavailable } from '../problem-error.ts'
import type { Database, Row, Store } from './database.ts'

/** Load balancers ask every few seconds, and there may be several. */
const goodForMs = 1000
const usualPatienceMs = 2000

interface Look {
  readonly outcome: Promise<unknown>
  /** When the check ended (performance.now()); undefined while it runs. */
  endedMs: number | undefined
}

const looks = new WeakMap<object, Look>()

type Asked = Pick<Store, 'one' | 'requireFiles'>

/**
 * Checks that the database responds. Throws 503 if it fails, has lost a file, or does not respond in time. The check
 * runs at most once a second, and never twice at a time.
 */
export async function requireAnswering(database: Asked, closeTimeoutMs = usualPatienceMs): Promise<void> {
  try {
    database.requireFiles?.()
  } catch (cause) {
    throw unavailable('Files of the database are missing; stop the server and restore a backup.', 30, cause)
  }
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = setTimeout(reject, closeTimeoutMs)
  try {
    await Promise.race([lookAt(database), late])
  } catch (cause) {
    throw unavailable('The database does not respond.', 1, cause)
  } finally {
    clearTimeout(giveUp)
  }
}

function lookAt(database: Asked): Promise<unknown> {
  const known = looks.get(database)
  if (known && performance.now() - (known.endedMs ?? Number.POSITIVE_INFINITY) < goodForMs)
    return known.outcome
  const look: Look = { outcome: database.one(sql`select 1 from settings limit 1`), endedMs: undefined }
  looks.set(database, look)
  const end = () => {
    look.endedMs = performance.now()
  }
  look.outcome.then(end, end)
  return look.outcome
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
