import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import {
  approve,
  metadata,
  type Person,
  redirect,
  school,
  test,
  tokens,
  visit,
  wellKnown,
} from '../../auth/school.ts'

/** Does not open the URL: another browser does. */
const browserless = test.extend('options', {
  openBrowser: async (address: string) => {
    void approve(new URL(address))
    throw new Error('spawn xdg-open ENOENT')
  },
})

/** Sends a request to the listener that no browser would send. */
function raw(
  address: URL,
  { path, headers }: { path?: string; headers?: Record<string, string> },
): Promise<{ status: number | undefined }> {
  const { hostname, port, pathname, search } = redirect(address, { code: 'c' })
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port, path: path ?? pathname + search, headers: { ...headers } }
    request(options, (response) => {
      response.resume()
      resolve({ status: response.statusCode })
    })
      .once('error', reject)
      .end()
  })
}

describe('auth login with a browser', () => {
  test('keeps what it takes to stay signed in', async ({ desk }) => {
    const { code, stdout, stderr, shown } = await desk.login()
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toBe(
      `Opening a browser to sign in to ${school}\nIf it does not open, visit this URL:\n\n${shown}\n\nWaiting for sign-in (up to 5 minutes)\n` +
        `Signed in to ${school} as ada@school.example; profile school-example is now active\n`,
    )
    expect(desk.stored()).toEqual({
      kind: 'oauth',
      origin: school,
      storedAt: '2026-03-01T12:00:00.000Z',
      accessToken: 'at-1',
      refreshToken: 'rt-1',
      expiresAt: '2026-03-01T13:00:00.000Z',
      lifetimeSeconds: 3600,
      scopes: ['read', 'write'],
      issuer: school,
      clientId: 'learnctl',
      tokenEndpoint: `${school}/token`,
      revocationEndpoint: `${school}/revoke`,
    })
    expect(statSync(join(desk.cli.config, 'profiles.json')).mode & 0o777).toBe(0o600)
  })

  test('asks for a code with a fresh state, and a challenge to its verifier', async ({ desk }) => {
    const { shown } = await desk.login()
    const { shown: again } = await desk.login()
    const [asked, later] = [shown?.searchParams, again?.searchParams]
    expect(shown?.href).toMatch(/^https:\/\/school\.example\/authorize\?/)
    expect(Object.fromEntries(asked ?? [])).toEqual({
      response_type: 'code',
      client_id: 'learnctl',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope: 'read write',
      // 256 bits in base64url.
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'code_challenge']) expect(asked?.get(name)).not.toBe(later?.get(name))
    const [form] = desk.school.forms('/token')
    expect(Object.fromEntries(form ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'code-1',
      redirect_uri: asked?.get('redirect_uri'),
      code_verifier: expect.stringMatching(/^[\w.~-]{43,128}$/),
      client_id: 'learnctl',
    })
    const hashed = createHash('sha256').update(form?.get('code_verifier') ?? '')
    expect(hashed.digest('base64url')).toBe(asked?.get('code_challenge'))
  })

  test.for([
    ['those of this API, in any order', ['admin', 'read', 'write'], 'read write admin'],
    ['more than those of this API', ['read', 'write', 'admin', 'openid'], 'read write'],
    ['others', ['courses:read'], 'read write'],
  ] as const)('asks by default a platform whose scopes are %s', async ([, supported, asked], { desk }) => {
    desk.school.scripts.set(wellKnown, { body: { ...metadata, scopes_supported: supported } })
    expect((await desk.login()).shown?.searchParams.get('scope')).toBe(asked)
    expect((await desk.login('--scopes read')).shown?.searchParams.get('scope')).toBe('read')
  })

  test('answers the browser once the tokens are stored, with a plain page', async ({ desk }) => {
    desk.school.scripts.set('/v1/user/profile', { body: { id: '7', email: '<b>"ada"</b>@school.example' } })
    await desk.login('', async (address) => {
      const { status, headers, html } = await visit(redirect(address, { code: 'c' }))
      expect(desk.stored()).toMatchObject({ accessToken: 'at-1' })
      expect(status).toBe(200)
      expect(html).toContain('<h1>You are signed in</h1>')
      expect(html).toContain('&lt;b&gt;&quot;ada&quot;&lt;/b&gt;@school.example')
      expect(html).not.toMatch(/<(script|link|img|iframe)|https?:\/\/(?!www\.w3\.org)|url\(/)
      expect(html).not.toContain('at-1')
      const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      expect(headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
      )
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        connection: 'close',
      })
    })
  })

  test('tells a browser that asks twice the same', { tags: ['slow'] }, async ({ desk }) => {
    const { promise: twice, resolve } = Promise.withResolvers<void>()
    desk.school.scripts.set('/token', () => twice.then(() => ({ body: tokens })))
    const { code } = await desk.login('', async (address) => {
      const target = redirect(address, { code: 'c' })
      const pages = [visit(target), visit(target)]
      // A response to this request shows that the earlier ones have arrived.
      await visit(new URL('/', target))
      resolve()
      expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200, 200])
    })
    expect(code).toBe(0)
    expect(desk.school.forms('/token')).toHaveLength(1)
  })

  const strays: readonly [
    what: string,
    send: (address: URL) => Promise<{ status?: number | undefined }>,
    status: number,
  ][] = [
    ['a wrong state', (address) => visit(redirect(address, { code: 'c', state: 'x' })), 400],
    ['no parameters', (address) => visit(address.searchParams.get('redirect_uri') ?? ''), 400],
    [
      'the state twice',
      (address) => visit(`${redirect(address, { code: 'c' })}&state=${address.searchParams.get('state')}`),
      400,
    ],
    ['another path', (address) => visit(new URL('/favicon.ico', redirect(address, {}))), 404],
    ['a path that only leads there', (address) => raw(address, { path: '/x/../callback' }), 404],
    ['another method', (address) => visit(redirect(address, { code: 'c' }), { method: 'POST' }), 405],
    ['another host', (address) => raw(address, { headers: { host: 'evil.example' } }), 400],
    [
      'another name of this host',
      (address) => raw(address, { headers: { host: `localhost:${redirect(address, {}).port}` } }),
      400,
    ],
    ['an absolute target', (address) => raw(address, { path: redirect(address, { code: 'c' }).href }), 404],
  ]

  test.for(strays)('is not ended by a request with %s', async ([, send, status], { desk }) => {
    const { code } = await desk.login('', async (address) => {
      expect((await send(address)).status).toBe(status)
      await approve(address)
    })
    expect(code).toBe(0)
    expect(desk.school.forms('/token').map((form) => form.get('code'))).toEqual(['code-1'])
  })

  test('takes an answer without iss from a server that does not promise one', async ({ desk }) => {
    const { authorization_response_iss_parameter_supported: _, ...others } = metadata
    desk.school.scripts.set(wellKnown, { body: others })
    const person: Person = async (address) => {
      const target = redirect(address, { code: 'c' })
      target.searchParams.delete('iss')
      expect((await visit(target)).status).toBe(200)
    }
    expect((await desk.login('', person)).code).toBe(0)
  })

  test('only prints the address with --no-browser or without one', { tags: ['slow'] }, async ({ desk }) => {
    for (const [words, env] of [
      ['--no-browser', { DISPLAY: ':0' }],
      ['', { DISPLAY: '', LEARNCTL_NO_INPUT: '' }],
    ] as const) {
      let visited = false
      const { code, stderr, shown } = await desk.login(words, approve, {
        env,
        tty: 200,
        onStderr: (printed) => {
          const address = /^https:\/\/school\.example\/authorize\S+$/m.exec(printed)?.[0]
          if (address === undefined || visited) return
          visited = true
          void approve(new URL(address))
        },
      })
      expect({ code, shown }).toEqual({ code: 0, shown: undefined })
      expect(stderr).toContain(`To sign in to ${school}\nopen this URL in a browser:\n\n${school}/authorize?`)
    }
  })

  browserless('goes on where no browser could be opened', async ({ desk }) => {
    const { code, stderr } = await desk.login()
    expect(code).toBe(0)
    expect(stderr).toMatch(/^note: Cannot open a browser: spawn xdg-open ENOENT\nTo sign in to /)
  })
})
