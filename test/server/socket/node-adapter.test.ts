import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'
import { withContentCoding } from '../../../src/server/socket/content-coding.ts'
import { createNodeListener } from '../../../src/server/socket/node-adapter.ts'
import { openSocket, parseResponse, sendRaw, test } from './served.ts'

const host = 'Host: localhost\r\n'
const close = 'Connection: close\r\n'
const last = `GET /health HTTP/1.1\r\n${host}${close}\r\n`
const tooMuch = 2 * 1024 * 1024

/** Returns the statuses of all responses on a socket. */
function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
}

/** Reads until the server closes. */
async function conversation(port: number, ...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const { socket, closed, received } = await openSocket(port)
  for (const piece of pieces) socket.write(piece)
  await closed
  return received()
}

test('an unread body ends where it ends, before the next request', { tags: ['slow'] }, async ({ served }) => {
  const authorization = `Authorization: Bearer ${served.key}\r\n`
  const json = 'Content-Type: application/json\r\n'
  const bytes = Buffer.alloc(tooMuch, 'a')
  const length = `Content-Length: ${tooMuch}\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n'
  const chunks = [`${tooMuch.toString(16)}\r\n`, bytes, '\r\n0\r\n\r\n']
  const requests: readonly (readonly [string, string, number, ...(string | Uint8Array)[]])[] = [
    ['POST /v1/courses', host + authorization + json + length, 413, bytes],
    ['POST /v1/courses', host + authorization + json + chunked, 413, ...chunks],
    ['DELETE /v1/courses/crs_1', host + authorization + chunked, 413, ...chunks],
    ['POST /v1/courses', host + json + length, 401, bytes],
    ['POST /v1/courses', host + authorization + length, 415, bytes],
    ['POST /nowhere', host + length, 404, bytes],
    ['POST /v1/courses', `Host: evil.test\r\n${length}`, 421, bytes],
    ['GET /v1/courses', host + authorization + length, 200, bytes],
    ['GET /health', `${host}Content-Length: 5\r\n`, 200, 'GET /'],
  ]
  for (const [line, lines, status, ...body] of requests) {
    const text = await conversation(served.port, `${line} HTTP/1.1\r\n${lines}\r\n`, ...body, last)
    expect(statuses(text), line).toEqual([status, 200])
  }
})

test('an answer reaches a client that is still sending', { tags: ['slow'] }, async ({ served }) => {
  const size = 16 * tooMuch
  const head = `POST /v1/courses HTTP/1.1\r\n${host}${close}Content-Length: ${size}\r\n\r\n`
  const { socket, closed, received } = await openSocket(served.port)
  const faults: Error[] = []
  socket.on('error', (fault) => faults.push(fault))
  socket.write(head)
  socket.write(Buffer.alloc(size, 'a'))
  await closed
  expect(parseResponse(received())).toMatchObject({ status: 401 })
  expect(faults).toEqual([])
})

test('an upload that is broken off is no fault of the server’s', async ({ served }) => {
  const { socket, closed } = await openSocket(served.port)
  socket.write(
    `POST /v1/courses HTTP/1.1\r\n${host}Authorization: Bearer ${served.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"tit',
  )
  await served.fetch('/health')
  socket.destroy()
  await closed
  const upload = () => served.log.map((line) => JSON.parse(line)).find(({ method }) => method === 'POST')
  await expect.poll(upload).toMatchObject({ level: 'warn', status: 400 })
  expect(upload()).not.toHaveProperty('error')
})

