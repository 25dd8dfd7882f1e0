import { join } from 'node:path'
import sql from 'sql-template-tag'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { longReadLimits, ThreadPool } from '../../../src/server/long-reads/long-reads.ts'
import { freshDirectory, stoppedClock } from '../../helpers/academy.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { builtThread } from '../../helpers/process.ts'
import { addLearners, openSocket, type Served, startServer, test } from '../socket/served.ts'

const csv = '/v1/analytics/learners?format=csv'
const learners = 3000

/** One slot for each credential, so that one read keeps the next one out. */
const oneEach = { perOwner: 1, waitingPerOwner: 1 }
const limits = { ...longReadLimits, threadFile: builtThread() }

let served: Served
let remove: () => void

beforeAll(async () => {
  const directory = freshDirectory()
  remove = directory.remove
  const path = join(directory.path, 'academy.db')
  await putNewAcademy(path)
  await addLearners(path, learners)
  served = await startServer(path, { longReads: oneEach, adminKey: true })
})

afterAll(async () => {
  await served.stop()
  remove()
})

/** A server notices late that a client has disconnected: the slot of an earlier read may still be taken. */
beforeEach(() => turnIsFree())

/** Waits until the key may read again. A report is complete when it is sent, and holds no slot. */
async function turnIsFree({ fetch }: Pick<Served, 'fetch'> = served): Promise<void> {
  const headers = { authorization: `Bearer ${served.key}` }
  const asked = async () => (await fetch('/v1/analytics/learners?limit=1', { headers })).status
  await expect.poll(asked).toBe(200)
}

/** Requests all rows and reads none of them. */
async function unread(port: number, key: string) {
  const asked = await openSocket(port)
  asked.socket.pause()
  asked.socket.write(`GET ${csv} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  return asked
}

test('a client that does not read keeps the next one out, until it leaves', { tags: ['slow'] }, async () => {
  const { socket, closed } = await unread(served.port, served.key)
  await new Promise((resolve) => socket.once('readable', resolve))
  const refused = await served.fetch(csv)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
  // Other requests run beside it.
  expect((await served.fetch('/v1/users?limit=1')).status).toBe(200)
  socket.destroy()
  await closed
  await turnIsFree()
})

test('a client that does not read is cut, and frees its place', { tags: ['slow'] }, async () => {
  const hasty = await startServer(served.path, { longReads: { ...oneEach, idleMs: 50 } })
  onTestFinished(hasty.stop)
  const { socket, closed } = await unread(hasty.port, served.key)
  await new Promise((resolve) => socket.once('readable', resolve))
  await turnIsFree(hasty)
  socket.destroy()
  await closed
})

test('HEAD of an export holds nothing', { tags: ['slow'] }, async () => {
  for (let time = 0; time < 3; time += 1) {
    const headers = { authorization: `Bearer ${served.key}` }
    const { status, body } = await served.fetch(csv, { method: 'HEAD', headers })
    expect({ status, body }).toEqual({ status: 200, body: null })
  }
})

test('a fault in a report is answered and logged as anywhere', { tags: ['slow'] }, async () => {
  const { database } = await openAcademyFile(served.path, stoppedClock().now)
  expect((await served.fetch('/v1/analytics/learners?course_id=none')).status).toBe(404)
  expect((await served.fetch('/v1/analytics/learners?colour=red')).status).toBe(400)
  await database.run(sql`alter table course_grades rename to elsewhere`)
  const answer = await served.fetch('/v1/analytics/learners')
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({ code: 'internal' })
  const logged = served.log.map((line): { status?: number } => JSON.parse(line))
  expect(logged.find(({ status }) => status === 500)).toMatchObject({
    level: 'error',
    code: 'internal',
    credential: expect.stringMatching(/^key_/),
    error: expect.stringContaining('no such table: course_grades'),
  })
  await database.run(sql`alter table elsewhere rename to course_grades`)
  await database.close()
  const whole = await served.fetch('/v1/analytics/learners?limit=1')
  expect(await whole.json()).toMatchObject({ summary: { enrollments: learners } })
})

/** Requests a report as a server does. */
function ask(longReads: ThreadPool, search = '') {
  const raw = { method: 'GET', url: `http://localhost/v1/analytics/learners?${search}`, headers: {} }
  const context = { raw, requestId: 'req_1', path: '/v1/analytics/learners', search }
  const asker = {
    userId: 'usr_1',
    role: 'analyst',
    sees: 'all',
    scopes: ['read'],
    credential: 'key_1',
  } as const
  const request = { ...context, address: '', now: stoppedClock().now() }
  return longReads.answer(request, 'key_1', { ...asker, method: 'api_key' })
}

test('requests to a thread that ends fail, others do not', { tags: ['slow'] }, async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const longReads = new ThreadPool({ path, publicUrl: undefined }, limits)
  await expect(ask(longReads)).rejects.toThrow('unable to open database file')
  await (await openAcademyFile(path, stoppedClock().now)).database.close()
  expect(await ask(longReads)).toMatchObject({ status: 200 })
  await longReads.close()
})

test('once they are closed nothing begins or waits any more', { tags: ['slow'] }, async () => {
  const longReads = new ThreadPool({ path: served.path, publicUrl: undefined }, { ...limits, threads: 1 })
  const refused = { status: 'rejected', reason: { code: 'unavailable' } }
  const asked = Promise.allSettled([1, 2, 3].map(() => ask(longReads)))
  // One read has begun by now.
  await new Promise(setImmediate)
  await longReads.close()
  expect(await asked).toMatchObject([refused, refused, refused])
  await expect(ask(longReads)).rejects.toMatchObject(refused.reason)
})
