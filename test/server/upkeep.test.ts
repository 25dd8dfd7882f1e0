import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { nowhere } from '../../src/server/access/principal.ts'
import { appendEntry } from '../../src/server/changes/audit-entry.ts'
import type { Store } from '../../src/server/database/database.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { keepInOrder, type Later } from '../../src/server/upkeep.ts'
import { day, openTestAcademy, test } from '../helpers/academy.ts'

/** Waits that end on demand; a stopped one does not. */
function waits() {
  const planned: { work: () => void; ms: number; timer: NodeJS.Timeout }[] = []
  const later: Later = (work, ms) => {
    const timer = setTimeout(() => {}, 2 ** 30).unref()
    planned.push({ work, ms, timer })
    return timer
  }
  return {
    planned,
    later,
    go: () => {
      for (const { work } of planned.splice(0)) work()
    },
  }
}

/** The same database with a single writer, which has no entries to link. */
const linked = (database: Store): Store => ({
  ...database,
  dialect: { ...database.dialect, hasManyWriters: false },
})

const expired = (name: string) => sql`
  insert into idempotency (user_id, method, path, key, fingerprint, status, headers, created_at)
  values ('usr_1', 'POST', '/', ${name}, '', 201, '{}', '2026-01-01T00:00:00.000Z')`

test('expired rows are swept about once a minute while served', async ({ academy: { database, clock } }) => {
  const { planned, later, go } = waits()
  const stop = keepInOrder(linked(database), clock.now, later)
  const left = () => database.all(sql`select key from idempotency`)
  await database.run(expired('first'))
  expect(planned).toHaveLength(2)
  expect(planned[0]?.ms).toBeGreaterThanOrEqual(45_000)
  expect(planned[0]?.ms).toBeLessThanOrEqual(75_000)
  go()
  await expect.poll(() => planned.length).toBe(2)
  expect(await left()).toEqual([])
  await database.run(expired('second'))
  go()
  await stop()
  expect(await left()).toEqual([])
  expect(planned).toEqual([])
})

test('a sweep that fails is made again', async ({ academy: { database, clock } }) => {
  const { planned, later, go } = waits()
  let fails = true
  const write: typeof database.write = (work) =>
    fails ? Promise.reject(new Error('no space left')) : database.write(work)
  const stop = keepInOrder(linked({ ...database, write }), clock.now, later)
  await database.run(expired('first'))
  go()
  await expect.poll(() => planned.length).toBe(2)
  fails = false
  go()
  await stop()
  expect(await database.all(sql`select key from idempotency`)).toEqual([])
})

test('two servers on one database keep it in order together', async ({ academy }) => {
  const { database, clock } = academy
  await using other = await openTestAcademy({ beside: academy })
  clock.advance(day)
  const { planned, later, go } = waits()
  const stops = [database, other.database].map((store) =>
    keepInOrder({ ...store, dialect: { ...store.dialect, hasManyWriters: true } }, clock.now, later),
  )
  await database.run(expired('first'))
  expect(planned).toHaveLength(4)
  go()
  await Promise.all(stops.map((stop) => stop()))
  expect(await database.all(sql`select 1 from idempotency`)).toEqual([])
})

test('audit entries of many writers are linked, also in a copy', async ({ academy: { database, clock } }) => {
  const { later, go } = waits()
  const many = { ...database.dialect, hasManyWriters: true }
  const call = {
    newId: idMaker(clock.now),
    principal: { userId: null, credential: 'local' },
    origin: nowhere,
  }
  await database.write((transaction) =>
    appendEntry(
      { ...call, database: { ...transaction, dialect: many } },
      { action: 'course.created', id: 'crs_1', before: null, after: { title: 'Logic' } },
    ),
  )
  const unlinked = () => database.all(sql`select id from audit_entries where place < 0 or hash is null`)
  expect((await unlinked()).length).toBeGreaterThan(0)
  const stop = keepInOrder(linked(database), clock.now, later)
  go()
  await stop()
  expect(await unlinked()).toEqual([])
})
