import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import { ConnectionError } from '../../../src/client/errors.ts'
import {
  approve,
  expectFailed,
  type Given,
  metadata,
  type Page,
  type Person,
  page,
  redirect,
  school,
  test,
  tokens,
  told,
  visit,
  wellKnown,
} from '../../auth/school.ts'
import { listen } from '../../helpers/listen.ts'

/** Redirects the user's browser with these parameters, and keeps the page that it shows then. */
function sentBack(parameters: Readonly<Record<string, string>>): {
  person: Person
  page: () => Page | undefined
} {
  let shown: Page | undefined
  return {
    page: () => shown,
    person: async (address) => {
      shown = await visit(redirect(address, parameters))
    },
  }
}

describe('a sign-in with a browser that', () => {
  const answers: readonly [what: string, parameters: Record<string, string>, error: RegExp][] = [
    [
      'is denied, with a reason',
      { error: 'access_denied', error_description: 'Not <today>.' },
      /denied\n {2}school\.example says: Not <today>\.\n$/,
    ],
    [
      'asks for too much',
      { error: 'invalid_scope', error_description: 'No such right.' },
      /refused the sign-in: invalid_scope: No such right\.\n {2}hint: .*--scopes read\n$/,
    ],
    ['meets a fault of another kind', { error: '\u001b[31mboom' }, /refused the sign-in: \\x1b\[31mboom\n$/],
    ['brings no code', {}, /school\.example returned no authorization code\n$/],
    [
      'comes from another server',
      { code: 'c', iss: 'https://evil.example' },
      /is not from https:\/\/school\.example\n {2}It is from https:\/\/evil\.example\n {2}hint: /,
    ],
    [
      'is denied by another server',
      { error: 'access_denied', iss: 'https://evil.example' },
      /is not from https:\/\/school\.example\n {2}It is from https:\/\/evil\.example\n/,
    ],
    ['does not say who it comes from', { code: 'c', iss: '' }, /is not from https:\/\/school\.example\n/],
  ]

  test.for(answers)(
    '%s ends with exit 4 and a page that says so',
    async ([, parameters, error], { desk }) => {
      const { person, page } = sentBack(parameters)
      const ran = await desk.login('', person)
      expectFailed(desk, ran, 4, error)
      expect(desk.school.forms('/token')).toEqual([])
      expect(page()).toMatchObject({ status: 400 })
      expect(page()?.html).toContain('<h1>Sign-in failed</h1>')
      expect(page()?.html).not.toContain('<today>')
    },
  )

  test('says nothing of its issuer where that is promised is refused', async ({ desk }) => {
    const ran = await desk.login('', async (address) => {
      const target = redirect(address, { code: 'c' })
      target.searchParams.delete('iss')
      expect((await visit(target)).status).toBe(400)
    })
    expectFailed(desk, ran, 4, /is not from https:\/\/school\.example\n {2}It does not name its issuer\n/)
  })

  test('cannot be served now exits 7', async ({ desk }) => {
    const ran = await desk.login('', sentBack({ error: 'temporarily_unavailable' }).person)
    expectFailed(desk, ran, 7, 'Sign-in to school.example is temporarily unavailable')
  })

  test('the user does not finish in time exits 4', async ({ desk }) => {
    desk.letTimePass()
    const ran = await desk.login('', async () => {})
    expectFailed(
      desk,
      ran,
      4,
      /Sign-in timed out after 5 minutes\n {2}hint: Try again: learnctl auth login\n$/,
    )
    expect(desk.waits).toEqual([300_000])
    await expect(visit(ran.shown?.searchParams.get('redirect_uri') ?? '')).rejects.toThrow()
  })

  test('the user does not finish, at an unknown platform, says what helps', async ({ desk }) => {
    desk.school.scripts.delete(wellKnown)
    desk.letTimePass()
    const ran = await desk.login('', async () => {})
    expectFailed(desk, ran, 4, /after 5 minutes\n {2}hint: .*--client-id <id> --redirect-uri <uri>\n$/)
  })

  const moments: readonly [when: string, path: string][] = [
    ['while the metadata is looked up', wellKnown],
    ['while the code is exchanged', '/token'],
    ['while the account is looked up', '/v1/user/profile'],
  ]

  test.for(moments)('is interrupted %s leaves nothing behind', async ([, path], { desk }) => {
    const { signal, interrupt } = interruption()
    desk.school.scripts.set(path, async () => {
      interrupt()
      return { body: tokens }
    })
    const ran = await desk.login('', sentBack({ code: 'c' }).person, { signal })
    expect(ran).toMatchObject({ code: 130, stdout: '' })
    expect(existsSync(join(desk.cli.config, 'profiles.json'))).toBe(false)
    if (ran.shown) await expect(visit(ran.shown.searchParams.get('redirect_uri') ?? '')).rejects.toThrow()
  })

  test('is interrupted while it waits for the user leaves nothing behind', async ({ desk }) => {
    const { signal, interrupt } = interruption()
    const ran = await desk.login('', async () => interrupt(), { signal })
    expect(ran).toMatchObject({ code: 130, stdout: '' })
    expect(ran.stderr).toMatch(/\nerror: Interrupted\n$/)
    expect(existsSync(join(desk.cli.config, 'profiles.json'))).toBe(false)
    await expect(visit(ran.shown?.searchParams.get('redirect_uri') ?? '')).rejects.toThrow()
  })
})

function interruption() {
  const controller = new AbortController()
  return { signal: controller.signal, interrupt: () => controller.abort(new InterruptedError('SIGINT')) }
}

describe('a token endpoint that', () => {
  const refused = new ConnectionError(
    { method: 'POST', url: `${school}/token` },
    'refused',
    'school.example refused the connection',
  )
  const answers: readonly [what: string, answer: Given | Error, exit: number, error: string | RegExp][] = [
    [
      'answers with a page',
      page,
      4,
      /school\.example returned a web page instead of JSON \(\/token\)\n {2}hint: .*--token-url <url>\n$/,
    ],
    [
      'asks for a credential of its own',
      { status: 401, body: { code: 'unauthorized' } },
      4,
      /returned 401 \(\/token\)\n {2}hint: If the token endpoint is elsewhere, specify it with --token-url <url>\n$/,
    ],
    ['answers with text', { body: 'access_token=1' }, 4, 'returned invalid JSON (/token)'],
    [
      'is not there',
      { status: 404, body: { detail: 'There is no such page.' } },
      4,
      /returned 404 \(\/token\)\n {2}It says: There is no such page\.\n {2}hint: .*--token-url <url>\n$/,
    ],
    [
      'redirects',
      { status: 302, headers: { location: 'https://evil.example/' } },
      4,
      'returned 302, a redirect to https://evil.example/, which is not followed (/token)',
    ],
    [
      'says that the code has expired',
      { status: 400, body: { error: 'invalid_grant', error_description: 'The code has expired.' } },
      4,
      /refused the sign-in: invalid_grant: The code has expired\.\n {2}hint: Try again: learnctl auth login\n$/,
    ],
    [
      'does not know the application',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: { error: 'invalid_client' } },
      4,
      /refused the sign-in: invalid_client\n {2}hint: .*--client-id/,
    ],
    ['refuses with 200', { body: { error: 'bad_verification_code' } }, 4, 'bad_verification_code'],
    ['gives no access token', { body: { token_type: 'bearer' } }, 4, 'unusable tokens: "access_token"'],
    ['sends 2 MiB', { body: ' '.repeat(2 * 1024 * 1024) }, 4, 'is larger than 1 MiB'],
    [
      'is busy',
      { status: 503, headers: { 'retry-after': '20' } },
      7,
      /is unavailable \(\/token returned 503\)\n {2}hint: Try again in 20 s\n$/,
    ],
    ['cannot be reached', refused, 7, 'school.example refused the connection'],
  ]

  test.for(answers)('%s ends the sign-in', async ([, answer, exit, error], { desk }) => {
    desk.school.scripts.set('/token', answer)
    const { person, page } = sentBack({ code: 'c' })
    const ran = await desk.login('', person)
    expectFailed(desk, ran, exit, error)
    expect(desk.school.forms('/token')).toHaveLength(1)
    expect(page()?.html).toContain('Sign-in failed')
  })

  test('does not answer ends the sign-in', async ({ desk }) => {
    desk.school.scripts.set('/token', () => new Promise(() => {}))
    const ran = await desk.login('--timeout 5ms', sentBack({ code: 'c' }).person)
    expectFailed(desk, ran, 7, /school\.example did not respond within 0\.005 s \(POST \/token\)\n {2}hint: /)
  })

  test('does not say how long its tokens last is taken at its word', async ({ desk }) => {
    for (const silence of [{}, { expires_in: null }]) {
      const { expires_in: _, ...others } = tokens
      desk.school.scripts.set('/token', { body: { ...others, ...silence } })
      const { code, stderr } = await desk.login()
      expect(code).toBe(0)
      expect(stderr).toMatch(/\nnote: The platform does not say when the access token expires\n$/)
      expect(desk.stored()).toMatchObject({ expiresAt: null, lifetimeSeconds: null })
    }
  })

  test('gives no refresh token, or less than was asked for, is said to', async ({ desk }) => {
    const { refresh_token: _, ...others } = tokens
    desk.school.scripts.set('/token', { body: others })
    expect((await desk.login()).stderr).toMatch(
      /\nnote: The access token cannot be refreshed; it expires at 2026-03-01T13:00:00\.000Z\n$/,
    )
    expect(desk.stored()).toMatchObject({ refreshToken: null })
    desk.school.scripts.set('/token', { body: { ...tokens, scope: 'read' } })
    expect((await desk.login()).stderr).toMatch(/\nnote: Granted scopes: read; not granted: write\n$/)
    expect(desk.stored()).toMatchObject({ scopes: ['read'] })
  })

  test.for<[what: string, given: object]>([
    ['scopes as a list', { scope: ['read', 'write'] }],
    ['scopes between commas', { scope: 'read,write' }],
    ['scopes between commas and spaces', { scope: 'read, write' }],
    ['no kind of tokens', { token_type: undefined }],
    ['an ID token as well', { id_token: 'not.a.token' }],
  ])('sends %s is understood', async ([, given], { desk }) => {
    desk.school.scripts.set('/token', { body: { ...tokens, ...given } })
    const { code, stderr } = await desk.login()
    expect(code).toBe(0)
    expect(stderr).not.toContain('granted')
    expect(desk.stored()).toMatchObject({ scopes: ['read', 'write'] })
  })
})

