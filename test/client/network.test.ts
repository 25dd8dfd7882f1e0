import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { streamOf } from '../../src/client/reply.ts'
import { type ClosableTransport, networkErrorOf } from '../../src/client/undici.ts'
import { listen } from '../helpers/listen.ts'
import { networks, textOf } from './harness.ts'

const closing: { close(): unknown }[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()))
})

/** A server that returns the requests it got, as an origin or as a proxy. */
async function startEcho(): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2'])
    response.end(JSON.stringify({ url: request.url, host: request.headers.host, headers: request.headers }))
  })
  return listening(server)
}

async function listening(server: Server): Promise<string> {
  const listener = await listen(server)
  closing.push(listener)
  return listener.url
}

describe.each(networks)('over %s', (_, createNetwork) => {
  function open(env: Record<string, string> = {}): ClosableTransport {
    const transport = createNetwork({ env })
    closing.push(transport)
    return transport
  }

  const get = (url: string) => ({ method: 'GET', url, headers: { 'x-mine': 'y' } })

  test('a request goes out with its headers and asks for no coding; headers come back in lower case, each as one line', async () => {
    const url = await startEcho()
    const reply = await open()(get(`${url}/a?b=c%20d`))
    expect(JSON.parse(await textOf(streamOf(reply).body))).toMatchObject({
      url: '/a?b=c%20d',
      headers: { 'x-mine': 'y', 'accept-encoding': 'identity' },
    })
    expect(reply.status).toBe(200)
    expect(reply.headers['set-cookie']).toBe('a=1, b=2')
  })

  test.each(['HTTP_PROXY', 'http_proxy'])(
    '%s carries what goes to other machines, but not what stays on this one',
    async (name) => {
      const proxy = await startEcho()
      const transport = open({ [name]: proxy })
      const far = await transport(get('http://academy.example/v1/courses'))
      expect(JSON.parse(await textOf(streamOf(far).body))).toMatchObject({
        url: 'http://academy.example/v1/courses',
        host: 'academy.example',
      })
      const near = await transport(get(`${await startEcho()}/v1/courses`))
      expect(JSON.parse(await textOf(streamOf(near).body))).toMatchObject({ url: '/v1/courses' })
    },
  )

  test('a redirect is an answer, and is not followed', async () => {
    const location = await startEcho()
    const url = await listening(createServer((_, response) => response.writeHead(307, { location }).end()))
    expect(await open()(get(url))).toMatchObject({ status: 307, headers: { location } })
  })

  test('a header that would split the request is refused before anything is sent', async () => {
    const url = await startEcho()
    const split = { method: 'GET', url, headers: { authorization: 'Bearer a\r\nX-Evil: 1' } }
    await expect(open()(split)).rejects.toMatchObject({ name: 'RequestError', code: 'invalid_header' })
  })

  test.each([
    ['text', 'é', 'é', { 'content-length': '2' }],
    ['bytes', Buffer.from('é'), 'é', { 'content-length': '2' }],
    [
      'a stream',
      (async function* () {
        yield 'a'
        yield Buffer.from('é')
      })(),
      'aé',
      { 'transfer-encoding': 'chunked' },
    ],
    ['nothing', undefined, '', {}],
  ] as const)('a DELETE with %s as its body says where it ends', async (_, body, text, headers) => {
    const server = createServer(async (request, response) => {
      let received = ''
      for await (const piece of request.setEncoding('utf8')) received += piece
      const names = ['content-length', 'transfer-encoding'] as const
      const told = names.flatMap((name) => (request.headers[name] ? [[name, request.headers[name]]] : []))
      response.end(JSON.stringify({ received, headers: Object.fromEntries(told) }))
    })
    const url = await listening(server)
    const reply = await open()({ method: 'DELETE', url, headers: {}, ...(body !== undefined && { body }) })
    expect(JSON.parse(await textOf(streamOf(reply).body))).toEqual({ received: text, headers })
  })

  test('a server that switches to another protocol is none that answers', async () => {
    const server = createServer()
    server.on('upgrade', () => {})
    server.on('request', (request) => {
      request.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      )
    })
    const url = await listening(server)
    await expect(open()(get(url))).rejects.toMatchObject({ name: 'ConnectionError', code: 'reset' })
  })
})

const request = { method: 'GET', url: 'https://academy.example/v1/courses?q=1', headers: {} }
const moment = { part: 'head', connectTimeoutMs: 5000 } as const
const wire = (code: string, message = 'm') => Object.assign(new Error(message), { code })

test.each([
  ['ECONNREFUSED', 'refused'],
  ['ENOTFOUND', 'unresolved'],
  ['EAI_AGAIN', 'unresolved'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ECONNRESET', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['CERT_HAS_EXPIRED', 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ['UND_ERR_PRX_TLS', 'proxy'],
  ['ESOMETHING', 'failed'],
])('%s is a connection that is %s', (wireCode, code) => {
  const cause = wire(wireCode)
  const error = networkErrorOf(request, cause, moment)
  expect(error).toMatchObject({ name: 'ConnectionError', code, cause, url: request.url })
  expect(String(error)).toMatch(/^ConnectionError: .*\bacademy\.example\b.* \(GET \/v1\/courses\)$/)
})

test('a certificate that is not trusted is told without advice on Node', () => {
  const message =
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca'
  expect(networkErrorOf(request, wire('DEPTH_ZERO_SELF_SIGNED_CERT', message), moment)).toMatchObject({
    code: 'tls',
    message:
      'Cannot establish a trusted TLS connection to academy.example: self-signed certificate (GET /v1/courses)',
  })
})

test('a timeout, a parser fault, a header that cannot be written and a proxy that refuses have names of their own', () => {
  expect(networkErrorOf(request, wire('UND_ERR_CONNECT_TIMEOUT'), moment)).toMatchObject({
    code: 'connect_timeout',
    message: 'Connection to academy.example timed out after 5 s (GET /v1/courses)',
  })
  expect(networkErrorOf(request, wire('UND_ERR_HEADERS_OVERFLOW'), moment)).toMatchObject({
    code: 'not_http',
  })
  expect(
    networkErrorOf(request, wire('UND_ERR_INVALID_ARG', 'invalid authorization header'), moment),
  ).toMatchObject({
    name: 'RequestError',
    code: 'invalid_header',
  })
  const refusal = 'Proxy response (403) !== 200 when HTTP Tunneling'
  const proxy = {
    ...{ url: 'http://proxy.example:3128', host: 'proxy.example:3128' },
    ...{ variable: 'HTTPS_PROXY', authorization: undefined },
  }
  expect(networkErrorOf(request, wire('UND_ERR_ABORTED', refusal), { ...moment, proxy })).toMatchObject({
    code: 'proxy',
    message:
      'The proxy proxy.example:3128 refused to connect to academy.example: it returned 403 (GET /v1/courses)',
  })
})
