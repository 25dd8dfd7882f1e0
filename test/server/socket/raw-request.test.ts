import { once } from 'node:events'
import { expect } from 'vitest'
import { allowedHostsOf } from '../../../src/server/socket/raw-request.ts'
import { openSocket, parseResponse, sendRaw, test } from './served.ts'

const close = 'Connection: close\r\n'

/** A GET without a body, with these head lines. */
const get = (target: string, lines: string, version = '1.1') =>
  `GET ${target} HTTP/${version}\r\n${lines}\r\n`

test.for([
  'localhost',
  'localhost:',
  '[::1]:',
  'LOCALHOST:1234',
  '127.0.0.1:65535',
  '127.0.0.1',
  '[::1]',
  '127.1',
])('Host %s is this server’s', async (host, { served }) => {
  expect(await sendRaw(served.port, get('/health', `Host: ${host}\r\n${close}`))).toMatchObject({
    status: 200,
  })
})

test.for([
  'evil.test',
  'evil.test:80',
  'localhost.evil.test',
  'evil.test@localhost',
  'localhost@evil.test',
  'localhost/evil',
  'academy.local',
  '10.0.0.1',
  'localhost::',
  ':80',
  'localhost:65536',
  'localhost:99999999999',
  '',
])('Host %j is 421', async (host, { served }) => {
  const answer = await sendRaw(served.port, get('/health', `Host: ${host}\r\n${close}`))
  expect(answer).toMatchObject({ status: 421, code: 'misdirected_request' })
  expect(answer.head).toContain('x-request-id: req_')
  expect(answer.head).toContain('content-type: application/problem+json')
})

test.for([
  ['http://evil.test/health', 421],
  ['http://localhost@evil.test/health', 421],
  ['https://evil.test:443/', 421],
  ['evil.test:80', 400],
  ['http://127.0.0.1/health', 200],
  ['http://localhost:9/health?', 200],
  ['http://localhost/v1/courses?limit=1', 401],
  ['//evil.test/health', 404],
] as const)('the target %s is %s', async ([target, status], { served }) => {
  expect(await sendRaw(served.port, get(target, `Host: localhost\r\n${close}`))).toMatchObject({ status })
})

test('a path with a backslash is 400, as every other refusal is', async ({ served }) => {
  for (const target of ['/\\evil.test/health', '/dashboard\\']) {
    const answer = await sendRaw(served.port, get(target, `Host: localhost\r\n${close}`))
    expect(answer).toMatchObject({ status: 400, code: 'invalid_parameter' })
    expect(answer.head).toContain('x-request-id: req_')
  }
  const query = await sendRaw(served.port, get('/health?a=\\', `Host: localhost\r\n${close}`))
  expect(query).toMatchObject({ status: 400, code: 'unknown_parameter' })
})

test('two Host lines are 400, were they the same', async ({ served }) => {
  for (const second of ['evil.test', 'localhost']) {
    const answer = await sendRaw(
      served.port,
      get('/health', `Host: localhost\r\nhost: ${second}\r\n${close}`),
    )
    expect(answer).toMatchObject({ status: 400, code: 'duplicate_header' })
  }
})

test('two Authorization lines are 400, though one be right', async ({ served }) => {
  for (const lines of [
    `Authorization: Bearer ${served.key}\r\nAuthorization: Bearer x\r\n`,
    `AUTHORIZATION: Bearer ${served.key}\r\nauthorization: Bearer ${served.key}\r\n`,
  ]) {
    const answer = await sendRaw(served.port, get('/v1/courses', `Host: localhost\r\n${lines}${close}`))
    expect(answer).toMatchObject({ status: 400, code: 'duplicate_header' })
  }
})

test.for(['1.1', '1.0'])('HTTP/%s without a Host is 400', async (version, { served }) => {
  const answer = await sendRaw(served.port, get('/health', close, version))
  expect(answer).toMatchObject({ status: 400, code: 'invalid_parameter' })
  expect(answer.body).toContain('Host header is required')
})

test.for([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a line end without CR', 'GET /health HTTP/1.1\nHost: localhost\n\n'],
  [
    'two ways to tell the length',
    'POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a length that is no number',
    'POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n',
  ],
  ['TLS', '\x16\x03\x01\x02\x00\x01'],
])('%s is 400, as problem details', async ([, bytes = ''], { served }) => {
  const answer = await sendRaw(served.port, bytes)
  expect(answer).toMatchObject({ status: 400, code: 'invalid_parameter' })
  expect(answer.head).toContain('connection: close')
  expect(answer.head).toContain('x-content-type-options: nosniff')
  expect(answer.head).toContain('x-request-id: req_')
})

test('a URL over 8 KiB is 414, over 16 KiB too', async ({ served }) => {
  for (const length of [9_000, 20_000]) {
    const target = `/v1/courses?q=${'a'.repeat(length)}`
    const answer = await sendRaw(served.port, get(target, `Host: localhost\r\n${close}`))
    expect(answer).toMatchObject({ status: 414, code: 'uri_too_long' })
  }
})

