import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import { onPostgres } from '../../helpers/test-academy.ts'
import {
  addLearners,
  openSocket,
  parseResponse,
  post,
  type Served,
  sendRaw,
  startServer,
  test,
} from './served.ts'

const exportRequest = (key: string) =>
  `GET /v1/analytics/learners?format=csv HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** True if no other connection has the database open: only then can its journal mode change. */
function isFree(path: string): boolean {
  const database = new DatabaseSync(path)
  try {
    return database.prepare('pragma journal_mode = delete').get()?.['journal_mode'] === 'delete'
  } catch {
    return false
  } finally {
    database.close()
  }
}

test('stopping finishes the open request, and takes no other', { tags: ['slow'] }, async ({ served }) => {
  const half = await openSocket(served.port)
  half.socket.write(`${post(served.key)}{"title"`)
  const idle = await openSocket(served.port)
  await served.fetch('/health')
  const stopped = served.stop()
  await expect(served.fetch('/health')).rejects.toThrow('fetch failed')
  half.socket.write(':"Logic"}')
  await half.closed
  expect(parseResponse(half.received())).toMatchObject({ status: 201 })
  await idle.closed
  await stopped
})

test('a request while the server is stopping is 503', { tags: ['slow'] }, async ({ served }) => {
  const busy = await openSocket(served.port)
  busy.socket.write(`${post(served.key)}{"title"`)
  await served.fetch('/health')
  const stopped = served.stop()
  busy.socket.write(`:"Logic"}${exportRequest(served.key)}`)
  await busy.closed
  await stopped
  const [, first = '', second = ''] = busy.received().split('HTTP/1.1 ')
  expect(parseResponse(`HTTP/1.1 ${first}`)).toMatchObject({ status: 201 })
  const refused = parseResponse(`HTTP/1.1 ${second}`)
  expect(refused).toMatchObject({ status: 503, code: 'unavailable' })
  expect(refused.head).toContain('retry-after: 5')
  expect(refused.head).toContain('connection: close')
})

test('stopping finishes an open export, to its last row', { tags: ['slow'] }, async ({ served }) => {
  await addLearners(served.path, 10_000)
  const reader = await openSocket(served.port)
  reader.socket.pause()
  reader.socket.write(exportRequest(served.key))
  await new Promise((resolve) => reader.socket.once('readable', resolve))
  const stopped = served.stop()
  reader.socket.resume()
  await reader.closed
  await stopped
  const text = reader.received()
  expect(text.split('@b.example')).toHaveLength(10_001)
  expect(text.endsWith('\r\n0\r\n\r\n')).toBe(true)
})

test.skipIf(onPostgres)(
  'an export that fails half-way breaks its connection: it has no clean end',
  { tags: ['slow'] },
  async ({ served }) => {
    await addLearners(served.path, 2_000)
    const database = new DatabaseSync(served.path)
    database.exec(`update users set profile = '{' where id = 'usr_1900'`)
    database.close()
    const answer = await sendRaw(served.port, exportRequest(served.key))
    expect(answer.status).toBe(200)
    expect(answer.head).toContain('transfer-encoding: chunked')
    expect(answer.body.split('@b.example').length).toBeGreaterThan(1_000)
    expect(answer.body.endsWith('0\r\n\r\n')).toBe(false)
    const whole = served.fetch('/v1/analytics/learners?format=ndjson').then((response) => response.text())
    await expect(whole).rejects.toThrow('terminated')
    const broken = served.log.map((line) => JSON.parse(line)).filter(({ code }) => code === 'stream_broken')
    expect(broken).toMatchObject([
      {
        level: 'error',
        status: 500,
        path: '/v1/analytics/learners',
        error: expect.stringContaining('malformed JSON'),
      },
      { level: 'error' },
    ])
    expect((await served.fetch('/v1/courses')).status).toBe(200)
  },
)

test.skipIf(onPostgres)(
  'a client that goes away in an export leaves nothing open',
  { tags: ['slow'] },
  async ({ served }) => {
    await addLearners(served.path, 10_000)
    const reader = await openSocket(served.port)
    reader.socket.write(exportRequest(served.key))
    await new Promise((resolve) => reader.socket.once('data', resolve))
    reader.socket.destroy()
    expect((await served.fetch('/v1/courses')).status).toBe(200)
    await served.stop()
    expect(isFree(served.path)).toBe(true)
    expect(served.log.filter((line) => JSON.parse(line).level === 'error')).toEqual([])
  },
)

// Elsewhere the hash of the first password has not started when the client disconnects.
describe.skipIf(onPostgres)(
  'a client goes away while passwords are hashed, each for a tenth of a second',
  () => {
    const usualCost = { passwordCost: undefined }
    const password = 'correct horse battery'

    /** Sends a request that hashes passwords, and disconnects when the first hash has started. */
    async function goneFrom(served: Served, path: string, value: object) {
      const headers = `Host: localhost\r\nAuthorization: Bearer ${served.key}\r\nContent-Type: application/json\r\n`
      const body = JSON.stringify(value)
      // The first password loads the code for hashing.
      await served.fetch('/v1/users', {
        method: 'POST',
        headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'grace@b.example', password }),
      })
      const { socket, closed } = await openSocket(served.port)
      socket.write(`POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`)
      await served.fetch('/health')
      socket.destroy()
      await closed
      await served.stop()
      return served.log.map((line) => JSON.parse(line)).at(-1)
    }

    test('stopping waits for what has begun', { tags: ['slow'] }, async ({ directory }) => {
      const served = await startServer(join(directory, 'academy.db'), usualCost)
      const last = await goneFrom(served, '/v1/users', { email: 'ada@b.example', password })
      expect(last).toMatchObject({ path: '/v1/users', status: 201 })
    })

    test('those that wait are left, and nothing is written', { tags: ['slow'] }, async ({ directory }) => {
      const served = await startServer(join(directory, 'academy.db'), usualCost)
      const items = Array.from({ length: 12 }, (_, index) => ({ email: `${index}@b.example`, password }))
      const last = await goneFrom(served, '/v1/users/batch', { items })
      expect(last).toMatchObject({ path: '/v1/users/batch', status: 408, code: 'request_timeout' })
    })
  },
)

test('other requests are answered while an export runs', { tags: ['slow'] }, async ({ served }) => {
  await addLearners(served.path, 10_000)
  const reader = await openSocket(served.port)
  reader.socket.pause()
  reader.socket.write(exportRequest(served.key).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  await new Promise((resolve) => reader.socket.once('readable', resolve))
  expect((await served.fetch('/v1/courses')).status).toBe(200)
  expect(reader.received().endsWith('\r\n0\r\n\r\n')).toBe(false)
  reader.socket.resume()
  await reader.closed
  expect(reader.received().endsWith('\r\n0\r\n\r\n')).toBe(true)
})