test('a complete response has a length, and one without a body has none', async ({ served }) => {
  const ask = (request: string) => sendRaw(served.port, `${request}${close}\r\n`)
  for (const request of [
    `GET / HTTP/1.1\r\n${host}`,
    `GET /health HTTP/1.1\r\n${host}`,
    `GET /nowhere HTTP/1.1\r\n${host}`,
    'GET /health HTTP/1.1\r\nHost: evil.test\r\n',
  ]) {
    const { head, body } = await ask(request)
    expect(head, request).toContain(`content-length: ${Buffer.byteLength(body)}\r\n`)
    expect(head, request).not.toContain('transfer-encoding')
  }
  const authorized = `${host}Authorization: Bearer ${served.key}\r\n`
  const made = await served.fetch('/v1/courses', {
    method: 'POST',
    headers: { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' },
    body: '{"title":"Logic"}',
  })
  const path = made.headers.get('location')
  for (const [request, status] of [
    [`GET ${path} HTTP/1.1\r\n${authorized}If-None-Match: ${made.headers.get('etag')}\r\n`, 304],
    [`HEAD / HTTP/1.1\r\n${host}`, 303],
    ['HEAD /health HTTP/1.1\r\nHost: evil.test\r\n', 421],
    [`DELETE ${path} HTTP/1.1\r\n${authorized}`, 204],
  ] as const) {
    const { head, ...answer } = await ask(request)
    expect(answer, request).toMatchObject({ status, body: '' })
    expect(head, request).not.toMatch(/content-length|transfer-encoding/)
  }
})

test('CONNECT is 400, and a line of the log', async ({ served }) => {
  const answer = await sendRaw(served.port, `CONNECT localhost:80 HTTP/1.1\r\n${host}\r\n`)
  expect(answer).toMatchObject({ status: 400, code: 'invalid_parameter' })
  expect(served.log).toHaveLength(1)
})

const single = test.extend('options', { connections: { whole: 10, each: 1 } })

single(
  'a client that was refused and does not go away is gone soon',
  { tags: ['slow'] },
  async ({ served }) => {
    const socket = connect({ port: served.port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write('no HTTP\r\n\r\n')
    await once(socket.resume(), 'end')
    // Its address may have another connection once the server has closed this one.
    await expect.poll(async () => (await sendRaw(served.port, last)).status).toBe(200)
    expect(socket.destroyed).toBe(false)
  },
)

/** Serves a transport on a port, and collects its broken responses. */
async function listening(handle: Transport): Promise<{ port: number; broken: unknown[] }> {
  const broken: unknown[] = []
  const server = createServer(
    createNodeListener(handle, (_, response, cause) => broken.push([response?.status, cause])),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, broken }
}

const fault = new Error('the disk is gone')

test('a transport that fails, whichever way, breaks one connection and nothing else', async () => {
  const failing: readonly [number | undefined, () => HttpResponse][] = [
    [
      undefined,
      () => {
        throw fault
      },
    ],
    [
      200,
      () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield 'a'
          throw fault
        })(),
      }),
    ],
  ]
  for (const [status, answer] of failing) {
    const { port, broken } = await listening(async () => answer())
    const { received, closed, socket } = await openSocket(port)
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await closed
    expect(received().endsWith('0\r\n\r\n')).toBe(false)
    expect(broken).toEqual([[status, fault]])
  }
})

test('the head of a stream goes out before its first piece is there', async () => {
  const { promise: piece, resolve: give } = Promise.withResolvers<string>()
  const { port } = await listening(async () => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield await piece
    })(),
  }))
  const { socket, closed, received } = await openSocket(port)
  socket.write(`GET / HTTP/1.1\r\n${host}${close}\r\n`)
  await expect.poll(received).toContain('\r\n\r\n')
  give('a row')
  await closed
  expect(received()).toContain('a row')
})

test('a failure after the reader has disconnected is attributed to the reader', async () => {
  let failed = 0
  const { port, broken } = await listening(async () => ({
    status: 200,
    headers: {},
    body: (async function* () {
      try {
        for (;;) yield 'a'.repeat(65_536)
      } finally {
        failed += 1
        // biome-ignore lint/correctness/noUnsafeFinally: what a source does that is closed while it is read
        throw fault
      }
    })(),
  }))
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const { socket, closed } = await openSocket(port)
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`)
    await once(socket, 'data')
    socket[leave]()
    await closed
  }
  await expect.poll(() => failed).toBe(2)
  await setImmediate()
  expect(broken).toEqual([])
})

test.for(['ascii', 'caf\u00e9', '\u20ac 5', '', Buffer.from([0xff, 0x00])])(
  'the body %j arrives as it is, with its length in bytes',
  async (body) => {
    const { port } = await listening(async () => ({ status: 200, headers: {}, body }))
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(bytes).toEqual(Buffer.from(body))
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
  },
)

test('a header that cannot be sent breaks the connection, too', async () => {
  const { port, broken } = await listening(async () => ({
    status: 200,
    headers: { location: '/a\r\nset-cookie: b=c' },
    body: '',
  }))
  expect(await conversation(port, `GET / HTTP/1.1\r\n${host}\r\n`)).toBe('')
  expect(broken).toMatchObject([[200, { code: 'ERR_INVALID_CHAR' }]])
})

test('a request reports when its client has disconnected, one with a condition too', async () => {
  for (const condition of ['', 'If-None-Match: "1"\r\n']) {
    const asked: HttpRequest[] = []
    const { port } = await listening(
      withContentCoding((request) => {
        asked.push(request)
        return new Promise(() => {})
      }),
    )
    const { socket, closed } = await openSocket(port)
    socket.write(`GET / HTTP/1.1\r\n${host}${condition}\r\n`)
    await expect.poll(() => asked.length).toBe(1)
    const { signal } = asked[0] ?? {}
    expect(signal?.aborted).toBe(false)
    socket.destroy()
    await closed
    await expect.poll(() => signal?.aborted).toBe(true)
  }
})
