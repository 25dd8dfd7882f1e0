import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { DatabaseError } from '../../src/server/database/database.ts'
import { open, parsed, sendRaw, startServer, test } from './served.ts'

const close = 'Connection: close\r\n'

/** Fills the academy with learners in one course; their rows are about 1 KB each. */
function fill(path: string, learners: number): void {
  const database = new DatabaseSync(path)
  database.exec(`
    insert into courses (id, title, description, difficulty, status, attributes, version, created_at, updated_at)
    values ('crs_1', 'Logic', '', 'beginner', 'published',
            '{"assessmentCriteria":{"passingScore":70}}', 1, '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z');
    insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${learners})
    select 'usr_' || i, printf('%08d@b.example', i), printf('%08d@b.example', i), 'learner', 'active',
           json_object('firstName', printf('%.*c', 400, 'a'), 'lastName', printf('%.*c', 400, 'b')),
           1, '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z' from n;
    insert into enrollments (id, course_id, user_id, role, status, enrolled_at, source, version, created_at, updated_at)
    select 'enr_' || id, 'crs_1', id, 'learner', 'active', created_at, 'api', 1, created_at, created_at
    from users where id like 'usr_%' and email like '%@b.example'`)
  database.close()
}

/** Whether nobody else has the database open: only then does it change its journal. */
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

const exportRequest = (key: string) =>
  `GET /v1/analytics/learners?format=csv HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** The head of a request whose body has 17 bytes. */
const post = (key: string) =>
  `POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 17\r\n\r\n'

test('a new academy has a first key, which is shown once and works', async ({ served }) => {
  expect(served.key).toMatch(/^lpk_/)
  const profile = await served.fetch('/v1/user/profile')
  expect(await profile.json()).toMatchObject({
    email: 'admin@academy.local',
    scopes: ['read', 'write', 'admin'],
    authMethod: 'api_key',
  })
  expect(served.log.join('')).not.toContain(served.key)
})

test('an academy that exists has no first key, and keeps what it has', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const first = await startServer(path)
  const made = await first.fetch('/v1/courses', {
    method: 'POST',
    headers: { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' },
    body: '{"title":"Logic"}',
  })
  expect(made.status).toBe(201)
  await first.stop()
  const second = await startServer(path)
  expect(second.firstKey).toBeUndefined()
  const again = await second.fetch('/v1/courses', { headers: { authorization: `Bearer ${first.key}` } })
  expect(await again.json()).toMatchObject({ data: [{ title: 'Logic' }] })
  await second.stop()
})

