import { DatabaseSync } from 'node:sqlite'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { type Answer, onPostgres, test as standard, type TestAcademy } from '../../helpers/academy.ts'

// About the SQLite file: its disk is full, or another program has locked it.
const test = standard.skipIf(onPostgres)

const title = 'a'.repeat(200)

function expectUnavailable(answer: Answer, why: string): void {
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable', detail: why } })
  expect(answer.headers.get('retry-after')).toBe('1')
}

/** Lets the database grow by this many pages, like a disk with that much space; without a number, by any. */
async function leaveRoom({ database }: TestAcademy, pages?: number): Promise<void> {
  const { page_count } = (await database.one(sql`pragma page_count`)) ?? {}
  const limit = pages === undefined ? 1_000_000 : Number(page_count) + pages
  await database.one(raw(`pragma max_page_count = ${limit}`))
}

test('on a full disk a write is 503 and leaves nothing behind, and goes on when there is room', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const items = Array.from({ length: 200 }, (_, index) => ({ email: `user-${index}@b.example` }))
  await leaveRoom(academy, 2)
  expectUnavailable(
    await admin.post('/v1/users/batch', { items }),
    'The database cannot be written: the disk is full.',
  )
  expect((await admin.get('/v1/users?q=user-&include_total=true')).body.total).toBe(0)
  await leaveRoom(academy)
  expect((await admin.post('/v1/users/batch', { items })).status).toBe(200)
})

test('on a full disk, writes of the same moment are refused or done, none of them half', async ({
  academy,
  admin,
}) => {
  await leaveRoom(academy, 6)
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => admin.post('/v1/courses', { title, description: `${index}` })),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses).toContain(503)
  expect((await admin.get('/v1/courses?include_total=true')).body.total).toBe(
    statuses.filter((status) => status === 201).length,
  )
  await leaveRoom(academy)
  expect((await admin.post('/v1/courses', { title })).status).toBe(201)
})

/** Another program that locks the same file for writing. */
function otherProgram(academy: TestAcademy): DatabaseSync {
  const other = new DatabaseSync(academy.path)
  other.exec('begin immediate')
  return other
}

const hasty = standard.extend('lockWaitMs', () => 0).skipIf(onPostgres)

hasty(
  'a write that another program has kept waiting for too long is 503, a read is answered',
  async ({ academy, admin }) => {
    const other = otherProgram(academy)
    expectUnavailable(
      await admin.post('/v1/courses', { title }),
      'The database is locked by another process.',
    )
    expect((await admin.get('/v1/courses')).status).toBe(200)
    other.exec('rollback')
    other.close()
    expect((await admin.post('/v1/courses', { title })).status).toBe(201)
  },
)

test('while another program holds the database writes wait, reads are answered, and then all writes are done', async ({
  academy,
  admin,
}) => {
  const other = otherProgram(academy)
  const done: number[] = []
  const writes = Array.from({ length: 20 }, async (_, index) => {
    const { status } = await admin.post('/v1/courses', { title: `${index}` })
    done.push(status)
  })
  // In each of these turns of the event loop, writes find the lock taken.
  for (let turn = 0; turn < 5; turn += 1) expect((await admin.get('/v1/courses')).body.data).toEqual([])
  expect((await admin.get('/health')).status).toBe(200)
  expect(done).toEqual([])
  other.exec('commit')
  other.close()
  await Promise.all(writes)
  expect(done).toEqual(Array.from({ length: 20 }, () => 201))
})

test('a key that is used for the first time reads while another program holds the database', async ({
  academy,
  analyst,
}) => {
  const other = otherProgram(academy)
  expect((await analyst.get('/v1/courses')).status).toBe(200)
  other.close()
})
