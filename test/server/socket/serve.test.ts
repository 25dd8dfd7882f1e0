import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { onPostgres } from '../../helpers/test-academy.ts'
import { post, sendRaw, startServer, test } from './served.ts'

const close = 'Connection: close\r\n'

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
  const body = await sendRaw(served.port, `${post(served.key)}{"title"`)
  for (const answer of [head, body]) {
    expect(answer).toMatchObject({ status: 408, code: 'request_timeout' })
    expect(answer.head).toContain('connection: close')
  }
})

test('a taken port makes no academy, whose first key would be lost', async ({ directory, served }) => {
  const path = join(directory, 'other.db')
  await expect(startServer(path, { port: served.port })).rejects.toThrow('EADDRINUSE')
  expect(existsSync(path)).toBe(false)
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
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  expect(preflight.headers.get('access-control-allow-methods')).toBeNull()
})

shared('pages of an origin that was named may read, those of no other', async ({ served }) => {
  const own = await served.fetch('/v1/courses', {
    headers: { origin, authorization: `Bearer ${served.key}` },
  })
  expect(own.status).toBe(200)
  expect(own.headers.get('access-control-allow-origin')).toBe(origin)
  expect(own.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
  expect(own.headers.get('access-control-allow-credentials')).toBeNull()
  expect(own.headers.get('vary')).toBe('Accept-Encoding, Origin')
  const preflight = await served.fetch('/v1/courses', {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PUT,PATCH,DELETE')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key')
  expect(preflight.headers.get('x-request-id')).toMatch(/^req_/)
  expect(preflight.headers.get('x-content-type-options')).toBe('nosniff')
  expect(served.log.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
    method: 'OPTIONS',
    path: '/v1/courses',
    status: 204,
    requestId: preflight.headers.get('x-request-id'),
  })
  const lost = await served.fetch('/v1/nowhere', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET' },
  })
  expect(lost.status).toBe(204)
  const other = await served.fetch('/health', { headers: { origin: `${origin}.evil.test` } })
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
})

test('a request that comes before the database is open is answered once it is', async ({ directory }) => {
  const port = await freePort()
  let early: Promise<Response> | undefined
  const connected = (async () => {
    while (early === undefined) {
      const socket = connect(port, '127.0.0.1')
      const isThere = await new Promise((resolve) => {
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
      })
      socket.destroy()
      if (isThere) early = fetch(`http://127.0.0.1:${port}/health`)
    }
  })()
  const server = await startServer(join(directory, 'academy.db'), { port })
  await connected
  expect((await early)?.status).toBe(200)
  await server.stop()
})

test.skipIf(onPostgres)('a write-ahead log that is removed shows in /ready', async ({ served }) => {
  expect((await served.fetch('/ready')).status).toBe(200)
  rmSync(`${served.path}-wal`)
  const answer = await served.fetch('/ready')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({
    code: 'unavailable',
    detail:
      'The database has lost its write-ahead log: the file was removed or replaced; stop the server and restore a backup.',
  })
  expect((await served.fetch('/health')).status).toBe(200)
})