test.for([
  ['one header of 20 KB', `Cookie: ${'a'.repeat(20_000)}\r\n`],
  ['many headers', Array.from({ length: 2_000 }, (_, index) => `X-${index}: y\r\n`).join('')],
  ['1,100 tiny headers', 'a: b\r\n'.repeat(1_100)],
])('%s is 431', async ([, lines = ''], { served }) => {
  const answer = await sendRaw(served.port, get('/health', `Host: localhost\r\n${lines}`))
  expect(answer).toMatchObject({ status: 431, code: 'headers_too_large' })
  expect(answer.head).toContain('connection: close')
  expect(served.log.map((line) => JSON.parse(line))).toMatchObject([{ status: 431, level: 'warn' }])
})

test('a header after 900 others counts', async ({ served }) => {
  const lines = `${'a: b\r\n'.repeat(900)}Authorization: Bearer ${served.key}\r\n`
  const answer = await sendRaw(served.port, get('/v1/courses', `Host: localhost\r\n${lines}${close}`))
  expect(answer).toMatchObject({ status: 200 })
})

test('two types of one body are 400, and what is compressed inside its chunks', async ({ served }) => {
  const authorized = `Host: localhost\r\nAuthorization: Bearer ${served.key}\r\n`
  const type = 'Content-Type: application/json\r\n'
  const send = (lines: string, text: string) =>
    sendRaw(served.port, `POST /v1/courses HTTP/1.1\r\n${authorized}${type}${lines}${close}\r\n`, text)
  const twice = await send('Content-Type: text/plain\r\nContent-Length: 17\r\n', '{"title":"Logic"}')
  expect(twice).toMatchObject({ status: 400, code: 'duplicate_header' })
  const coded = await send('Transfer-Encoding: gzip, chunked\r\n', '11\r\n{"title":"Logic"}\r\n0\r\n\r\n')
  expect(coded).toMatchObject({ status: 400, code: 'invalid_parameter' })
})

test.for(['TRACE', 'PATCH', 'PROPFIND'])('%s is 405', async (method, { served }) => {
  const answer = await sendRaw(
    served.port,
    `${method} /v1/courses HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`,
  )
  expect(answer).toMatchObject({ status: 405, code: 'method_not_allowed' })
  expect(answer.head).toContain('allow: head, get, post, options')
})

test('OPTIONS lists the methods of a path, and with * those of the server', async ({ served }) => {
  const ask = (target: string) =>
    sendRaw(served.port, `OPTIONS ${target} HTTP/1.1\r\nHost: localhost\r\n${close}\r\n`)
  const path = await ask('/v1/courses')
  expect(path).toMatchObject({ status: 204, body: '' })
  expect(path.head).toContain('allow: head, get, post, options')
  const server = await ask('*')
  expect(server).toMatchObject({ status: 204, body: '' })
  expect(server.head).toContain('allow: head, get, post, put, patch, delete, options')
})

const post = (key: string, length: string) =>
  `POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\n${length}\r\n${close}\r\n`

const mebibyte = 1024 * 1024
const body = (size: number) => `{"title":"${'a'.repeat(size - 12)}"}`

test('a body of 1 MiB + 1 is 413 by its Content-Length, before it is read', async ({ served }) => {
  const { socket, received } = await openSocket(served.port)
  socket.write(post(served.key, `Content-Length: ${mebibyte + 1}`))
  await once(socket, 'data')
  socket.destroy()
  expect(parseResponse(received())).toMatchObject({ status: 413, code: 'content_too_large' })
})

test('a body of 1 MiB + 1 in chunks is 413 once it is too large', async ({ served }) => {
  const text = body(mebibyte + 1)
  const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
  const answer = await sendRaw(served.port, post(served.key, 'Transfer-Encoding: chunked'), chunk)
  expect(answer).toMatchObject({ status: 413, code: 'content_too_large' })
})

test('a body of 1 MiB is read, in one piece or in chunks', async ({ served }) => {
  const text = body(mebibyte)
  const whole = await sendRaw(served.port, post(served.key, `Content-Length: ${mebibyte}`), text)
  const chunks = `${(mebibyte - 9).toString(16)}\r\n${text.slice(0, -9)}\r\n9\r\n${text.slice(-9)}\r\n0\r\n\r\n`
  const chunked = await sendRaw(served.port, post(served.key, 'Transfer-Encoding: chunked'), chunks)
  for (const answer of [whole, chunked])
    expect(answer).toMatchObject({ status: 422, code: 'validation_failed' })
})

test('names of this server are the loopback, its bound address, and the configured hosts', () => {
  const names = (more: object) => [
    ...allowedHostsOf({ host: '127.0.0.1', allowHosts: [], publicUrl: undefined, ...more }),
  ]
  expect(names({})).toEqual(['localhost', '127.0.0.1', '[::1]'])
  expect(names({ host: '0.0.0.0' })).toEqual(['localhost', '127.0.0.1', '[::1]'])
  expect(names({ host: 'fd00::1' })).toContain('[fd00::1]')
  expect(names({ allowHosts: ['School.Example'], publicUrl: 'https://learn.example:8443/x' })).toEqual([
    'localhost',
    '127.0.0.1',
    '[::1]',
    'school.example',
    'learn.example',
  ])
})

test('a request whose body has no known end gets one answer', async ({ served }) => {
  const { socket, closed, received } = await openSocket(served.port)
  const head = `POST /v1/courses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`)
  await closed
  expect(received().match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400'])
})
