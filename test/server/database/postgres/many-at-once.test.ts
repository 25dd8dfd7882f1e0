import sql from 'sql-template-tag'
import { describe, expect, test } from 'vitest'
import { ConnectionLost } from '../../../../src/server/database/postgres/faults.ts'
import {
  asSuperuser,
  openTestPostgres,
  startPostgresProxy,
  withoutPostgres,
} from '../../../helpers/postgres.ts'

const insert = (name: string, value = '') =>
  sql`insert into settings (name, value) values (${name}, ${value})`
const named = (name: string) => sql`select value from settings where name = ${name}`
const setting = (name: string, value: string) =>
  sql`update settings set value = ${value} where name = ${name}`

/** Does something on another connection in the middle of a transaction. */
function deferred() {
  return Promise.withResolvers<void>()
}

describe.skipIf(withoutPostgres !== false)('on the PostgreSQL of LEARNCTL_TEST_POSTGRES', () => {
  test('twenty writes that count at once count to twenty, over two servers', async () => {
    await using first = await openTestPostgres()
    const second = await first.another()
    await first.store.run(insert('count', '0'))
    const count = (store: typeof first.store) =>
      store.write(async ({ one, run }) => {
        const before = Number((await one(named('count')))?.['value'])
        await run(setting('count', String(before + 1)))
      })
    await Promise.all(Array.from({ length: 20 }, (_, index) => count(index % 2 ? first.store : second)))
    expect(await first.store.one(named('count'))).toEqual({ value: '20' })
  })

  test('a small table is read by its index: reading all of it would conflict with every write to it', async () => {
    await using academy = await openTestPostgres()
    const store = await academy.another({ url: `${academy.url}?options=-c%20work_mem=5MB` })
    const show = sql`select current_setting('enable_seqscan') as whole, current_setting('work_mem') as memory`
    expect(await store.one(show)).toEqual({ whole: 'off', memory: '5MB' })
    expect(await store.stream(show).next()).toMatchObject({ value: [['on', '5MB']] })
    const plan = await store.all<{ 'QUERY PLAN': string }>(sql`explain ${named('x')}`)
    expect(plan[0]?.['QUERY PLAN']).toContain('Index Scan')
  })

  test('of the last two records, each of which may only be deleted while the other exists, one stays', async () => {
    await using academy = await openTestPostgres()
    const { store } = academy
    await store.run(sql`insert into settings (name, value) values ('last-1', 'here'), ('last-2', 'here')`)
    const leave = (name: string) =>
      store.write(async ({ one, run }) => {
        const others = await one(
          sql`select count(*) as here from settings where name like 'last-%' and name <> ${name}`,
        )
        if (others?.['here'] === 0) return 'stays'
        await run(sql`delete from settings where name = ${name}`)
        return 'goes'
      })
    const answers = await Promise.all([leave('last-1'), leave('last-2')])
    expect(answers.sort()).toEqual(['goes', 'stays'])
  })

  test('a read sees one state, whatever others write meanwhile; so does a stream', async () => {
    await using academy = await openTestPostgres()
    const { store } = academy
    await store.run(insert('view', 'before'))
    const seen = await store.read(async ({ one }) => {
      const first = await one(named('view'))
      await store.run(setting('view', 'after'))
      return [first, await one(named('view'))]
    })
    expect(seen).toEqual([{ value: 'before' }, { value: 'before' }])
    const rows: unknown[] = []
    const query = sql`select g, value from generate_series(1, 3000) g, settings where name = 'view'`
    for await (const batch of store.stream(query)) {
      rows.push(batch[0]?.[1])
      await store.run(setting('view', 'later'))
    }
    expect(rows).toEqual(['after', 'after', 'after'])
  })

  test('more exports than there are connections for are refused, and no other requests are', async () => {
    await using academy = await openTestPostgres({ poolSize: 5, waitMs: 1000 })
    const { store } = academy
    const unread = store.stream(sql`select g from generate_series(1, 5000) g`)
    await unread.next()
    await expect(store.stream(sql`select 1`).next()).rejects.toMatchObject({
      code: 'unavailable',
      headers: { 'retry-after': '1' },
    })
    expect(await store.all(sql`select 1 as one`)).toEqual([{ one: 1 }])
    await unread.return?.()
    expect(await store.stream(sql`select 1`).next()).toMatchObject({ value: [[1]] })
  })

  test('a write that waits for the lock of another too long is refused, and so is a statement that takes too long', async () => {
    await using academy = await openTestPostgres({ lockMs: 50 })
    const { store } = academy
    await store.run(insert('locked'))
    const [isLocked, maySettle] = [deferred(), deferred()]
    const holding = store.write(async ({ run }) => {
      await run(setting('locked', 'x'))
      isLocked.resolve()
      await maySettle.promise
    })
    await isLocked.promise
    await expect(store.run(setting('locked', 'y'))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database is busy: another change holds a lock for too long.',
    })
    maySettle.resolve()
    await holding
    const hasty = await academy.another({ statementMs: 1000 })
    await expect(hasty.one(sql`select pg_sleep(60)`)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database took too long to answer.',
    })
  })

  test('connections that the server ends are replaced: in mid-work 503, and nothing of it is done', async () => {
    await using academy = await openTestPostgres()
    const { store, name } = academy
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and application_name = 'learnctl'`
    const failing = store.write(async ({ run }) => {
      await run(insert('cut'))
      await asSuperuser([end])
      await run(insert('cut-2'))
    })
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', headers: { 'retry-after': '1' } })
    expect(await store.one(named('cut'))).toBeUndefined()
    await store.run(insert('next'))
    expect(await store.one(named('next'))).toEqual({ value: '' })
    // Including all idle connections.
    await Promise.all(Array.from({ length: 5 }, () => store.one(sql`select pg_sleep(0.01)`)))
    await asSuperuser([end])
    await expect.poll(() => store.one(named('next')).catch(() => 'broken')).toEqual({ value: '' })
  })

  test('a commit whose answer is lost is 503, which says that the outcome is unknown; it is not done twice', async () => {
    await using academy = await openTestPostgres()
    await using front = await startPostgresProxy(academy.url)
    const store = await academy.another({ url: front.url })
    front.onServer = (text, cut) => {
      if (text.includes('COMMIT')) cut()
    }
    let tries = 0
    const failing = store.write(async ({ run }) => {
      tries += 1
      await run(insert('unknown'))
    })
    await expect(failing).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'The connection to the database was lost during the commit: the change may have been saved or not.',
      cause: expect.any(ConnectionLost),
    })
    expect(tries).toBe(1)
    expect(await academy.store.one(named('unknown'))).toEqual({ value: '' })
  })

  test('a connection that is silent for too long is closed', async () => {
    await using academy = await openTestPostgres()
    await using front = await startPostgresProxy(academy.url)
    const store = await academy.another({ url: front.url, statementMs: 500, graceMs: 500 })
    expect(await store.one(sql`select 1 as one`)).toEqual({ one: 1 })
    front.isSilent = true
    await expect(store.one(sql`select 1 as one`)).rejects.toMatchObject({ code: 'unavailable' })
    front.isSilent = false
    expect(await store.one(sql`select 1 as one`)).toEqual({ one: 1 })
  })

  test('a table that another server changes meanwhile is read by a plan of its own', async () => {
    await using academy = await openTestPostgres({ poolSize: 2 })
    const { store, url } = academy
    await store.run(insert('plan'))
    const all = sql`select * from settings where name = 'plan'`
    for (let use = 0; use < 4; use += 1) await store.one(all)
    await asSuperuser([`alter table settings add column note text default 'new'`], url)
    expect(await store.one(all)).toEqual({ name: 'plan', value: '', note: 'new' })
    for (let use = 0; use < 4; use += 1) await store.write(({ one }) => one(all))
    await asSuperuser(['alter table settings drop column note'], url)
    expect(await store.write(({ one }) => one(all))).toEqual({ name: 'plan', value: '' })
    expect(await store.read(({ one }) => one(all))).toEqual({ name: 'plan', value: '' })
  })
})
