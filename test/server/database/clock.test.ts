import { describe, expect, test } from 'vitest'
import type { Database } from '../../../src/server/database/database.ts'
import { clockAheadMs } from '../../../src/server/database/health.ts'
import { dialect } from '../../../src/server/database/postgres/open-postgres.ts'
import { onPostgres, test as withAcademy } from '../../helpers/academy.ts'

/** A database with this time, and a local clock that advances during the query. */
async function aheadMs(thereMs: number, askedMs: number, answeredMs: number): Promise<number> {
  const times = [askedMs, answeredMs]
  const database = { dialect, one: async () => ({ seconds: thereMs / 1000 }) }
  // Only this method of a database is used.
  return clockAheadMs(database as unknown as Database, () => new Date(times.shift() ?? Number.NaN))
}

describe('the clock of a server', () => {
  test('is ahead or behind by what the time of the question cannot explain', async () => {
    expect(await aheadMs(10_000, 17_000, 18_000)).toBe(7000)
    expect(await aheadMs(10_000, 2000, 3500)).toBe(-6500)
  })

  test('is right where the database looked at its own between question and answer', async () => {
    expect(await aheadMs(10_000, 10_000, 10_000)).toBe(0)
    expect(await aheadMs(10_000, 4000, 30_000)).toBe(0)
  })
})

withAcademy.skipIf(onPostgres)(
  'the clock of an academy in a file is the one of this machine',
  async ({ academy }) => {
    expect(await clockAheadMs(academy.database, academy.clock.now)).toBe(0)
  },
)
