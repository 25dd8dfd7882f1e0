import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect } from 'vitest'
import { makeCertificate } from '../../helpers/certificate.ts'
import { sendRaw, test as standard, startServer } from './served.ts'

const tls = makeCertificate()

const test = standard.extend('secure', async ({ directory }, { onCleanup }) => {
  const secure = await startServer(join(directory, 'academy.db'), { tls, allowHosts: ['learn.example.org'] })
  onCleanup(() => secure.stop())
  return secure
})

/** Sends a request over TLS and verifies the server's certificate. */
async function get(
  port: number,
  path: string,
  options: RequestOptions = {},
): Promise<{ reply: IncomingMessage; text: string }> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    ca: tls.cert,
    agent: false,
    servername: 'localhost',
    ...options,
  }).end()
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const piece of reply) text += piece
  return { reply, text }
}

test('with a certificate it serves https, and says so wherever it names itself', async ({ secure }) => {
  expect(secure.url).toBe(`https://127.0.0.1:${secure.port}`)
  const { reply, text } = await get(secure.port, '/.well-known/oauth-authorization-server')
  expect(reply.statusCode).toBe(200)
  expect(JSON.parse(text).issuer).toBe(secure.url)
  const page = await get(secure.port, '/dashboard')
  expect(page.reply.headers['set-cookie']?.[0]).toMatch(/^__Host-learnctl_session_\d+=lpb_\w{36}; .*Secure/)
})

test('TLS below 1.2 is refused, and so is what is no TLS', { tags: ['slow'] }, async ({ secure }) => {
  const old = connect({
    port: secure.port,
    host: '127.0.0.1',
    ca: tls.cert,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  const [error] = await once(old, 'error')
  expect(error.code).toMatch(/PROTOCOL/)
  expect(await sendRaw(secure.port, 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatchObject({
    head: '',
  })
  expect((await get(secure.port, '/health')).reply.statusCode).toBe(200)
})

test('a request that has begun is answered before the server stops', async ({ secure }) => {
  const headers = { authorization: `Bearer ${secure.key}`, 'content-type': 'application/json' }
  const sent = request({
    host: '127.0.0.1',
    port: secure.port,
    path: '/v1/courses',
    method: 'POST',
    ca: tls.cert,
    agent: false,
    headers,
  })
  sent.write('{"title":')
  await once(sent, 'socket')
  await expect.poll(() => sent.socket?.bytesWritten).toBeGreaterThan(0)
  // A later request was answered, so the server has read the head of this one.
  await get(secure.port, '/health')
  const stopped = secure.stop()
  sent.end('"Logic"}')
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  expect(reply.statusCode).toBe(201)
  reply.resume()
  await stopped
})

test('every response tells browsers to stay with https, by name', { tags: ['slow'] }, async ({ secure }) => {
  const told = async (path: string, host: string) =>
    (await get(secure.port, path, { headers: { host } })).reply.headers['strict-transport-security']
  for (const path of ['/health', '/nowhere', '/dashboard']) {
    expect(await told(path, 'learn.example.org')).toBe('max-age=31536000')
  }
  expect(await told('/health', 'foreign.example')).toBe('max-age=31536000')
  for (const host of ['localhost', '127.0.0.1:4700', '[::1]'])
    expect(await told('/health', host)).toBeUndefined()
})

standard.for([
  ['https://learn.example.org', 'max-age=31536000'],
  ['http://learn.example.org', null],
  ['https://localhost:4700', null],
  ['https://192.0.2.1', null],
  [undefined, null],
] as const)('behind %s they are told %s', async ([publicUrl, told], { directory }) => {
  const served = await startServer(join(directory, 'academy.db'), { publicUrl })
  expect((await served.fetch('/health')).headers.get('strict-transport-security')).toBe(told)
  await served.stop()
})

standard('a proxy that is trusted says whose requests are counted', async ({ directory }) => {
  const served = await startServer(join(directory, 'academy.db'), {
    perMinute: 3,
    trustedProxies: ['127.0.0.1'],
  })
  const statuses = async (client: string) => {
    const headers = { 'x-forwarded-for': client }
    const answers = []
    for (let count = 0; count < 4; count += 1)
      answers.push((await served.fetch('/v1/openapi.json', { headers })).status)
    return answers
  }
  expect(await statuses('198.51.100.1')).toEqual([200, 200, 200, 429])
  expect(await statuses('203.0.113.5, 198.51.100.1')).toEqual([429, 429, 429, 429])
  expect(await statuses('198.51.100.2')).toEqual([200, 200, 200, 429])
  await served.stop()
})
