import { describe, expect, onTestFinished } from 'vitest'
import { test as base, type TestCli, type TestCliOptions } from '../../helpers/cli.ts'
import { googleClient, openFakeClassroom, type ServedClassroom } from '../../helpers/fake-classroom.ts'
import { ran, resultOf } from '../../helpers/result.ts'

/** Query of the redirect by which Google answers in the browser. */
let redirected: Record<string, string> = {}
let shown = new URL('http://none')
let page = ''

/** A person who allows access: the browser follows the redirect to the program. */
const test = base.extend('options', {
  openBrowser: async (address: string) => {
    shown = new URL(address)
    const back = new URL(shown.searchParams.get('redirect_uri') ?? '')
    const state = shown.searchParams.get('state') ?? ''
    const query = { state, iss: 'https://accounts.google.com', code: '4/a-code', ...redirected }
    for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value)
    void fetch(back).then(async (response) => {
      page = await response.text()
    })
  },
  // Five minutes are longer than any test: the wait ends when the program cancels it.
  sleep: (_, signal) => new Promise((_, reject) => signal?.addEventListener('abort', reject)),
  env: { DISPLAY: ':0' },
} as TestCliOptions)

const secret = { stdin: googleClient.secret }
const line = `integrations sign-in classroom --client-id ${googleClient.id} --client-secret-stdin`

/** Serves a Classroom, and sets its addresses in the integration. */
async function classroom(cli: TestCli, answer: Record<string, string> = {}): Promise<ServedClassroom> {
  redirected = answer
  const fake = await openFakeClassroom()
  onTestFinished(() => fake.close())
  await ran(cli, `integrations set classroom --base-url ${fake.url} --token-url ${fake.tokenUrl}`)
  return fake
}

const checks = async (cli: TestCli) => {
  const { code, stdout } = await cli.run('integrations test classroom -o json')
  const found: { name: string; status: string; detail: string }[] = JSON.parse(stdout).checks
  return { code, of: Object.fromEntries(found.map((one) => [one.name, `${one.status}: ${one.detail}`])) }
}

