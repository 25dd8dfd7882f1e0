import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { newCredential } from '../../../src/server/access/secret.ts'
import {
  approve,
  hasIpv6,
  metadata,
  type Person,
  redirect,
  school,
  test,
  tokens,
  visit,
  wellKnown,
} from '../../auth/school.ts'
import type { RunOptions } from '../../helpers/cli.ts'
import { freePort } from '../../helpers/free-port.ts'
import { expectClearError } from '../../helpers/result.ts'

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

describe('auth login refuses', () => {
  const wrong: readonly (readonly [words: string, error: string | RegExp, options?: RunOptions])[] = [
    ['--with-key --device', '--with-key and --device cannot be used together'],
    ['--with-key --scopes read', '--with-key and --scopes cannot be used together'],
    ['--with-key --client-id app', '--with-key and --client-id cannot be used together'],
    ['--device --redirect-uri http://127.0.0.1/cb', '--device and --redirect-uri cannot be used together'],
    ['--scopes ""', /--scopes is empty\n {2}hint: --scopes "read write"\n$/],
    ['--scopes ré', 'Invalid scope "ré"'],
    ['--client-id ""', 'Invalid --client-id'],
    ['--token-url /oauth/token', '--token-url must be a URL'],
    ['--token-url http://school.example/token', /over unencrypted http\n {2}hint: .*--insecure-http.*\n$/],
    ['--client-secret-stdin', '--client-secret-stdin requires --client-id', { stdin: 's' }],
    ['', 'LEARNCTL_CLIENT_SECRET requires --client-id', { env: { LEARNCTL_CLIENT_SECRET: 's' } }],
    ['--client-id app --client-secret-stdin', 'No client secret on standard input', { stdin: '\n' }],
    ['--client-id app --client-secret-stdin', 'Invalid client secret', { stdin: 'two\nlines' }],
    ['--client-secret s', /Unknown flag '--client-secret'\n {2}hint: Did you mean --client-secret-stdin/],
    ...[
      'https://127.0.0.1/callback',
      'http://127.0.0.2/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://localhost.evil.example/callback',
      'http://user@localhost/callback',
      'http://localhost/callback?next=1',
      'http://localhost/callback#here',
      'http://0.0.0.0/callback',
      'http://[::]/callback',
      'learnctl://callback',
      'callback',
    ].map((uri) => [`--redirect-uri ${uri}`, /Invalid --redirect-uri .*\n {2}.*\n {2}hint: /] as const),
  ]

  test.for(wrong)('%s', async ([words, error, options = {}], { desk }) => {
    const ran = await desk.login(words, approve, options)
    expectClearError(ran, 2, error)
    expect(desk.school.requests).toEqual([])
  })

  test.for<[what: string, words: string, options: RunOptions, why: string]>([
    ['--no-input', '--no-input', { tty: 80 }, 'Prompts are disabled (--no-input)'],
    ['in CI', '', { tty: 80, env: { CI: 'true' } }, 'Prompts are disabled (CI)'],
    [
      'without terminal and browser',
      '',
      { env: { DISPLAY: '' } },
      'Standard input is not a terminal, and no browser is available',
    ],
  ])('to wait for the user %s', async ([, words, options, why], { desk }) => {
    const ran = await desk.login(`${words} --color never`, approve, options)
    expectClearError(
      ran,
      2,
      `${why}\n  hint: Set LEARNCTL_API_KEY, or use: learnctl auth login --with-key, or --device\n`,
    )
    expect(desk.school.requests).toEqual([])
  })

  test('to sign anybody in whose session could not be stored', async ({ desk }) => {
    writeFileSync(join(desk.cli.home, 'file'), '')
    const env = { LEARNCTL_CONFIG_DIR: join(desk.cli.home, 'file') }
    expectClearError(
      await desk.login('', approve, { env }),
      1,
      /Cannot write .*\/file.*\n {2}hint: Set LEARNCTL_CONFIG_DIR/,
    )
    expect(desk.school.requests).toEqual([])
  })

  test('to guess where', async ({ desk }) => {
    expectClearError(
      await desk.cli.run('auth login'),
      2,
      /The platform URL is required\n.*\n {2}hint: learnctl auth login --url/,
    )
  })
})

