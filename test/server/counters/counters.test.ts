import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { foldChanges, rebuildCounters } from '../../../src/server/counters/count.ts'
import { correctCounters, differingCounters } from '../../../src/server/counters/counter-check.ts'
import { courseKinds } from '../../../src/server/counters/tally.ts'
import type { Store } from '../../../src/server/database/database.ts'
import { type Clock, day, onPostgres, test } from '../../helpers/academy.ts'
import { anyWrite, beginning, sendWrite } from './any-write.ts'
import { keptCount, plainCount } from './plain-count.ts'

/** First day that the counters keep apart from earlier ones. */
const firstDay = (clock: Clock) => new Date(clock.now().getTime() - 21 * day).toISOString().slice(0, 10)

for (const [engine, hasManyWriters] of [
  ['one writer', false],
  ['many writers', true],
] as const) {
  test.skipIf(onPostgres && !hasManyWriters)(
    `on an engine with ${engine} the counters say after any writes what counting everything says`,
    async ({ academy, admin, clock }) => {
      const { database } = academy
      const usual = database.dialect.hasManyWriters
      // Its transactions share the dialect, and so do other academies.
      Object.assign(database.dialect, { hasManyWriters })
      onTestFinished(() => void Object.assign(database.dialect, { hasManyWriters: usual }))
      const kinds = new Set<string>()
      const pending = async () =>
        Number((await database.one(sql`select count(*) as pending from counter_changes`))?.['pending'])
      let deferred = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyWrite, { minLength: 5, maxLength: 25 }),
          fc.boolean(),
          async (writes, folds) => {
            for (const one of [...beginning, ...writes]) await sendWrite(academy, admin, one)
            const plain = await plainCount(database, firstDay(clock))
            expect(await keptCount(database, firstDay(clock))).toEqual(plain)
            for (const [kind] of plain) kinds.add(kind)
            deferred += await pending()
            const now = clock.now().toISOString()
            const fold = () =>
              database.write((transaction) => foldChanges({ database: transaction, now }, 20))
            while (folds && (await fold()));
            expect(await keptCount(database, firstDay(clock))).toEqual(plain)
            clock.advance(day)
          },
        ),
        { numRuns: 15 },
      )
      expect(deferred > 0).toBe(hasManyWriters)
      // At least half of all kinds of counters occur, mostly more.
      expect(kinds.size).toBeGreaterThan(0.5 * courseKinds.length)
      const now = clock.now().toISOString()
      expect(await differingCounters({ database, now })).toBe(0)
      expect(await differingCounters({ database, now }, 1)).toBe(0)
      const kept = await keptCount(database, firstDay(clock))
      await database.write((transaction) => rebuildCounters({ database: transaction, now }))
      expect(await keptCount(database, firstDay(clock))).toEqual(kept)
      expect(await pending()).toBe(0)
      await database.run(sql`update counters set learners = learners + 1 where kind = 'none at'`)
      const wrong = kept.filter(([kind]) => kind === 'none at').length
      expect(await differingCounters({ database, now })).toBe(wrong)
      expect(await differingCounters({ database, now }, 1)).toBe(wrong)
    },
  )

  test.skipIf(onPostgres && !hasManyWriters)(
    `on an engine with ${engine} counters that are wrong are corrected while others write`,
    async ({ academy, admin, clock }) => {
      const { database } = academy
      const usual = database.dialect.hasManyWriters
      Object.assign(database.dialect, { hasManyWriters })
      onTestFinished(() => void Object.assign(database.dialect, { hasManyWriters: usual }))
      let corrected = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyWrite, { minLength: 5, maxLength: 15 }),
          fc.array(anyWrite, { minLength: 8, maxLength: 12 }),
          fc.subarray(damages, { minLength: 1 }),
          fc.constantFrom(1, 1000),
          async (writes, meanwhile, damaged, atOnce) => {
            for (const one of [...beginning, ...writes]) await sendWrite(academy, admin, one)
            const now = clock.now().toISOString()
            await database.write((transaction) => foldChanges({ database: transaction, now }, 1000))
            for (const damage of damaged) await database.run(damage)
            corrected += await differingCounters({ database, now })
            const left = [...meanwhile]
            const others = async () => {
              const one = left.shift()
              if (one) await sendWrite(academy, admin, one)
              if (left.length % 4 === 0) clock.advance(day / 4)
            }
            await correctCounters(besides(database, others), clock.now, atOnce)
            expect(await keptCount(database, firstDay(clock))).toEqual(
              await plainCount(database, firstDay(clock)),
            )
          },
        ),
        { numRuns: onPostgres ? 3 : 6 },
      )
      expect(corrected).toBeGreaterThan(5)
    },
  )
}

/** Statements that corrupt counters, each differently. */
const damages = [
  sql`update counters set learners = learners + 3, amount = amount + 5 where place = 0`,
  sql`update counters set learners = 7 where course_id = ''`,
  sql`delete from counters where kind like 'in_progress%'`,
  sql`insert into counters (kind, course_id, place, learners, amount) values ('none', 'crs_gone', 0, 2, 0)
    on conflict (kind, course_id, place) do nothing`,
]

/** A store that runs other changes after each of its transactions. */
function besides(database: Store, others: () => Promise<void>): Store {
  const then = async <Result>(result: Promise<Result>) => {
    const value = await result
    await others()
    return value
  }
  return {
    ...database,
    read: (work) => then(database.read(work)),
    write: (work) => then(database.write(work)),
  }
}

test('of two programs that correct the counters at once, the first leaves it to the second', async ({
  academy: { database },
  clock,
}) => {
  await database.run(sql`insert into counters (kind, course_id, place, learners, amount) values ('learners', '', 0, 9, 0)
    on conflict (kind, course_id, place) do update set learners = 9`)
  let second: Promise<boolean> | undefined
  const others = async () => {
    second ??= correctCounters(database, clock.now)
    await second
  }
  expect(await correctCounters(besides(database, others), clock.now)).toBe(false)
  expect(await second).toBe(true)
  expect(await differingCounters({ database, now: clock.now().toISOString() })).toBe(0)
  expect(await database.one(sql`select 1 from settings where name = 'counter_correction'`)).toBeUndefined()
})
