import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { openAcademy } from '../../../src/server/academy/local-academy.ts'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { sweep } from '../../../src/server/database/sweep.ts'
import { day, freshDirectory, minute, stoppedClock, test } from '../../helpers/academy.ts'

test('answers to repeated requests are swept away after a day, a bounded number at a time', async ({
  academy,
  admin,
  clock,
}) => {
  const { database } = academy
  const count = async () => (await database.one(sql`select count(*) as rows from idempotency`))?.['rows']
  await database.run(sql`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200)
    insert into idempotency (user_id, method, path, key, fingerprint, status, headers, created_at)
    select 'usr_1', 'POST', '/v1/courses', 'key ' || i, '', 201, '{}', ${clock.now().toISOString()} from n`)
  clock.advance(day - minute)
  await sweep(database, clock.now())
  expect(await count()).toBe(1200)
  await admin.post('/v1/courses', { title: 'Logic' }, { 'idempotency-key': '"a"' })
  clock.advance(2 * minute)
  await sweep(database, clock.now(), 1)
  expect(await count()).toBe(701)
  await sweep(database, clock.now())
  expect(await count()).toBe(1)
})

test('an academy without a server is swept by its writers', async ({ onTestFinished }) => {
  const { path: directory, remove } = freshDirectory()
  onTestFinished(remove)
  const { now, advance } = stoppedClock()
  const path = join(directory, 'academy.db')
  const create = async (title: string) => {
    const academy = await openAcademy({ path, now })
    const headers = { 'content-type': 'application/json', 'idempotency-key': `"${title}"` }
    const body = JSON.stringify({ title })
    await academy.transport({ method: 'POST', url: 'http://academy.local/v1/courses', headers, body })
    await academy.close()
  }
  await create('Logic')
  advance(2 * day)
  await create('Rhetoric')
  const { database } = await openAcademyFile(path, now)
  expect(await database.all(sql`select key from idempotency`)).toEqual([{ key: 'Rhetoric' }])
  await database.close()
})