describe('auth login', () => {
  test.for([['"read admin"'], ['read,admin'], ['read --scopes admin'], ['"read, admin  read"']])(
    'asks for the rights in --scopes %s',
    async ([words], { desk }) => {
      desk.school.scripts.set('/token', { body: { ...tokens, scope: 'read admin' } })
      const { code, stderr, shown } = await desk.login(`--scopes ${words}`)
      expect(code).toBe(0)
      expect(shown?.searchParams.get('scope')).toBe('read admin')
      expect(stderr).not.toContain('granted')
    },
  )

  test('keeps the rights that were asked for where the answer does not say', async ({ desk }) => {
    const { scope: _, ...others } = tokens
    desk.school.scripts.set('/token', { body: others })
    await desk.login('--scopes read')
    expect(desk.stored()).toMatchObject({ scopes: ['read'] })
  })

  test('signs in as an application with its secret from standard input', async ({ desk }) => {
    const { code } = await desk.login('--client-id app_1 --client-secret-stdin', approve, {
      stdin: 'se:cret +1_\n',
      env: { LEARNCTL_CLIENT_SECRET: 'another' },
    })
    expect(code).toBe(0)
    const [asked] = desk.school.requests.filter(({ url }) => url.endsWith('/token'))
    // RFC 6749 §2.3.1: each part is form-encoded.
    expect(asked?.headers).toMatchObject({ authorization: basic('app_1:se%3Acret+%2B1_') })
    expect(desk.school.forms('/token')[0]?.has('client_id')).toBe(false)
    expect(desk.stored()).toMatchObject({
      clientId: 'app_1',
      clientSecret: 'se:cret +1_',
      secretPlace: 'header',
    })
  })

  test.for([
    ['a wrong', { stdin: 'wrong' }, 'Check its id and secret'],
    ['no', { stdin: '' }, 'If the application has a secret'],
  ] as const)(
    'says how to give the secret of an application, after %s one',
    async ([_, options, hint], { desk }) => {
      desk.school.scripts.set('/token', { status: 401, body: { error: 'invalid_client' } })
      const secret = options.stdin === '' ? '' : '--client-secret-stdin'
      const ended: Person = async (address) => {
        await visit(redirect(address, { code: 'code-1' }))
      }
      const ran = await desk.login(`--client-id app_1 ${secret}`, ended, options)
      expect(ran).toMatchObject({ code: 4, stdout: '' })
      const ways = '--client-secret-stdin < secret.txt, or LEARNCTL_CLIENT_SECRET'
      expect(ran.stderr).toContain(`\n  hint: ${hint}: ${ways}\n`)
    },
  )

  test('takes the secret from a variable, and sends it in the form if asked', async ({ desk }) => {
    const methods = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    desk.school.scripts.set(wellKnown, { body: { ...metadata, ...methods } })
    const env = { LEARNCTL_CLIENT_SECRET: 'from-env' }
    expect((await desk.login('--client-id app_1', approve, { env })).code).toBe(0)
    const [asked] = desk.school.requests.filter(({ url }) => url.endsWith('/token'))
    expect(asked?.headers).not.toHaveProperty('authorization')
    expect(Object.fromEntries(desk.school.forms('/token')[0] ?? [])).toMatchObject({
      client_id: 'app_1',
      client_secret: 'from-env',
    })
    expect(desk.stored()).toMatchObject({ secretPlace: 'form' })
  })

  test('asks for the secret on a terminal, and does not show it', async ({ desk }) => {
    const options = { tty: 80, typed: ['typed-secret\r'] }
    const { code, stderr } = await desk.login('--client-id app_1 --client-secret-stdin', approve, options)
    expect(code).toBe(0)
    expect(stderr).toContain('Client secret:')
    expect(stderr).not.toContain('typed-secret')
    expect(desk.stored()).toMatchObject({ clientSecret: 'typed-secret' })
  })

  test.for([['127.0.0.1'], ...(hasIpv6 ? [['[::1]']] : []), ['localhost']])(
    'listens at a redirect URI of %s, exactly as it is registered',
    async ([host], { desk }) => {
      const port = await freePort()
      const uri = `http://${host}:${port}/oauth/back`
      const { code, shown } = await desk.login(`--client-id app --redirect-uri ${uri}`, async (address) => {
        const target = redirect(address, { code: 'c' })
        expect((await visit(new URL('/callback', target))).status).toBe(404)
        if (host === 'localhost') {
          expect((await visit(`http://127.0.0.1:${port}/oauth/back${target.search}`)).status).toBe(400)
        }
        expect((await visit(target)).status).toBe(200)
      })
      expect(code).toBe(0)
      expect(shown?.searchParams.get('redirect_uri')).toBe(uri)
      expect(desk.school.forms('/token')[0]?.get('redirect_uri')).toBe(uri)
    },
  )

  test('exchanges the code where --token-url says, whatever the metadata says', async ({ desk }) => {
    desk.school.scripts.set('/elsewhere', { body: tokens })
    expect((await desk.login(`--token-url ${school}/elsewhere`)).code).toBe(0)
    expect(desk.school.forms('/token')).toEqual([])
    expect(desk.stored()).toMatchObject({ tokenEndpoint: `${school}/elsewhere` })
  })

  test('keeps the session under the named profile, which becomes active', async ({ desk }) => {
    await desk.login('--profile first')
    await desk.login('--profile second')
    expect((await desk.cli.run('profiles list --columns name,active')).stdout).toBe(
      'first\tfalse\nsecond\ttrue\n',
    )
  })

  test('says which variable is used instead of what was signed in to', async ({ desk }) => {
    const { stderr } = await desk.login('', approve, { env: { LEARNCTL_API_KEY: 'key' } })
    expect(stderr).toMatch(/\nnote: LEARNCTL_API_KEY is set and takes precedence\n$/)
    const [lookedUp] = desk.school.requests.filter(({ url }) => url.endsWith('/profile'))
    expect(lookedUp?.headers).toMatchObject({ authorization: 'Bearer at-1' })
  })
})

