import { DatabaseSync } from 'node:sqlite'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { type Answer, type TestAcademy, test } from '../../helpers/academy.ts'

const title = 'a'.repeat(200)

function expectUnavailable(answer: Answer, why: string): void {
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable', detail: why } })
  expect(answer.headers.get('retry-after')).toBe('1')
}

/** Lets the database grow by this many pages, as a disk with so much room does; by any number again when told none. */
function leaveRoom({ database }: TestAcademy, pages?: number): void {
  const { page_count } = database.one(sql`pragma page_count`) ?? {}
  const limit = pages === undefined ? 1_000_000 : Number(page_count) + pages
  database.one(raw(`pragma max_page_count = ${limit}`))
}

test('on a full disk a write is 503 and leaves nothing behind, and goes on when there is room', async ({
  academy,
  admin,
}) => {
  const items = Array.from({ length: 200 }, (_, index) => ({ email: `user-${index}@b.example` }))
  leaveRoom(academy, 2)
  expectUnavailable(
    await admin.post('/v1/users/batch', { items }),
    'The database cannot be written: the disk is full.',
  )
  expect((await admin.get('/v1/users?q=user-&include_total=true')).body.total).toBe(0)
  leaveRoom(academy)
  expect((await admin.post('/v1/users/batch', { items })).status).toBe(200)
})

test('on a full disk, writes of the same moment are refused or done, none of them half', async ({
  academy,
  admin,
}) => {
  leaveRoom(academy, 6)
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => admin.post('/v1/courses', { title, description: `${index}` })),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses).toContain(503)
  expect((await admin.get('/v1/courses?include_total=true')).body.total).toBe(
    statuses.filter((status) => status === 201).length,
  )
  leaveRoom(academy)
  expect((await admin.post('/v1/courses', { title })).status).toBe(201)
})

test('while another program holds the database a write is 503, a read is answered', async ({
  academy,
  admin,
}) => {
  await admin.get('/v1/courses')
  academy.database.one(sql`pragma busy_timeout = 0`)
  const other = new DatabaseSync(academy.path)
  other.exec('begin immediate')
  expectUnavailable(await admin.post('/v1/courses', { title }), 'The database is locked by another process.')
  expect((await admin.get('/v1/courses')).status).toBe(200)
  other.exec('rollback')
  other.close()
  expect((await admin.post('/v1/courses', { title })).status).toBe(201)
})

test('a key that is used for the first time reads while another program holds the database', async ({
  academy,
  analyst,
}) => {
  academy.database.one(sql`pragma busy_timeout = 0`)
  const other = new DatabaseSync(academy.path)
  other.exec('begin immediate')
  expect((await analyst.get('/v1/courses')).status).toBe(200)
  other.close()
})
