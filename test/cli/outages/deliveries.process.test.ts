import { join } from 'node:path'
import sql from 'sql-template-tag'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openAcademyFile, openAcademyOnPostgres } from '../../../src/server/academy/open-academy.ts'
import { differingCounters } from '../../../src/server/counters/counter-check.ts'
import type { Row, Store } from '../../../src/server/database/database.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { withoutPostgres } from '../../helpers/postgres.ts'
import { connectAll, deliver, eventsOf, shuffled, standingAfter } from './delivered.ts'
import { startPostgres } from './postgres-cluster.ts'
import { type Fleet, startFleet } from './server-process.ts'

/** Number of deliveries, from LEARNCTL_TEST_DELIVERIES; LEARNCTL_TEST_SEED repeats a run. */
const count = Number(process.env['LEARNCTL_TEST_DELIVERIES'] ?? 120)
const seed = Number(process.env['LEARNCTL_TEST_SEED'])
const connections = 16
const closeTimeoutMs = 60_000 + count * 100

/** Sends all events over several connections while servers are killed; returns problems of the responses. */
async function deliverAll(fleet: Fleet): Promise<string[]> {
  await connectAll(fleet)
  const all = shuffled(eventsOf(count, seed), seed)
  const kills = new Set([1, 2, 3].map((quarter) => Math.floor((all.length * quarter) / 4)))
  const faults: string[] = []
  const killing: Promise<void>[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) {
      const event = all[index]
      if (!event) return
      if (kills.has(index)) killing.push(fleet.killOne(index % fleet.urls.length))
      const fault = await deliver(fleet, event)
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  await Promise.all(killing)
  return [...faults, ...(await fleet.stop())]
}

async function standingIn(database: Store): Promise<string[]> {
  const lines = await database.all<
    Row & { line: string; number: number | null; published: number | null }
  >(sql`
    select 'grade ' || u.external_id || ' ' || g.item_id as line,
      case when g.cleared = 1 then null else g.score_given end as number, g.published
      from grades g join users u on u.id = g.user_id
    union all
    select 'course ' || u.external_id, g.percent, null from course_grades g join users u on u.id = g.user_id
    union all
    select 'percentage ' || c.external_id || ' ' || u.external_id, coalesce(p.percentage, 0), null
      from enrollments e join users u on u.id = e.user_id join courses c on c.id = e.course_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`)
  return lines
    .map(
      ({ line, number, published }) => `${line} ${number}${published === null ? '' : ` ${published === 1}`}`,
    )
    .sort()
}

async function expectWhole(database: Store, faults: readonly string[]): Promise<void> {
  expect(faults, `seed ${seed}`).toEqual([])
  expect(await standingIn(database), `seed ${seed}`).toEqual(standingAfter(eventsOf(count, seed)))
  const statuses = await database.all(sql`
    select count(*) as found, sum(case when status in ('applied', 'stale') then 0 else 1 end) as others
    from webhook_deliveries`)
  expect(statuses).toEqual([{ found: count, others: 0 }])
  expect(await differingCounters({ database, now: new Date().toISOString() })).toBe(0)
}

function freshHome(): string {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  return path
}

test(
  'SQLite: the same deliveries in any order, some twice, make the same gradebook, also where the server is killed',
  async () => {
    const home = freshHome()
    const path = join(home, 'academy.db')
    const fleet = await startFleet(home, path, 1)
    onTestFinished(async () => void (await fleet.stop()))
    const faults = await deliverAll(fleet)
    const { database } = await openAcademyFile(path, () => new Date())
    await expectWhole(database, faults)
    await database.close()
  },
  closeTimeoutMs,
)

describe.skipIf(withoutPostgres !== false)('PostgreSQL', () => {
  test(
    'three servers that are killed make the same gradebook of the same deliveries',
    async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.stop())
      const keyFile = ['--encryption-key-file', 'sealing.key']
      const fleet = await startFleet(freshHome(), postgres.url, 3, keyFile)
      onTestFinished(async () => void (await fleet.stop()))
      const faults = await deliverAll(fleet)
      const { database } = await openAcademyOnPostgres({ url: postgres.url, env: {} }, () => new Date())
      await expectWhole(database, faults)
      await database.close()
    },
    closeTimeoutMs,
  )
})
