import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ConnectionError } from '../../../src/client/errors.ts'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import type { HttpRequest } from '../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../helpers/cli.ts'
import { expectClearError } from '../../helpers/result.ts'
import { readProfiles, startSession, storeProfile, tokensIn } from '../../helpers/signed-in.ts'
import { formIn } from '../../helpers/web.ts'

const url = 'https://school.example'
const login = `auth login --with-key --url ${url}`

describe('a stored key', () => {
  test('goes to no other origin', async ({ remote, admin, academy }) => {
    await remote.run(login, { stdin: admin.key })
    const before = academy.logged.length
    for (const place of [
      '--url https://evil.example',
      '--url http://school.example',
      '--url https://school.example:8443',
    ]) {
      const { code, stderr } = await remote.run(`courses list ${place}`)
      expect(code).toBe(4)
      expect(stderr).toContain('was stored for https://school.example and is sent only there')
    }
    expect(await remote.run('courses list', { env: { LEARNCTL_URL: 'https://evil.example' } })).toMatchObject(
      { code: 4 },
    )
    writeFileSync(join(remote.cwd, 'learnctl.json'), '{"url": "https://evil.example"}')
    expect(await remote.run('courses list')).toMatchObject({ code: 2 })
    expect(academy.logged).toHaveLength(before)
  })

  test('is never shown', { tags: ['slow'] }, async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    const lines = [
      'auth status -o json',
      'profiles list -o json',
      'profiles get',
      'courses list --debug',
      'courses list --dry-run',
    ]
    for (const line of lines) {
      const { stdout, stderr } = await remote.run(line)
      expect(stdout + stderr).not.toContain(admin.key)
      expect(stdout + stderr).not.toContain(admin.key.slice(4, 34))
    }
    expect(readFileSync(join(remote.config, 'profiles.json'), 'utf8')).toContain(admin.key)
  })

  test('of another profile is named where this has none', { tags: ['slow'] }, async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    storeProfile(remote.config, url, undefined, 'empty')
    const { stdout, ...ran } = await remote.run('courses list')
    expect({ stdout, ...ran }).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: No credential for ${url}
  Profile school-example has one
  hint: Use that profile: --profile school-example
`,
    })
    expect(await remote.run('courses list --profile school-example')).toMatchObject({ code: 0 })
    const transportTo = await remote.run('courses list --url https://other.example')
    expect(transportTo.stderr).toContain('learnctl auth login --url https://other.example')
  })

  test('is forgotten by auth logout, unlike variables', { tags: ['slow'] }, async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    const out = await remote.run('auth logout', { env: { LEARNCTL_API_KEY: 'other' } })
    expect(out.stderr).toBe(
      'Signed out of https://school.example (profile school-example)\nnote: LEARNCTL_API_KEY is still set\n',
    )
    expect(readFileSync(join(remote.config, 'profiles.json'), 'utf8')).not.toContain(admin.key)
    expect(await remote.run('courses list')).toMatchObject({ code: 4, stdout: '' })
  })
})

describe('auth status', () => {
  test('shows the credential in use and others', { tags: ['slow'] }, async ({
    remote,
    admin,
    instructor,
  }) => {
    await remote.run(login, { stdin: admin.key })
    const { stdout } = await remote.run('auth status -o json', { env: { LEARNCTL_API_KEY: instructor.key } })
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'school-example',
      location: 'https://school.example',
      source: 'active profile school-example',
      credential: {
        kind: 'api_key',
        value: `lpk_***${instructor.key.slice(-4)}`,
        source: 'LEARNCTL_API_KEY',
        shadows: ['profile school-example'],
      },
      user: { role: 'instructor' },
    })
  })

  test('with no academy exits 4 and names the two ways on', async ({ cli }) => {
    const { code, stdout, stderr } = await cli.run('auth status')
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toContain('learnctl auth login --url <url>')
    expect(stderr).toContain('learnctl quickstart')
  })
})

/** The program, signed in to the academy of the test as an admin. */
const signedInTest = test.extend('user', async ({ academy, admin, clock }, { onCleanup }) => {
  const sent: HttpRequest[] = []
  const transport = transportTo(academy)
  const state = { offline: false, date: '' }
  const cli = testCli({
    now: () => clock.now().getTime(),
    transport: async (request) => {
      sent.push(request)
      if (state.offline)
        throw new ConnectionError(request, 'refused', 'school.example refused the connection')
      const response = await transport(request)
      if (!state.date) return response
      return { ...response, headers: { ...response.headers, date: state.date } }
    },
  })
  onCleanup(() => cli.remove())
  const tokens = await startSession(academy.database, { userId: admin.id, url, now: clock.now })
  storeProfile(cli.config, url, tokens)
  const paths = () => sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)
  return { ...cli, tokens, sent, paths, state }
})

describe('auth status of a session', () => {
  signedInTest('tells the account, the scopes, the end, the source and what it shadows', async ({ user }) => {
    const env = { LEARNCTL_API_KEY: 'shadowed' }
    const { code, stdout, stderr } = await user.run('auth status -o json --profile school', { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'school',
      location: url,
      source: '--profile',
      credential: {
        kind: 'oauth',
        value: `lpa_***${user.tokens.accessToken.slice(-4)}`,
        scopes: ['read', 'write'],
        expiresAt: '2026-03-01T13:00:00.000Z',
        refreshable: true,
        source: 'profile school',
        shadows: ['LEARNCTL_API_KEY'],
      },
      user: { email: 'admin-1@school.example', role: 'admin', authMethod: 'oauth' },
    })
  })

  signedInTest('says when the clocks differ by more than a minute', async ({ user }) => {
    user.state.date = 'Sun, 01 Mar 2026 14:00:00 GMT'
    const { code, stderr } = await user.run('auth status')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'note: The clock of this machine is 2 h behind the server; correct it\n',
    })
    user.state.date = 'Sun, 01 Mar 2026 12:00:59 GMT'
    expect(await user.run('auth status')).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('auth token', () => {
  signedInTest('prints a token that can be used, and nothing else', async ({ user, academy }) => {
    for (const line of ['auth token', 'auth token -o json', 'auth token -q']) {
      expect(await user.run(line)).toEqual({ code: 0, stdout: `${user.tokens.accessToken}\n`, stderr: '' })
    }
    expect(user.sent).toEqual([])
    expect(await academy.bearer(`Bearer ${user.tokens.accessToken}`).get('/v1/courses')).toMatchObject({
      status: 200,
    })
  })

  test('prints an API key, and what a variable holds', { tags: ['slow'] }, async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    expect(await remote.run('auth token')).toEqual({ code: 0, stdout: `${admin.key}\n`, stderr: '' })
    const env = { LEARNCTL_ACCESS_TOKEN: 'of-a-variable' }
    expect(await remote.run('auth token', { env })).toEqual({
      code: 0,
      stdout: 'of-a-variable\n',
      stderr: '',
    })
  })

  test('of a local academy is exit 2, with what to do', async ({ local }) => {
    expectClearError(await local.run('auth token'), 2, 'learnctl keys create')
  })

  test('is exit 4 without a sign-in', async ({ cli }) => {
    expectClearError(await cli.run('auth token'), 4, 'No platform or academy is selected')
    storeProfile(cli.config, url)
    expectClearError(await cli.run('auth token'), 4, `learnctl auth login --profile school --url ${url}`)
  })
})

describe('auth logout of a session', () => {
  signedInTest('ends it at the platform, then forgets it', async ({ user, academy }) => {
    expect(await user.run('auth logout')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Signed out of https://school.example (profile school)\n',
    })
    expect(user.paths()).toEqual(['POST /oauth/revoke'])
    const form = formIn(user.sent[0])
    expect(Object.fromEntries(form)).toEqual({
      client_id: 'learnctl',
      token: user.tokens.refreshToken,
      token_type_hint: 'refresh_token',
    })
    expect(await academy.bearer(`Bearer ${user.tokens.accessToken}`).get('/v1/courses')).toMatchObject({
      status: 401,
    })
    expect(readProfiles(user.config)).toEqual({ school: { url } })
    expect(readdirSync(user.config)).toEqual(['profiles.json'])
  })

  signedInTest('forgets it offline as well, and says so', async ({ user }) => {
    user.state.offline = true
    expect(await user.run('auth logout')).toEqual({
      code: 0,
      stdout: '',
      stderr: `note: The session could not be revoked: school.example refused the connection
Signed out of https://school.example (profile school)
`,
    })
    expect(readFileSync(join(user.config, 'profiles.json'), 'utf8')).not.toContain(user.tokens.accessToken)
    expect(readdirSync(user.config)).toEqual(['profiles.json'])
  })

  signedInTest.for<[string, Partial<StoredTokens>, string]>([
    ['there is no way to', { revocationEndpoint: null }, 'school.example does not support revocation'],
    ['it is not offered', { revocationEndpoint: `${url}/nowhere` }, 'school.example returned 404'],
    ['the client is not known', { clientId: 'app_gone' }, 'school.example says: invalid_client'],
    [
      'it would go in the clear',
      { revocationEndpoint: 'http://school.example/revoke' },
      'over unencrypted http',
    ],
  ])('forgets it where %s', async ([, given, told], { user }) => {
    storeProfile(user.config, url, { ...user.tokens, ...given })
    const { code, stderr } = await user.run('auth logout')
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^note: The session could not be revoked: .*\nSigned out of https:\/\/school\.example/,
    )
    expect(stderr).toContain(told)
    expect(readProfiles(user.config)).toEqual({ school: { url } })
  })

  signedInTest('ends the access token where there is nothing to refresh it', async ({ user }) => {
    storeProfile(user.config, url, { ...user.tokens, refreshToken: null })
    expect(await user.run('auth logout')).toMatchObject({ code: 0 })
    const form = formIn(user.sent[0])
    expect(form.get('token')).toBe(user.tokens.accessToken)
    expect(form.get('token_type_hint')).toBe('access_token')
  })

  signedInTest('is of the named profile, and no other', async ({ user, academy, instructor, clock }) => {
    const other = await startSession(academy.database, { userId: instructor.id, url, now: clock.now })
    storeProfile(user.config, url, other, 'other')
    await user.run('auth logout --profile school')
    expect(tokensIn(user.config, 'school')).toBeUndefined()
    expect(tokensIn(user.config, 'other')).toEqual(other)
    expect(await user.run('courses list --profile other')).toMatchObject({ code: 0 })
    expect(await user.run('courses list --profile school')).toMatchObject({ code: 4 })
  })

  signedInTest('takes away what a killed process left of it', async ({ user }) => {
    writeFileSync(join(user.config, 'profiles.json.tmp-1234567890abcdef'), user.tokens.accessToken)
    const dead = { pid: 2 ** 30, host: hostname(), time: 0, id: 'x' }
    writeFileSync(join(user.config, 'school.credential.lock'), JSON.stringify(dead))
    expect(await user.run('auth logout')).toMatchObject({ code: 0 })
    expect(readdirSync(user.config)).toEqual(['profiles.json'])
  })

  signedInTest('can be tried out', async ({ user }) => {
    expect(await user.run('auth logout --dry-run')).toEqual({
      code: 0,
      stdout: '',
      stderr: `note: Would revoke the session at ${url} and remove the credential of profile school\n`,
    })
    expect(user.sent).toEqual([])
    expect(tokensIn(user.config)).toEqual(user.tokens)
  })

  signedInTest('comes with the profile being removed', async ({ user }) => {
    expect(await user.run('profiles delete school --yes')).toMatchObject({
      code: 0,
      stderr: 'Deleted profile school\n',
    })
    expect(user.paths()).toEqual(['POST /oauth/revoke'])
    expect(readdirSync(user.config)).toEqual(['profiles.json'])
    expect(readProfiles(user.config)).toEqual({})
  })
})