describe('the session that was there before', () => {
  const refreshToken = newCredential('refreshToken')

  test('is revoked at an academy, once the new one is kept', async ({ desk }) => {
    desk.school.scripts.set('/token', { body: { ...tokens, refresh_token: refreshToken } })
    desk.school.scripts.set('/revoke', { status: 200 })
    await desk.login()
    expect(desk.school.forms('/revoke')).toEqual([])
    await desk.login()
    expect(desk.school.forms('/revoke').map((form) => form.get('token'))).toEqual([refreshToken])
  })

  test('does not keep anybody from signing in where it cannot be revoked', async ({ desk }) => {
    desk.school.scripts.set('/token', { body: { ...tokens, refresh_token: refreshToken } })
    desk.school.scripts.set('/revoke', { status: 503 })
    await desk.login()
    const { code, stderr } = await desk.login()
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /\nnote: The previous session could not be revoked: school\.example is unavailable/,
    )
  })

  test('is revoked elsewhere once a platform or key replaces it', { tags: ['slow'] }, async ({ desk }) => {
    const below = `${school}/lms`
    desk.school.scripts.set('/revoke', { status: 200 })
    desk.school.scripts.set(`${wellKnown}/lms`, { body: { ...metadata, issuer: below } })
    desk.school.scripts.set('/lms/v1/user/profile', { body: { id: 'usr_2' } })
    const revoked = () => desk.school.forms('/revoke').map((form) => form.get('token'))
    await desk.login('--profile one')
    const { code } = await desk.loginAgain(`--profile one --url ${below}`, async (address) => {
      await visit(redirect(address, { code: 'code-2', iss: below }))
    })
    expect(code).toBe(0)
    expect(revoked()).toEqual(['rt-1'])
    expect((await desk.login('--profile one --with-key', approve, { stdin: 'key' })).code).toBe(0)
    expect(revoked()).toEqual(['rt-1', 'rt-1'])
  })

  test('is left alone elsewhere: it may be the same one', { tags: ['slow'] }, async ({ desk }) => {
    await desk.login()
    await desk.login()
    expect(desk.school.forms('/revoke')).toEqual([])
  })
})

describe('auth login --dry-run', () => {
  test('shows the authorization request and sends nothing', async ({ desk }) => {
    const { code, stdout, stderr, shown } = await desk.login('--dry-run --scopes read', approve, {
      env: { CI: '1' },
    })
    expect({ code, shown }).toEqual({ code: 0, shown: undefined })
    expect(stdout).toBe(
      `GET ${school}/oauth/authorize?response_type=code&client_id=learnctl` +
        '&redirect_uri=http%3A%2F%2F127.0.0.1%3A0%2Fcallback&scope=read&state=***' +
        '&code_challenge=***&code_challenge_method=S256\n\n',
    )
    expect(stderr).toBe(
      `note: The endpoint and default scopes may differ, because ${school}${wellKnown} is read first\n`,
    )
    expect(desk.school.requests).toEqual([])
  })

  test('shows the request for a code with --device, as JSON where that is asked for', async ({ desk }) => {
    const { stdout } = await desk.login('--dry-run --device -o json')
    expect(JSON.parse(stdout)).toEqual({
      method: 'POST',
      url: `${school}/oauth/device_authorization`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'client_id=learnctl&scope=read+write',
    })
    expect(desk.school.requests).toEqual([])
  })
})
