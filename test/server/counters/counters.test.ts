import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { foldChanges, rebuildCounters } from '../../../src/server/counters/count.ts'
import { correctCounters, countDifferingCounters } from '../../../src/server/counters/counter-check.ts'
import { courseKinds } from '../../../src/server/counters/tally.ts'
import type { Database, Row, Store } from '../../../src/server/database/database.ts'
import { type Clock, day, onPostgres, test } from '../../helpers/academy.ts'
import { randomRuns } from '../../helpers/random.ts'
import { slowRows } from '../../helpers/slow-rows.ts'
import { anyWrite, initialWrites, sendWrite } from './any-write.ts'

/** First day that the counters keep apart from earlier ones. */
const firstDay = (clock: Clock) => new Date(clock.now().getTime() - 21 * day).toISOString().slice(0, 10)

for (const [engine, hasManyWriters] of slowRows([
  ['one writer', false],
  ['many writers', true],
])) {
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
      const runs = randomRuns(5, 40)
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyWrite, { minLength: 5, maxLength: 25 }),
          fc.boolean(),
          async (writes, folds) => {
            for (const one of [...initialWrites, ...writes]) await sendWrite(academy, admin, one)
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
        { numRuns: runs },
      )
      expect(deferred > 0).toBe(hasManyWriters)
      // In many runs at least half of all kinds of counters occur, mostly more.
      if (runs >= 40) expect(kinds.size).toBeGreaterThan(0.5 * courseKinds.length)
      const now = clock.now().toISOString()
      expect(await countDifferingCounters({ database, now })).toBe(0)
      expect(await countDifferingCounters({ database, now }, 1)).toBe(0)
      const kept = await keptCount(database, firstDay(clock))
      await database.write((transaction) => rebuildCounters({ database: transaction, now }))
      expect(await keptCount(database, firstDay(clock))).toEqual(kept)
      expect(await pending()).toBe(0)
      await database.run(sql`update counters set learners = learners + 1 where kind = 'none at'`)
      const wrong = kept.filter(([kind]) => kind === 'none at').length
      expect(await countDifferingCounters({ database, now })).toBe(wrong)
      expect(await countDifferingCounters({ database, now }, 1)).toBe(wrong)
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
            for (const one of [...initialWrites, ...writes]) await sendWrite(academy, admin, one)
            const now = clock.now().toISOString()
            await database.write((transaction) => foldChanges({ database: transaction, now }, 1000))
            for (const damage of damaged) await database.run(damage)
            corrected += await countDifferingCounters({ database, now })
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
        { numRuns: randomRuns(3, onPostgres ? 3 : 12) },
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

test('the first of two programs that correct the counters at once leaves it to the second', async ({
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
  expect(await countDifferingCounters({ database, now: clock.now().toISOString() })).toBe(0)
  expect(await database.one(sql`select 1 from settings where name = 'counter_correction'`)).toBeUndefined()
})

/** A counter as comparable text: kind, course, place, learners and sum. */
type Counter = readonly [kind: string, courseId: string, place: number, learners: number, amount: number]

/** Counts everything with plain SQL that does not depend on how counters are stored. */
async function plainCount(database: Database, firstDay: string): Promise<Counter[]> {
  const enrolled = sql`
    select e.user_id, e.course_id, case when u.status = 'deleted' then 'deleted ' else '' end as prefix,
      coalesce(p.status, 'none') as status, coalesce(p.percentage, 0) as percentage, g.percent as grade,
      e.status as enrollment,
      cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision) as passing,
      substr(coalesce(p.last_accessed, e.enrolled_at), 1, 10) as seen, substr(p.risen_at, 1, 10) as risen
    from enrollments e
    join users u on u.id = e.user_id
    join courses c on c.id = e.course_id
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
    where e.role = 'learner' and e.status <> 'deleted'`
  const open = sql`prefix = '' and enrollment = 'active' and status <> 'completed'`
  const early = sql`prefix = '' and enrollment = 'active' and status = 'in_progress' and percentage < 50`
  const day = (column: 'seen' | 'risen') =>
    column === 'seen'
      ? sql`cast(replace(seen, '-', '') as integer)`
      : sql`cast(replace(risen, '-', '') as integer)`
  // Just above 100 is not 100.
  const grade = sql`cast(case when grade > 100 then -floor(-grade * 100) else floor(grade * 100) end as integer)`
  const rows = await database.all<Row>(sql`
      with enrolled as (${enrolled})
      select prefix || status as kind, course_id, 0 as place, count(*) as learners, sum(floor(percentage * 1000000 + 0.5)) as amount
        from enrolled group by 1, 2
      union all select prefix || status || ' at', course_id, cast(floor(percentage * 100) as integer), count(*), sum(floor(percentage * 1000000 + 0.5))
        from enrolled group by 1, 2, 3
      union all select prefix || status || ' at', '', cast(floor(percentage * 100) as integer), count(*), sum(floor(percentage * 1000000 + 0.5))
        from enrolled group by 1, 2, 3
      union all select prefix || status || ' graded', course_id, 0, count(*), sum(floor(grade * 1000000 + 0.5))
        from enrolled where grade is not null group by 1, 2
      union all select prefix || status || ' graded', '', 0, count(*), sum(floor(grade * 1000000 + 0.5))
        from enrolled where grade is not null group by 1, 2
      union all select prefix || status || ' passed', course_id, 0, count(*), 0
        from enrolled where grade >= passing group by 1, 2
      union all select prefix || status || ' graded at', course_id, ${grade}, count(*), sum(floor(grade * 1000000 + 0.5))
        from enrolled where grade is not null group by 1, 2, 3
      union all select prefix || status || ' passed', '', 0, count(*), 0
        from enrolled where grade >= passing group by 1, 2
      union all select prefix || status || ' graded at', '', ${grade}, count(*), sum(floor(grade * 1000000 + 0.5))
        from enrolled where grade is not null group by 1, 2, 3
      union all select prefix || 'learners', '', 0, count(distinct user_id), 0 from enrolled group by 1
      union all select 'open', course_id, 0, count(*), 0 from enrolled where ${open} group by 2
      union all select 'open since', course_id, ${day('seen')}, count(*), 0
        from enrolled where ${open} and seen >= ${firstDay} group by 2, 3
      union all select 'early', course_id, 0, count(*), 0 from enrolled where ${early} group by 2
      union all select 'early since', course_id, ${day('risen')}, count(*), 0
        from enrolled where ${early} and risen >= ${firstDay} group by 2, 3`)
  return rows.map((row) => Object.values(row) as unknown as Counter).sort(byPlace)
}

/** Returns the stored counters, without empty ones and days that are no longer needed. */
async function keptCount(database: Database, firstDay: string): Promise<Counter[]> {
  const rows = await database.all<Row>(sql`
      select kind, course_id, place, sum(learners) as learners, sum(amount) as amount
      from (select * from counters union all select * from counter_changes) k
      where kind not like '% since' or place >= ${Number(firstDay.replaceAll('-', ''))}
      group by 1, 2, 3 having sum(learners) <> 0 or sum(amount) <> 0`)
  return rows.map((row) => Object.values(row) as unknown as Counter).sort(byPlace)
}

function byPlace(one: Counter, other: Counter): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
