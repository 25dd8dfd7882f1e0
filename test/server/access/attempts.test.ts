import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { createAttempts } from '../../../src/server/access/attempts.ts'
import { sweep } from '../../../src/server/database/sweep.ts'
import { hour, minute, openTestAcademy, second, test as standard } from '../../helpers/academy.ts'

const test = standard.extend('other', async ({ academy }, { onCleanup }) => {
  const other = await openTestAcademy({ beside: academy })
  onCleanup(() => other.close())
  return other
})

test('attempts at two servers count together, before any secret', async ({ academy, clock, other }) => {
  const here = createAttempts(academy.database, clock.now)
  const there = createAttempts(other.database, clock.now)
  const waits = await Promise.all(Array.from({ length: 12 }, (_, at) => (at % 2 ? here : there).begin(['a'])))
  expect(waits.sort()).toEqual([...Array(5).fill(0), ...Array(7).fill(1)])
  clock.advance(second)
  expect(await there.begin(['a'])).toBe(0)
  expect(await here.begin(['a'])).toBe(2)
  clock.advance(2 * second)
  await there.forgive(['a'])
  expect(await here.begin(['a'])).toBe(0)
  expect(await here.begin(['a'])).toBe(0)
})

test('an attempt that comes too early for one name counts for none', async ({ academy, clock }) => {
  const { begin } = createAttempts(academy.database, clock.now)
  for (let count = 0; count < 5; count += 1) await begin(['a'])
  for (let count = 0; count < 5; count += 1) expect(await begin(['a', 'b'])).toBe(1)
  for (let count = 0; count < 5; count += 1) expect(await begin(['b'])).toBe(0)
  expect(await begin(['b'])).toBe(1)
})

test('a restart forgets no attempt, an hour after the last delay forgets all', async ({ academy, clock }) => {
  const restarted = () => createAttempts(academy.database, clock.now)
  for (let count = 0; count < 6; count += 1) {
    expect(await restarted().begin(['a'])).toBe(0)
    if (count === 4) clock.advance(second)
  }
  expect(await restarted().begin(['a'])).toBe(2)
  clock.advance(2 * second + hour)
  for (let count = 0; count < 5; count += 1) expect(await restarted().begin(['a'])).toBe(0)
  expect(await restarted().begin(['a'])).toBe(1)
})

test('attempts have no name, a bounded number of rows, and an end', async ({ academy, clock }) => {
  const { database } = academy
  const { begin } = createAttempts(database, clock.now)
  await begin(['ada@school.example 192.0.2.1', 'usr_1 192.0.2.1'])
  const rows = await database.all(sql`select * from attempts`)
  const row = {
    slot: expect.any(Number),
    name: expect.stringMatching(/^[\w-]{43}$/),
    failures: 1,
    next_at: clock.now().toISOString(),
  }
  expect(rows).toEqual([row, row])
  expect(rows.every(({ slot }) => Number(slot) >= 0 && Number(slot) < 65_536)).toBe(true)
  clock.advance(hour - minute)
  await sweep(database, clock.now())
  expect(await database.all(sql`select * from attempts`)).toHaveLength(2)
  clock.advance(2 * minute)
  await sweep(database, clock.now())
  expect(await database.all(sql`select * from attempts`)).toEqual([])
})

test('the count of a name starts again after another has taken its place', async ({ academy, clock }) => {
  const { database } = academy
  const { begin } = createAttempts(database, clock.now)
  for (let count = 0; count < 5; count += 1) await begin(['a'])
  await database.run(sql`update attempts set name = 'of another'`)
  expect(await begin(['a'])).toBe(0)
  expect(await database.all(sql`select failures from attempts`)).toEqual([{ failures: 1 }])
})
