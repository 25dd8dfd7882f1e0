import type { Database, Row } from './database.ts'

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
