import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { streamOf } from '../../src/client/reply.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { listen } from '../helpers/listen.ts'
import { type ProxyOptions, startProxy } from '../helpers/proxy.ts'
import { networks, textOf } from './harness.ts'

const certificate = makeCertificate('2020-01-01', '2120-01-01', 'academy.example')
const trusted = getCACertificates('default')
const closing: { close(): unknown }[] = []
const url = 'https://academy.example/v1/courses?a=1'
let listener: Awaited<ReturnType<typeof listen>>

/** A platform with a certificate for academy.example, a name that does not resolve. */
const platform = createServer(certificate, (incoming, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  const { url, method, headers } = incoming
  const { host, 'proxy-authorization': leaked } = headers
  outgoing.end(JSON.stringify({ url, method, host, leaked, data: [], meta: { nextCursor: null } }))
})

beforeAll(async () => {
  setDefaultCACertificates([...trusted, certificate.cert])
  listener = await listen(platform)
})
afterAll(() => {
  setDefaultCACertificates(trusted)
  return listener.close()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(closing.splice(0).map((each) => each.close()))
})

async function proxyTo(options: Partial<ProxyOptions> = {}) {
  const proxy = await startProxy({ to: listener.port, ...options })
  closing.push(proxy)
  return proxy
}

describe.each(networks)('over %s', (_, createNetwork) => {
  function sending(env: Record<string, string>, connectTimeoutMs = 30_000) {
    const transport = createNetwork({ env, connectTimeoutMs })
    closing.push(transport)
    return (method = 'GET') => transport({ method, url, headers: {} })
  }

  test.each(['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'])('%s carries https', async (name) => {
    const proxy = await proxyTo()
    const send = sending({ [name]: proxy.host })
    const [reply] = await Promise.all([send(), send('POST')])
    expect(JSON.parse(await textOf(streamOf(reply).body))).toMatchObject({
      url: '/v1/courses?a=1',
      host: 'academy.example',
    })
    expect([...new Set(proxy.requests)]).toEqual(['CONNECT academy.example:443'])
  })

  test('credentials go to the proxy, and not to the platform', async () => {
    const proxy = await proxyTo({ credentials: 'ada:p@ss' })
    const send = sending({ HTTPS_PROXY: `http://ada:p%40ss@${proxy.host}` })
    const reply = await textOf(streamOf(await send()).body)
    expect(JSON.parse(reply)).toMatchObject({ url: '/v1/courses?a=1' })
    expect(reply).not.toContain('leaked')
  })

  test.each([
    [
      { credentials: 'ada:secret' },
      '',
      'proxy',
      /^The proxy \S+ requires a user name and password; set HTTPS_PROXY to /,
    ],
    [{ credentials: 'ada:secret' }, 'ada:wrong@', 'proxy', /^The proxy \S+ rejected .* in HTTPS_PROXY \(GET/],
    [
      { refuses: 403 },
      '',
      'proxy',
      /^The proxy \S+ refused to connect to academy\.example: it returned 403 \(/,
    ],
    [{ refuses: 502 }, '', 'unreachable', /^The proxy \S+ cannot reach academy\.example: it returned 502 \(/],
  ] as const)('a proxy that %o and gets %j says so', async (options, credentials, code, message) => {
    const proxy = await proxyTo(options)
    const send = sending({ HTTPS_PROXY: `http://${credentials}${proxy.host}` })
    const error = await send().catch((fault: unknown) => fault)
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(message),
      proxy: { host: proxy.host },
    })
    expect(inspect(error)).not.toMatch(/wrong|Basic|authorization/)
  })

  test('a proxy that says nothing is given up after a time', { tags: ['slow'] }, async () => {
    const { host } = await proxyTo({ isMute: true })
    await expect(sending({ HTTPS_PROXY: `http://${host}` }, 100)()).rejects.toMatchObject({
      code: 'connect_timeout',
      message: expect.stringMatching(
        /^Connection to academy\.example through the proxy \S+ timed out after 0.1 s/,
      ),
      proxy: { host },
    })
  })

  test('a proxy that is not there is named, not the platform', async () => {
    const host = '127.0.0.1:9'
    await expect(sending({ HTTPS_PROXY: host })()).rejects.toMatchObject({
      code: 'refused',
      message: `Connection refused by the proxy ${host} (GET /v1/courses)`,
    })
  })

  test('a variable that names no proxy is refused before anything is sent', async () => {
    await expect(sending({ HTTPS_PROXY: 'http://ada:pa/ss@x' })()).rejects.toMatchObject({
      name: 'RequestError',
      code: 'invalid_proxy',
      message: 'HTTPS_PROXY must be the URL of a proxy, such as http://proxy.example:3128',
    })
  })
})

test('the library takes the proxy of its process, unless it is given other variables', async () => {
  const proxy = await proxyTo()
  vi.stubEnv('https_proxy', proxy.host)
  const client = createClient({ baseUrl: 'https://academy.example', apiKey: 'lpk_secret', attempts: 1 })
  closing.push(client)
  expect(await client.courses.list()).toMatchObject({ data: [] })
  expect(proxy.requests).toEqual(['CONNECT academy.example:443'])
  const without = createClient({
    baseUrl: 'https://academy.example',
    apiKey: 'lpk_secret',
    attempts: 1,
    env: {},
  })
  closing.push(without)
  await expect(without.courses.list()).rejects.toMatchObject({ code: 'unresolved' })
})
