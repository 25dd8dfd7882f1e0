import sql, { raw } from 'sql-template-tag'
import { describe, expect, test } from 'vitest'
import { asSuperuser, openTestPostgres, withoutPostgres } from '../../../helpers/postgres.ts'

describe.skipIf(withoutPostgres !== false)('what happens to the server while an academy is served', () => {
  test.for([
    ['53100', 'The disk of the database is full.', '30'],
    ['53200', 'The database is out of resources.', '5'],
    ['53300', 'The database has too many connections.', '5'],
    ['25006', 'The database is read-only.', '30'],
    ['57P03', 'The database is starting or shutting down.', '5'],
    ['28P01', 'The database refuses the connection.', '30'],
    ['57P01', 'The connection to the database was lost.', '1'],
  ])('%s is 503: %s', async ([state, message, seconds]) => {
    await using academy = await openTestPostgres()
    const { store } = academy
    await expect(
      store.write(async ({ run }) => {
        await run(sql`insert into settings (name, value) values ('half', '')`)
        await run(raw(`do $$ begin raise exception 'told' using errcode = '${state}'; end $$`))
      }),
    ).rejects.toMatchObject({ code: 'unavailable', message, headers: { 'retry-after': seconds } })
    expect(await store.one(sql`select value from settings where name = 'half'`)).toBeUndefined()
  })

  test('connections that the server ends because they were idle are replaced silently', async () => {
    await using academy = await openTestPostgres()
    const { name } = academy
    await asSuperuser([`alter database ${name} set idle_session_timeout = '500ms'`])
    const store = await academy.another()
    const watcher = await openTestPostgres()
    const own = sql`select count(*) as n from pg_stat_activity where datname = ${name}`
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await store.one(sql`select 1 as one`)).toEqual({ one: 1 })
      await expect.poll(() => watcher.store.one(own)).toEqual({ n: 0 })
    }
    await watcher[Symbol.asyncDispose]()
  })

  test('a server that becomes a standby refuses writes, and goes on reading', async () => {
    await using academy = await openTestPostgres({ poolSize: 1 })
    const { store } = academy
    await asSuperuser([`alter database ${academy.name} set default_transaction_read_only = on`])
    await asSuperuser([
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${academy.name}'`,
    ])
    await expect.poll(() => store.one(sql`select 1 as one`).catch(() => 'cut')).toEqual({ one: 1 })
    await expect(store.run(sql`insert into settings (name, value) values ('x', '')`)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database is read-only.',
    })
    expect(await store.one(sql`select count(*) as n from users`)).toEqual({ n: 1 })
  })
})
