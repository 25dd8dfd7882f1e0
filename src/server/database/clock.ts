import type { Database, Row } from './database.ts'

/**
 * How far the clock of this process is ahead of the one of the database, in milliseconds, negative where it is behind: at
 * least so far, because the question takes its time. 0 where both are of one machine.
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