describe('integrations sign-in classroom', () => {
  test('is for no other kind of system', async ({ local }) => {
    expect((await ran(local, 'integrations sign-in canvas', 2)).stderr).toContain(
      '<kind> must be classroom, not "canvas"',
    )
  })

  test('asks Google with a challenge, and stores the tokens', { tags: ['slow'] }, async ({ local }) => {
    const fake = await classroom(local)
    expect(await local.run(line, secret)).toEqual({
      code: 0,
      stdout: '',
      stderr:
        `Opening a browser to sign in to Google Classroom\nIf it does not open, visit this URL:\n\n${shown.href}\n\n` +
        'Waiting for sign-in (up to 5 minutes)\nSigned in to Google Classroom; integration classroom is set up\n',
    })
    expect(shown.origin + shown.pathname).toBe('https://accounts.google.com/o/oauth2/v2/auth')
    expect(Object.fromEntries(shown.searchParams)).toEqual({
      response_type: 'code',
      client_id: googleClient.id,
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope: [
        'https://www.googleapis.com/auth/classroom.courses',
        'https://www.googleapis.com/auth/classroom.rosters',
        'https://www.googleapis.com/auth/classroom.profile.emails',
        'https://www.googleapis.com/auth/classroom.coursework.students',
      ].join(' '),
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      access_type: 'offline',
      prompt: 'consent',
    })
    expect(Object.fromEntries(fake.grants[0] ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: '4/a-code',
      redirect_uri: shown.searchParams.get('redirect_uri'),
      code_verifier: expect.stringMatching(/^[\w.~-]{43,128}$/),
      client_id: googleClient.id,
      client_secret: googleClient.secret,
    })
    const kept = await resultOf(local, 'integrations get classroom')
    expect(kept).toMatchObject({
      clientId: googleClient.id,
      secrets: {
        accessToken: null,
        clientSecret: { last4: 'ests' },
        refreshToken: { setAt: '2026-03-01T12:00:00.000Z', last4: '0815' },
      },
    })
    const all = [kept, await local.run('audit list -o json'), await local.run('integrations list -o yaml')]
    expect(JSON.stringify(all)).not.toContain(googleClient.secret)
    expect(JSON.stringify(all)).not.toContain(googleClient.refreshToken)
    expect(await checks(local)).toEqual({
      code: 0,
      of: {
        signIn: 'ok: Google granted access',
        scopes: 'ok: all scopes are granted',
        connection: expect.stringMatching(/^ok: 127\.0\.0\.1:\d+ answers$/),
        accessToken: 'ok: accepted as admin@school.example (id 1)',
        webhookSecret: 'skipped: Google Classroom sends no events',
        lastDelivery: 'skipped: nothing has been received lately',
      },
    })
    expect(page).toContain('You are signed in')
  })

  test('signs in again with the stored client, and only to read if asked', async ({ local }) => {
    await classroom(local)
    await local.run(line, secret)
    const again = await local.run('integrations sign-in classroom --client-secret-stdin --read-only', {
      stdin: googleClient.secret,
    })
    expect(again).toMatchObject({ code: 0 })
    expect(shown.searchParams.get('client_id')).toBe(googleClient.id)
    expect(shown.searchParams.get('scope')).toBe(
      [
        'https://www.googleapis.com/auth/classroom.courses.readonly',
        'https://www.googleapis.com/auth/classroom.rosters.readonly',
        'https://www.googleapis.com/auth/classroom.profile.emails',
        'https://www.googleapis.com/auth/classroom.coursework.students.readonly',
      ].join(' '),
    )
  })

  test('names scopes that the user did not grant, and so does the check', async ({ local }) => {
    const fake = await classroom(local)
    fake.scopes = ['classroom.courses', 'classroom.rosters.readonly', 'classroom.profile.emails']
    expect((await local.run(line, secret)).stderr).toMatch(
      /note: Not granted: classroom\.rosters, classroom\.coursework\.students; sign in again and allow all\n$/,
    )
    expect((await checks(local)).of).toMatchObject({
      scopes:
        'failed: missing scope classroom.coursework.students.readonly: sign in with: learnctl integrations sign-in classroom, and allow all',
    })
    fake.scopes.push('classroom.coursework.students.readonly')
    expect((await checks(local)).of).toMatchObject({
      scopes: 'ok: can only read: writing requires classroom.rosters, classroom.coursework.students',
    })
  })

  test('names the command to sign in again once the sign-in has ended', async ({ local }) => {
    const fake = await classroom(local)
    expect((await checks(local)).of).toMatchObject({
      signIn: 'skipped: no user has signed in: sign in with: learnctl integrations sign-in classroom',
    })
    await local.run(line, secret)
    fake.refusesGrants = 'invalid_grant'
    expect(await checks(local)).toMatchObject({
      code: 1,
      of: {
        signIn:
          'failed: the sign-in has expired or was revoked: sign in with: learnctl integrations sign-in classroom',
      },
    })
  })

  test('stores nothing if access is denied, or the secret is wrong', async ({ local }) => {
    await classroom(local, { error: 'access_denied' })
    const again = `  hint: Check the client id and secret, and try again: learnctl integrations sign-in classroom --client-id ${googleClient.id}\n`
    const denied = await ran(local, line, 4, secret)
    expect(denied.stderr).toContain(`error: Sign-in to accounts.google.com was denied\n${again}`)
    redirected = {}
    const wrong = await ran(local, line, 4, { stdin: 'GOCSPX-another-secret' })
    expect(wrong.stderr).toContain('refused the sign-in: invalid_client')
    expect(wrong.stderr).toContain(again)
    expect(wrong.stderr).not.toContain('GOCSPX')
    redirected = { iss: 'https://evil.example' }
    expect((await local.run(line, secret)).stderr).toContain(
      'The response in the browser is not from https://accounts.google.com',
    )
    expect(await resultOf(local, 'integrations get classroom')).toMatchObject({
      secrets: { refreshToken: null },
    })
  })

  test('says what is missing, and sends nothing in a dry run', async ({ local }) => {
    await classroom(local)
    expect(await local.run('integrations sign-in classroom')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: --client-id is required\n/),
    })
    expect(await local.run(`integrations sign-in classroom --client-id ${googleClient.id}`)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: The client secret is required\n {2}hint: learnctl integrations sign-in/,
      ),
    })
    const dry = await local.run(`${line} --dry-run`, secret)
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toMatch(/^GET https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/)
    expect((await ran(local, `${line} --no-input`, 2)).stderr).toContain(
      'Browser sign-in requires an interactive terminal',
    )
  })

  test('sends its secrets to no other address than those they were set for', async ({ local }) => {
    await classroom(local)
    await local.run(line, secret)
    const elsewhere = await local.run(
      'integrations set classroom --token-url https://elsewhere.example/token',
    )
    expect(elsewhere.stderr).toContain(
      'requires the client secret again: the stored one was set for another address',
    )
    expect(
      (await local.run('integrations set classroom --base-url https://elsewhere.example')).stderr,
    ).toContain('requires the refresh token again')
    expect(
      (await local.run('integrations set canvas --token-url https://elsewhere.example')).stderr,
    ).toContain('applies to classroom and oneroster only')
  })
})
