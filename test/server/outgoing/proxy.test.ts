import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readProxies } from '../../../src/codec/proxy.ts'
import { openSender } from '../../../src/server/events/delivery.ts'
import type { Reach } from '../../../src/server/outgoing/address-guard.ts'
import { type Resolve, targetsOf } from '../../../src/server/outgoing/guarded-client.ts'
import { createOutgoing } from '../../../src/server/outgoing/outgoing.ts'
import { makeCertificate } from '../../helpers/certificate.ts'
import { listen } from '../../helpers/listen.ts'
import { type ProxyOptions, startProxy } from '../../helpers/proxy.ts'

const certificate = makeCertificate('2020-01-01', '2120-01-01', 'hook.example')
const trusted = getCACertificates('default')
const seen: string[] = []
let port = 0

const receiver = createServer(certificate, (incoming, outgoing) => {
  seen.push(
    `${incoming.method} ${incoming.headers.host} ${incoming.headers['proxy-authorization'] ?? ''}`.trim(),
  )
  outgoing.end('{}')
})

beforeAll(async () => {
  setDefaultCACertificates([...trusted, certificate.cert])
  port = (await listen(receiver)).port
})
afterAll(() => {
  setDefaultCACertificates(trusted)
  receiver.closeAllConnections()
  receiver.close()
})
beforeEach(() => {
  seen.length = 0
})

/** Resolves a host to this address. */
const resolving =
  (address: string): Resolve =>
  (_, __, done) =>
    done(null, [{ address, family: 4 }])

type Send = (url: string) => Promise<number>

/** Senders of a server's requests: webhooks and integrations. */
const senders: readonly (readonly [string, (reach: Reach, address: string) => Send])[] = [
  [
    'webhooks out',
    (reach, address) => {
      const sender = openSender(targetsOf(reach), readProxies(reach.env ?? {}), resolving(address))
      onTestFinished(() => sender.close())
      const signal = AbortSignal.timeout(60_000)
      return async (url) => (await sender.send({ url, headers: {}, body: '{}', signal })).status
    },
  ],
  [
    'requests to integrations',
    (reach, address) => {
      const send = createOutgoing(reach, resolving(address))
      const limits = { timeoutMs: 60_000, maximumBytes: 1000 }
      return async (url) => (await send({ method: 'POST', url, headers: {}, body: '{}', ...limits })).status
    },
  ],
]

async function proxied(options: Partial<ProxyOptions> = {}, more: Record<string, string> = {}) {
  const proxy = await startProxy({ to: port, ...options })
  onTestFinished(() => proxy.close())
  const { credentials } = options
  const at = credentials === undefined ? '' : `${credentials}@`
  return { proxy, env: { HTTPS_PROXY: `http://${at}${proxy.host}`, ...more } }
}

describe.each(senders)('%s', (_, open) => {
  test('go through the proxy, which connects to the address that was judged', async () => {
    const { proxy, env } = await proxied({ credentials: 'ada:secret' })
    expect(await open({ loopback: false, env }, '93.184.216.34')('https://hook.example/in')).toBe(200)
    expect(proxy.requests).toEqual(['CONNECT 93.184.216.34:443'])
    expect(seen).toEqual(['POST hook.example'])
  })

  test('a host that is allowed by name is looked up by the proxy', async () => {
    const { proxy, env } = await proxied()
    const reach = { loopback: false, allow: ['hook.example'], env }
    expect(await open(reach, '10.0.0.7')('https://hook.example:8443/in')).toBe(200)
    expect(proxy.requests).toEqual(['CONNECT hook.example:8443'])
  })

  test.each([
    ['https://hook.example/in', '10.0.0.7'],
    ['https://169.254.169.254/in', '93.184.216.34'],
  ])('no proxy is asked to lead %s to %s', async (url, address) => {
    const { proxy, env } = await proxied()
    await expect(open({ loopback: false, env }, address)(url)).rejects.toThrow(/ is not a public address$/)
    expect(proxy.requests).toEqual([])
  })

  test('a name of this machine does not lead to that of the proxy', async () => {
    const { proxy, env } = await proxied()
    const send = open({ loopback: true, env }, '127.0.0.1')
    expect(await send(`https://hook.example:${port}/in`)).toBe(200)
    expect(proxy.requests).toEqual([])
    expect(seen).toEqual([`POST hook.example:${port}`])
  })

  test('NO_PROXY goes past it', async () => {
    const { proxy, env } = await proxied({}, { NO_PROXY: 'hook.example' })
    const reach = { loopback: false, allow: ['hook.example'], env }
    expect(await open(reach, '127.0.0.1')(`https://hook.example:${port}/in`)).toBe(200)
    expect(proxy.requests).toEqual([])
  })

  test('the certificate is that of the receiver', async () => {
    const { env } = await proxied()
    const send = open({ loopback: false, env }, '93.184.216.34')
    await expect(send('https://other.example/in')).rejects.toThrow(/ERR_TLS_CERT_ALTNAME_INVALID|altnames/)
  })

  test('a proxy that refuses says so, without its password', async () => {
    const { proxy, env } = await proxied({ credentials: 'ada:secret', refuses: 403 })
    await expect(open({ loopback: false, env }, '93.184.216.34')('https://hook.example/in')).rejects.toThrow(
      new RegExp(`^the proxy ${proxy.host} refused to connect to 93\\.184\\.216\\.34:443: it returned 403$`),
    )
    await proxy.close()
    await expect(open({ loopback: false, env }, '93.184.216.34')('https://hook.example/in')).rejects.toThrow(
      new RegExp(`^cannot connect to the proxy ${proxy.host}: ECONNREFUSED$`),
    )
  })
})
