import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { test as base, describe, expect } from 'vitest'
import { ConnectionError } from '../../../src/client/errors.ts'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import { newCredential } from '../../../src/server/access/secret.ts'
import { openSchool, school } from '../../auth/school.ts'
import { test as academyTest, hour, minute, stoppedClock } from '../../helpers/academy.ts'
import { testCli, transportTo } from '../../helpers/cli.ts'
import { expectClearError } from '../../helpers/result.ts'
import { startSession, storedTokens, storeProfile, tokensIn } from '../../helpers/signed-in.ts'

/** The program, signed in to the test's academy as an admin, with the academy's clock plus an error. */
const test = academyTest.extend('user', async ({ academy, admin, clock }, { onCleanup }) => {
  const asked: string[] = []
  const transport = transportTo(academy)
  const state = { wrongByMs: 0, lostAnswers: 0 }
  const cli = testCli({
    now: () => clock.now().getTime() + state.wrongByMs,
    transport: async (request) => {
      asked.push(`${request.method} ${new URL(request.url).pathname}`)
      const response = await transport(request)
      if (state.lostAnswers > 0) {
        state.lostAnswers -= 1
        throw new ConnectionError(request, 'reset', 'The connection was closed')
      }
      return { ...response, headers: { ...response.headers, date: clock.now().toUTCString() } }
    },
  })
  onCleanup(() => cli.remove())
  const scopes = ['read', 'write', 'admin'] as const
  const tokens = await startSession(academy.database, {
    userId: admin.id,
    url: school,
    now: clock.now,
    scopes,
  })
  storeProfile(cli.config, school, tokens)
  return { ...cli, tokens, asked, state }
})

const refresh = 'POST /oauth/token'
const again = `learnctl auth login --profile school --url ${school}`