describe('the account', () => {
  test('of which the platform says nothing is left out', async ({ desk }) => {
    desk.school.scripts.delete('/v1/user/profile')
    const { code, stderr } = await desk.login()
    expect(code).toBe(0)
    expect(stderr).toContain(`Signed in to ${school}; profile school-example is now active\n`)
  })

  test('that cannot be looked up now does not keep anybody from signing in', async ({ desk }) => {
    desk.school.scripts.set('/v1/user/profile', { status: 403, body: { message: 'Not with these rights' } })
    const { code, stderr } = await desk.login('--scopes write')
    expect(code).toBe(0)
    expect(stderr).toContain('note: Cannot determine the account: Not with these rights\n')
    expect(desk.stored()).toMatchObject({ accessToken: 'at-1' })
  })

  test('that the platform refuses to the token that it gave is a sign-in that failed', async ({ desk }) => {
    desk.school.scripts.set('/v1/user/profile', { status: 401, body: { message: 'Invalid token' } })
    const { person, page } = sentBack({ code: 'c' })
    const ran = await desk.login('', person)
    expectFailed(desk, ran, 4, /rejected the access token that it just issued\n {2}It says: Invalid token\n$/)
    expect(page()?.status).toBe(400)
  })
})

describe('metadata', () => {
  const absent: readonly [what: string, answer: Given][] = [
    ['that is not there', { status: 404 }],
    ['that is a page', page],
    ['that leads to a page', { status: 302, headers: { location: '/welcome' } }],
    ['that is no JSON', { body: '{' }],
    ['that is JSON of something else', { body: { message: 'Welcome' } }],
  ]

  test.for(absent)('%s is done without, which one line says', async ([, answer], { desk }) => {
    desk.school.scripts.set(wellKnown, answer)
    desk.school.scripts.set('/oauth/token', { body: tokens })
    const ran = await desk.login()
    expect(told(ran)).toMatchObject({
      code: 0,
      stderr:
        `note: ${school} publishes no OAuth metadata; trying ${school}/oauth/authorize and ${school}/oauth/token\n` +
        `Signed in to ${school} as ada@school.example; profile school-example is now active\n`,
    })
    expect(ran.shown?.pathname).toBe('/oauth/authorize')
    expect(desk.stored()).toMatchObject({
      issuer: school,
      tokenEndpoint: `${school}/oauth/token`,
      revocationEndpoint: `${school}/oauth/revoke`,
    })
  })

  const refused: readonly [what: string, body: object, error: string | RegExp][] = [
    [
      'of another issuer',
      { ...metadata, issuer: 'https://evil.example' },
      /names another issuer\n {2}It names https:\/\/evil\.example\n {2}hint: .*auth login --url https:\/\/evil\.example\n$/,
    ],
    [
      'of an issuer that a shell would obey',
      { ...metadata, issuer: 'https://evil.example/$(id);id' },
      /another issuer\n {2}It names https:\/\/evil\.example\/\$\(id\);id\n$/,
    ],
    [
      'without a token endpoint',
      { ...metadata, token_endpoint: undefined },
      /No token_endpoint in the metadata of .*\n {2}hint: /,
    ],
    ['whose endpoint is no address', { ...metadata, token_endpoint: '/token' }, 'Invalid token_endpoint'],
    [
      'whose endpoint is in the clear',
      { ...metadata, token_endpoint: 'http://school.example/token' },
      /Refusing to send credentials to http:\/\/school\.example\/token over unencrypted http\n {2}hint: .*--insecure-http to allow it\n$/,
    ],
    [
      'without a page to sign in on',
      { ...metadata, authorization_endpoint: undefined },
      /does not support signing in with a browser\n {2}hint: .*--device/,
    ],
  ]

  test.for(refused)('%s is refused before anything is sent', async ([, body, error], { desk }) => {
    desk.school.scripts.set(wellKnown, { body })
    const ran = await desk.login()
    expectFailed(desk, ran, 4, error)
    expect(ran.shown).toBeUndefined()
    expect(desk.school.requests).toHaveLength(1)
  })

  test.for<[what: string, answer: Given, exit: number]>([
    ['fails', { status: 500 }, 4],
    ['is busy', { status: 503 }, 7],
  ])('of a server that %s is not guessed', async ([, answer, exit], { desk }) => {
    desk.school.scripts.set(wellKnown, answer)
    expectFailed(desk, await desk.login(), exit, wellKnown)
  })

  test('may name its issuer with a slash at the end', async ({ desk }) => {
    desk.school.scripts.set(wellKnown, { body: { ...metadata, issuer: `${school}/` } })
    const { code } = await desk.login('', sentBack({ code: 'c', iss: `${school}/` }).person)
    expect(code).toBe(0)
    expect(desk.stored()).toMatchObject({ issuer: `${school}/` })
  })

  test('of a platform below a path is looked up with the path behind', async ({ desk }) => {
    const issuer = `${school}/lms`
    desk.school.scripts.set(`${wellKnown}/lms`, { body: { ...metadata, issuer } })
    const ran = await desk.cli.run(`auth login --url ${issuer}/v1/ --no-browser`, {
      onStderr: (printed) => {
        const address = /^https:\S+$/m.exec(printed)?.[0]
        if (address) void visit(redirect(new URL(address), { code: 'c', iss: issuer })).catch(() => {})
      },
    })
    expect(ran.code).toBe(0)
    expect(desk.school.requests[0]?.url).toBe(`${school}${wellKnown}/lms`)
    expect(desk.stored('school-example')).toMatchObject({ issuer })
  })
})

