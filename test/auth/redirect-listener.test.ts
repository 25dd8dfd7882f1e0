import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { failurePage, openLoopback, successPage } from '../../src/auth/redirect-listener.ts'
import { hasIpv6, visit } from './school.ts'

// An address that no machine has (RFC 5737).
const nowhere = '192.0.2.1'
const page = successPage('school.example', null)

describe('the listener on the loopback', () => {
  test('is on 127.0.0.1 and nowhere else', async () => {
    const loopback = await openLoopback('s', null)
    const { hostname, port } = new URL(loopback.redirectUri)
    expect(hostname).toBe('127.0.0.1')
    await expect(visit(`http://127.0.0.2:${port}/callback?state=s`)).rejects.toThrow()
    await loopback.close(page)
  })

  test.runIf(hasIpv6)('is on [::1] where there is no 127.0.0.1', async () => {
    const loopback = await openLoopback('s', null, [nowhere, '::1'])
    expect(loopback.redirectUri).toMatch(/^http:\/\/\[::1\]:\d+\/callback$/)
    const visited = visit(`${loopback.redirectUri}?state=s&code=c`)
    expect((await loopback.redirected).get('code')).toBe('c')
    await loopback.close(page)
    expect((await visited).status).toBe(200)
  })

  test('refuses its redirect to a request with another state of any length', async () => {
    const loopback = await openLoopback('s', null)
    for (const state of ['', 'S', 's ', 's'.repeat(5000)]) {
      const query = new URLSearchParams({ state, code: 'c' })
      expect((await visit(`${loopback.redirectUri}?${query}`)).status).toBe(400)
    }
    await visit(`${loopback.redirectUri}?code=c`)
    const first = await Promise.race([loopback.redirected, Promise.resolve('nobody')])
    expect(first).toBe('nobody')
    await loopback.close(page)
  })

  test('closes at once when no request waits for a response, even with open connections', async () => {
    const loopback = await openLoopback('s', null)
    const { port } = new URL(loopback.redirectUri)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    // A request that never ends.
    socket.write('GET /callback HTTP/1.1\r\nHost: x\r\n')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => {})
    await loopback.close(page)
    await closed
    await expect(visit(loopback.redirectUri)).rejects.toThrow()
  })

  test('answers what comes in with plain text that may do nothing', async () => {
    const loopback = await openLoopback('s', null)
    const { status, headers, html } = await visit(`${loopback.redirectUri}?<script>`)
    expect({ status, html }).toEqual({
      status: 400,
      html: 'This request does not belong to the sign-in that learnctl is waiting for.\n',
    })
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await visit(loopback.redirectUri, { method: 'PUT' })).headers.get('allow')).toBe('GET')
    await loopback.close(page)
  })
})

test('the page of a failure shows the reason as text', () => {
  const { status, body } = failurePage('the <script>"platform"</script> said & did no')
  expect(status).toBe(400)
  expect(body).toContain('the &lt;script&gt;&quot;platform&quot;&lt;/script&gt; said &amp; did no.')
})