test('no header, host or path makes a caller the one in whose process the academy is', async ({ served }) => {
  const attempts: readonly (readonly [string, string])[] = [
    ['/v1/user/profile', ''],
    ['/v1/user/profile', 'Authorization: local\r\n'],
    ['/v1/user/profile', 'Authorization: Bearer local\r\n'],
    ['/v1/user/profile', 'Authorization: Basic YWRtaW5AYWNhZGVteS5sb2NhbDo=\r\n'],
    ['/v1/user/profile', 'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-User: admin@academy.local\r\n'],
    ['/v1/user/profile', 'X-Principal: local\r\nX-Remote-User: local\r\nCookie: principal=local\r\n'],
    ['/v1/user/profile?principal=local&access_token=local', ''],
    ['/v1/user/profile;local', ''],
    ['/v1/./user/../user/profile', ''],
    ['//v1/user/profile', ''],
    ['/v1%2Fuser%2Fprofile', ''],
    ['http://academy.local/v1/user/profile', ''],
    ['http://localhost/v1/user/profile', ''],
  ]
  for (const [target, lines] of attempts) {
    const answer = await sendRaw(
      served.port,
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${lines}${close}\r\n`,
    )
    expect([401, 404, 421], target).toContain(answer.status)
    expect(answer.body, target).not.toContain('admin@academy.local')
  }
})

test('every request is one line of the log, with no secret in it', async ({ served }) => {
  await served.fetch(`/v1/courses?q=${served.key}`)
  await served.fetch('/v1/courses', { headers: { authorization: `Bearer ${served.key}x` } })
  await served.fetch('/v1/users', {
    method: 'POST',
    headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
    body: '{"email":"a@b.example","password":"correct horse battery"',
  })
  await sendRaw(served.port, `GET /health HTTP/1.1\r\nHost: ${served.key}\r\n${close}\r\n`)
  await sendRaw(served.port, `GET ${served.key}\r\n\r\n`)
  expect(served.log.map((line) => JSON.parse(line)).map(({ status }) => status)).toEqual([
    200, 401, 400, 421, 400,
  ])
  for (const line of served.log) {
    expect(line).toMatch(/^\{.*\}\n$/)
    expect(line).not.toContain(served.key)
    expect(line).not.toContain('correct horse')
  }
})

const hasty = test.extend('options', {
  timeouts: { headersTimeout: 40, requestTimeout: 80, keepAliveTimeout: 40, connectionsCheckingInterval: 10 },
})

hasty('a client that never ends its head or its body is 408', async ({ served }) => {
  const head = await sendRaw(served.port, 'GET /health HTTP/1.1\r\nHost: localhost\r\n')
  const body = await sendRaw(
    served.port,
    `POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${served.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"title":',
  )
  for (const answer of [head, body]) {
    expect(answer).toMatchObject({ status: 408, code: 'request_timeout' })
    expect(answer.head).toContain('connection: close')
  }
})

test('a client that sends too large a body and only then reads is told 413', async ({ served }) => {
  const answer = await served.fetch('/v1/courses', {
    method: 'POST',
    headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
    body: `{"title":"${'a'.repeat(1024 * 1024)}"}`,
  })
  expect(answer.status).toBe(413)
})

test('stopping finishes the request that is open, and takes no other', async ({ served }) => {
  const half = await open(served.port)
  half.socket.write(`${post(served.key)}{"title"`)
  const idle = await open(served.port)
  await served.fetch('/health')
  const stopped = served.stop()
  await expect(served.fetch('/health')).rejects.toThrow('fetch failed')
  half.socket.write(':"Logic"}')
  await half.closed
  expect(parsed(half.received())).toMatchObject({ status: 201 })
  await idle.closed
  await stopped
})

test('a request that comes while the server is stopping is 503, and the connection is closed', async ({
  served,
}) => {
  const busy = await open(served.port)
  busy.socket.write(`${post(served.key)}{"title"`)
  await served.fetch('/health')
  const stopped = served.stop()
  busy.socket.write(`:"Logic"}${exportRequest(served.key)}`)
  await busy.closed
  await stopped
  const [, first = '', second = ''] = busy.received().split('HTTP/1.1 ')
  expect(parsed(`HTTP/1.1 ${first}`)).toMatchObject({ status: 201 })
  const refused = parsed(`HTTP/1.1 ${second}`)
  expect(refused).toMatchObject({ status: 503, code: 'unavailable' })
  expect(refused.head).toContain('retry-after: 5')
  expect(refused.head).toContain('connection: close')
})

test('stopping finishes an open export, to its last row and its clean end', async ({ served }) => {
  fill(served.path, 20_000)
  const reader = await open(served.port)
  reader.socket.pause()
  reader.socket.write(exportRequest(served.key))
  await new Promise((resolve) => reader.socket.once('readable', resolve))
  const stopped = served.stop()
  reader.socket.resume()
  await reader.closed
  await stopped
  const text = reader.received()
  expect(text.split('@b.example')).toHaveLength(20_001)
  expect(text.endsWith('\r\n0\r\n\r\n')).toBe(true)
})

test('an export that fails half-way breaks its connection: it has no clean end', async ({ served }) => {
  fill(served.path, 2_000)
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
})

test('a client that goes away in an export leaves nothing open', async ({ served }) => {
  fill(served.path, 20_000)
  const reader = await open(served.port)
  reader.socket.write(exportRequest(served.key))
  await new Promise((resolve) => reader.socket.once('data', resolve))
  reader.socket.destroy()
  expect((await served.fetch('/v1/courses')).status).toBe(200)
  await served.stop()
  expect(isFree(served.path)).toBe(true)
})

test('HEAD of an export reads nothing of it', async ({ served }) => {
  fill(served.path, 20_000)
  const answer = await served.fetch('/v1/analytics/learners?format=csv', {
    method: 'HEAD',
    headers: { authorization: `Bearer ${served.key}` },
  })
  expect(answer.headers.get('content-type')).toContain('text/csv')
  await served.stop()
  expect(isFree(served.path)).toBe(true)
})

test('other requests are answered while an export runs', async ({ served }) => {
  fill(served.path, 20_000)
  const reader = await open(served.port)
  let ended = false
  reader.socket.write(exportRequest(served.key).replace('\r\n\r\n', `\r\n${close}\r\n`))
  void reader.closed.then(() => {
    ended = true
  })
  await new Promise((resolve) => reader.socket.once('data', resolve))
  expect((await served.fetch('/v1/courses')).status).toBe(200)
  expect(ended).toBe(false)
  await reader.closed
})

test('a newer database, a foreign one and a port that is taken are refused', async ({
  directory,
  served,
}) => {
  const foreign = join(directory, 'bookmarks.db')
  const database = new DatabaseSync(foreign)
  database.exec('create table bookmarks (url text)')
  database.close()
  await expect(startServer(foreign)).rejects.toThrow(DatabaseError)
  await expect(startServer(join(directory, 'other.db'), { port: served.port })).rejects.toThrow('EADDRINUSE')
})

const origin = 'https://app.school.example'
const shared = test.extend('options', { corsOrigins: [origin] })

test('without --cors-origin no page may read anything', async ({ served }) => {
  const answer = await served.fetch('/health', { headers: { origin } })
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  const preflight = await served.fetch('/v1/courses', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(405)
})

shared('pages of an origin that was named may read, those of no other', async ({ served }) => {
  const own = await served.fetch('/v1/courses', {
    headers: { origin, authorization: `Bearer ${served.key}` },
  })
  expect(own.status).toBe(200)
  expect(own.headers.get('access-control-allow-origin')).toBe(origin)
  expect(own.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
  expect(own.headers.get('access-control-allow-credentials')).toBeNull()
  expect(own.headers.get('vary')).toBe('Origin')
  const preflight = await served.fetch('/v1/courses', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PUT,DELETE')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key')
  expect(preflight.headers.get('x-request-id')).toMatch(/^req_/)
  expect(preflight.headers.get('x-content-type-options')).toBe('nosniff')
  const other = await served.fetch('/health', { headers: { origin: `${origin}.evil.test` } })
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
})