describe('a redirect URI', () => {
  const taken = test.extend('taken', async ({ task: _ }, { onCleanup }): Promise<number> => {
    const { port, close } = await listen(createServer())
    onCleanup(close)
    return port
  })

  taken('whose port is taken is one clear line', async ({ desk, taken }) => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const words = `--client-id app --redirect-uri http://${host}:${taken}/callback`
      const ran = await desk.login(words)
      expectFailed(desk, ran, 4, `Cannot listen on ${host}:${taken}: the port is already in use`)
      expect(ran.shown).toBeUndefined()
    }
  })
})

test('no secret is told, not even under --debug', async ({ desk }) => {
  const { stdout, stderr } = await desk.login('--debug')
  expect(stderr).toMatch(/^debug: POST https:\/\/school\.example\/token → 200 \(0 ms\)$/m)
  const [form] = desk.school.forms('/token')
  for (const secret of ['at-1', 'rt-1', 'code-1', form?.get('code_verifier') ?? '']) {
    expect(stdout + stderr).not.toContain(secret)
  }
})

test('the session before is kept where a new sign-in fails', async ({ desk }) => {
  await desk.login()
  await desk.login('', sentBack({ error: 'access_denied' }).person)
  expect(desk.stored()).toMatchObject({ accessToken: 'at-1' })
  desk.school.scripts.set('/token', { body: { ...tokens, access_token: 'at-2' } })
  await desk.login('', approve)
  expect(desk.stored()).toMatchObject({ accessToken: 'at-2' })
})