describe('an access token', () => {
  test('is asked for again where the answer was lost', async ({ user, clock }) => {
    clock.advance(2 * hour)
    user.state.lostAnswers = 1
    expect(await user.run('courses list')).toMatchObject({ code: 0, stderr: '' })
    expect(user.asked).toEqual([refresh, refresh, 'GET /v1/courses'])
    clock.advance(2 * hour)
    expect(await user.run('courses list')).toMatchObject({ code: 0, stderr: '' })
  })

  test('is asked for no third time', async ({ user, clock }) => {
    clock.advance(2 * hour)
    user.state.lostAnswers = 3
    expectClearError(await user.run('courses list'), 7, 'The connection was closed')
    expect(user.asked).toEqual([refresh, refresh])
  })

  test('is refreshed before its end, and stored', { tags: ['slow'] }, async ({ user, clock }) => {
    for (const _ of [1, 2]) {
      clock.advance(59 * minute + 30_000)
      expect(await user.run('courses list')).toMatchObject({ code: 0, stderr: '' })
    }
    expect(user.asked).toEqual([refresh, 'GET /v1/courses', refresh, 'GET /v1/courses'])
    const stored = tokensIn(user.config)
    expect(stored?.refreshToken).not.toBe(user.tokens.refreshToken)
    expect(stored).toMatchObject({
      scopes: ['read', 'write', 'admin'],
      tokenEndpoint: `${school}/oauth/token`,
    })
    expect(readdirSync(user.config)).toEqual(['profiles.json'])
    expect(statSync(join(user.config, 'profiles.json')).mode & 0o777).toBe(0o600)
  })

  test('in a file others can read is used, and the file closed', { tags: ['slow'] }, async ({ user }) => {
    const file = join(user.config, 'profiles.json')
    chmodSync(file, 0o644)
    expect(await user.run('courses list')).toEqual({
      code: 0,
      stdout: '',
      stderr: `note: ${file} was readable by others (0644). The permissions are fixed now, but other users of this machine may have read it.\n`,
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await user.run('courses list')).toMatchObject({ code: 0, stderr: '' })
  })

  test('that was refused is refreshed, and the request sent again', { tags: ['slow'] }, async ({ user }) => {
    storeProfile(user.config, school, { ...user.tokens, accessToken: newCredential('accessToken') })
    expect(await user.run('courses create --title Sea -q')).toMatchObject({ code: 0, stderr: '' })
    expect(user.asked).toEqual(['POST /v1/courses', refresh, 'POST /v1/courses'])
    expect(await user.run('courses list --columns title')).toMatchObject({ stdout: 'Sea\n' })
    expect(user.asked.filter((line) => line === refresh)).toHaveLength(1)
  })

  test('of a variable is sent as it is, and so is a key', { tags: ['slow'] }, async ({ user }) => {
    for (const env of [
      { LEARNCTL_ACCESS_TOKEN: newCredential('accessToken') },
      { LEARNCTL_API_KEY: newCredential('apiKey') },
    ]) {
      expect(await user.run('courses list', { env })).toMatchObject({ code: 4, stdout: '' })
    }
    expect(user.asked).toEqual(['GET /v1/courses', 'GET /v1/courses'])
    expect(tokensIn(user.config)).toEqual(user.tokens)
  })

  test('goes to no other origin, nor does its refresh', { tags: ['slow'] }, async ({ user, clock }) => {
    clock.advance(2 * hour)
    const { code, stderr } = await user.run('courses list --url https://evil.example')
    expect(code).toBe(4)
    expect(stderr).toContain(`was stored for ${school} and is sent only there`)
    expect(stderr).toContain('learnctl auth login --url https://evil.example')
    storeProfile(user.config, 'https://evil.example', user.tokens)
    expect(await user.run('courses list')).toMatchObject({ code: 4, stdout: '' })
    expect(user.asked).toEqual([])
  })
})

test('a clock that is two hours ahead has the token refreshed once', async ({ user }) => {
  user.state.wrongByMs = 2 * hour
  for (const _ of [1, 2]) expect(await user.run('courses list')).toMatchObject({ code: 0, stderr: '' })
  expect(user.asked).toEqual([refresh, 'GET /v1/courses', 'GET /v1/courses'])
})

describe('a session that has ended', () => {
  test('is said to have, with the way to another', { tags: ['slow'] }, async ({ user, academy, clock }) => {
    clock.advance(31 * 24 * hour)
    expectClearError(await user.run('courses list'), 4, `The session at ${school} has ended`)
    expect(user.asked).toEqual([refresh])
    expect(tokensIn(user.config)).toBeUndefined()
    const { code, stderr } = await user.run('courses list')
    expect(code).toBe(4)
    expect(stderr).toContain(again)
    expect(academy.logged.at(-1)).toMatchObject({ status: 400 })
  })

  test('names that command in the error itself', { tags: ['slow'] }, async ({ user, academy }) => {
    await academy.database.run(sql`update grants set revoked_at = '2026-03-01T12:00:00.000Z'`)
    const { code, stderr } = await user.run('courses list -o json')
    expect(code).toBe(4)
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'signed_out', exitCode: 4, hint: `Sign in again: ${again}`, retryable: false },
    })
    expect(user.asked).toEqual(['GET /v1/courses', refresh])
  })
})

describe('no token is shown', () => {
  test('by --debug, which shows the refresh', async ({ user, clock }) => {
    clock.advance(2 * hour)
    const { stdout, stderr } = await user.run('courses list --debug')
    expect(stderr).toContain(`debug: POST ${school}/oauth/token → 200`)
    const secrets = [user.tokens, tokensIn(user.config)].flatMap((held) => [
      held?.accessToken,
      held?.refreshToken,
    ])
    expect(new Set(secrets).size).toBe(4)
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret)
  })

  test('by --dry-run, which refreshes nothing', async ({ user, clock }) => {
    clock.advance(2 * hour)
    for (const line of ['courses list --dry-run', 'courses list --dry-run -o json', 'auth token --dry-run']) {
      const { code, stdout, stderr } = await user.run(line)
      expect(code).toBe(0)
      expect(stdout + stderr).not.toContain(user.tokens.accessToken.slice(4))
    }
    expect(user.asked).toEqual([])
  })
})

