import { createServer } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { streamed } from '../../src/client/decode.ts'
import { type ClosableTransport, createUndiciTransport } from '../../src/client/undici.ts'
import { textOf } from './harness.ts'

const closing: { close(): unknown }[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()))
})

/** A server that tells what it was asked: itself, or as a proxy. */
async function startEcho(): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2'])
    response.end(JSON.stringify({ url: request.url, host: request.headers.host, headers: request.headers }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  const address = server.address()
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
}

function open(env: Record<string, string> = {}): ClosableTransport {
  const transport = createUndiciTransport({ env })
  closing.push(transport)
  return transport
}

const get = (url: string) => ({ method: 'GET', url, headers: { 'x-mine': 'y' } })

test('a request goes out with its headers and asks for no coding; headers come back in lower case, each as one line', async () => {
  const url = await startEcho()
  const reply = await open()(get(`${url}/a?b=c%20d`))
  expect(JSON.parse(await textOf(streamed(reply).body))).toMatchObject({
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
    expect(JSON.parse(await textOf(streamed(far).body))).toMatchObject({
      url: 'http://academy.example/v1/courses',
      host: 'academy.example',
    })
    const near = await transport(get(`${await startEcho()}/v1/courses`))
    expect(JSON.parse(await textOf(streamed(near).body))).toMatchObject({ url: '/v1/courses' })
  },
)

test('NO_PROXY is honoured', async () => {
  // An address of this machine that is not a loopback one by name.
  const url = (await startEcho()).replace('127.0.0.1', '0.0.0.0')
  const proxy = await startEcho()
  const through = await open({ HTTP_PROXY: proxy })(get(`${url}/x`))
  expect(JSON.parse(await textOf(streamed(through).body))).toMatchObject({ url: `${url}/x` })
  const direct = await open({ HTTP_PROXY: proxy, NO_PROXY: 'other.example,0.0.0.0' })(get(`${url}/x`))
  expect(JSON.parse(await textOf(streamed(direct).body))).toMatchObject({ url: '/x' })
})

test('an empty proxy variable counts as unset', async () => {
  const url = await startEcho()
  const reply = await open({ HTTP_PROXY: '', HTTPS_PROXY: '' })(get(`${url}/x`))
  expect(JSON.parse(await textOf(streamed(reply).body))).toMatchObject({ url: '/x' })
})

test('a header that would split the request is refused before anything is sent', async () => {
  const url = await startEcho()
  const split = { method: 'GET', url, headers: { authorization: 'Bearer a\r\nX-Evil: 1' } }
  await expect(open()(split)).rejects.toMatchObject({ name: 'RequestError', code: 'invalid_header' })
})

test('after close the connections are gone', async () => {
  const url = await startEcho()
  const transport = open()
  await textOf(streamed(await transport(get(url))).body)
  await transport.close()
  expect((await transport(get(url))).status).toBe(200)
})