/** The program, signed in to a platform with scripted responses; its token expires in half a minute. */
const scripted = base.extend('user', async ({ task: _ }, { onCleanup }) => {
  const platform = openSchool()
  platform.scripts.set('/v1/courses', { body: [{ id: '1' }] })
  const clock = stoppedClock()
  const cli = testCli({ transport: platform.transport, now: () => clock.now().getTime() })
  onCleanup(() => cli.remove())
  const store = (given: Partial<StoredTokens> = {}) =>
    storeProfile(
      cli.config,
      school,
      storedTokens(school, {
        tokenEndpoint: `${school}/token`,
        expiresAt: '2026-03-01T12:00:30.000Z',
        ...given,
      }),
    )
  store()
  const sent = () => platform.requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`)
  return { ...cli, platform, clock, store, sent }
})

describe('a refresh that cannot be had now', () => {
  const target = { method: 'POST', url: `${school}/token` }
  const troubles: [string, object, string][] = [
    ['a network that is down', new ConnectionError(target, 'refused', 'Refused it'), 'Refused it'],
    ['a server in trouble', { status: 500, body: 'oh' }, 'POST /token returned 500'],
    ['too many requests', { status: 429, headers: { 'retry-after': '9' } }, 'Try again in 9 s'],
  ]

  scripted.for(troubles)(
    'because of %s is exit 7 once the token has ended',
    async ([, trouble, told], { user }) => {
      user.platform.scripts.set('/token', trouble)
      user.clock.advance(minute)
      // The command's own request was not sent, so it certainly had no effect.
      expectClearError(await user.run('courses create --title Sea'), 7, told)
      expect(user.sent()).toEqual(['POST /token'])
      expect(tokensIn(user.config)?.refreshToken).toBe('refresh-1')
    },
  )

  scripted('is not waited for by the same command twice', async ({ user }) => {
    user.platform.scripts.set('/token', { status: 503 })
    const link = { link: `<${school}/v1/courses?page=2>; rel="next"` }
    user.platform.scripts.set('/v1/courses', [
      { body: [{ id: '1' }], headers: link },
      { body: [{ id: '2' }] },
    ])
    expect(await user.run('courses list --limit 50 --columns id')).toMatchObject({
      code: 0,
      stdout: '1\n2\n',
    })
    expect(user.sent()).toEqual(['POST /token', 'GET /v1/courses', 'GET /v1/courses'])
  })
})

describe('an answer to a refresh', () => {
  scripted('may say nothing of an end: then only a refusal has it refreshed', async ({ user }) => {
    const answers = ['at-2', 'at-3'].map((token) => ({ body: { access_token: token, token_type: 'Bearer' } }))
    user.platform.scripts.set('/token', answers)
    await user.run('courses list')
    user.clock.advance(1000 * hour)
    await user.run('courses list')
    expect(user.sent()).toEqual(['POST /token', 'GET /v1/courses', 'GET /v1/courses'])
    user.platform.scripts.set('/v1/courses', [{ status: 401 }, { body: [] }])
    expect(await user.run('courses list')).toMatchObject({ code: 0 })
    expect(user.platform.forms('/token').map((form) => form.get('refresh_token'))).toEqual([
      'refresh-1',
      'refresh-1',
    ])
  })
})

scripted('a token that is refused again after its refresh is the error', async ({ user }) => {
  user.store({ expiresAt: null, lifetimeSeconds: null })
  user.platform.scripts.set('/v1/courses', { status: 401, body: { message: 'Invalid token' } })
  const { code, stderr } = await user.run('courses list')
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: `error: Invalid token
  The access token from profile school was sent to ${school}
  hint: Sign in again: learnctl auth login
`,
  })
  expect(user.sent()).toEqual(['GET /v1/courses', 'POST /token', 'GET /v1/courses'])
})

scripted('what refreshes a token does not travel in the clear', async ({ user }) => {
  user.store({ tokenEndpoint: 'http://school.example/token' })
  user.clock.advance(minute)
  expectClearError(await user.run('courses list'), 2, '--insecure-http to allow it')
  expect(user.sent()).toEqual([])
})
