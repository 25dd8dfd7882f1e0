import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import { ConnectionError, TimeoutError } from '../../../src/client/errors.ts'
import {
  type Desk,
  expectFailed,
  metadata,
  page,
  type SignIn,
  school,
  test,
  tokens,
  wellKnown,
} from '../../auth/school.ts'

const endpoint = '/device_authorization'
const target = { method: 'POST', url: `${school}/token` }
const granted = { body: tokens }
const pending = { status: 400, body: { error: 'authorization_pending' } }
const slower = { status: 400, body: { error: 'slow_down' } }

const begun = {
  device_code: 'device-1',
  user_code: 'BCDF-GHJK',
  verification_uri: `${school}/device`,
  verification_uri_complete: `${school}/device?user_code=BCDF-GHJK`,
  expires_in: 600,
  interval: 5,
}

async function login(desk: Desk, words = ''): Promise<SignIn> {
  if (!desk.school.scripts.has(endpoint)) desk.school.scripts.set(endpoint, { body: begun })
  return desk.login(`--device ${words}`, async () => {})
}

describe('auth login --device', () => {
  test('shows where to type in which code, and signs in when that is done', async ({ desk }) => {
    desk.school.scripts.set('/token', [pending, pending, granted])
    const { code, stdout, stderr, shown } = await login(desk, '--scopes read')
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toBe(
      `To sign in to ${school}\nopen this URL in any browser:\n\n${school}/device\n\n` +
        'and enter this code within 10 minutes:\n\nBCDF-GHJK\n\nWaiting for sign-in\n' +
        `Signed in to ${school} as ada@school.example; profile school-example is now active\n`,
    )
    expect(shown?.href).toBe(begun.verification_uri_complete)
    expect(desk.school.forms(endpoint).map(Object.fromEntries)).toEqual([
      { client_id: 'learnctl', scope: 'read' },
    ])
    const poll = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'device-1',
      client_id: 'learnctl',
    }
    expect(desk.school.forms('/token').map(Object.fromEntries)).toEqual([poll, poll, poll])
    expect(desk.waits).toEqual([5000, 5000, 5000])
    expect(desk.stored()).toMatchObject({ kind: 'oauth', accessToken: 'at-1', refreshToken: 'rt-1' })
  })

  test('counts down on a terminal, in one line that is gone afterwards', async ({ desk }) => {
    const fault = new ConnectionError(target, 'reset', 'school.example dropped the connection')
    desk.school.scripts.set(endpoint, { body: { ...begun, expires_in: 62 } })
    desk.school.scripts.set('/token', [pending, fault, granted])
    const { code, stderr } = await desk.login('--device', async () => {}, { tty: 80 })
    expect(code).toBe(0)
    const line = (left: string) => `\r\u001b[KWaiting for sign-in (${left} left)`
    expect(stderr.slice(stderr.indexOf('\r'))).toBe(
      `${line('1:02')}${line('0:57')}\r\u001b[K` +
        'note: school.example dropped the connection; trying again in 10 s\n' +
        `${line('0:52')}\r\u001b[K` +
        `Signed in to ${school} as ada@school.example; profile\n    school-example is now active\n`,
    )
  })

  test('needs no input, no terminal and no browser', async ({ desk }) => {
    desk.school.scripts.set(endpoint, { body: begun })
    const ran = await desk.login('--device --no-input', undefined, { env: { DISPLAY: '', CI: 'true' } })
    expect(ran).toMatchObject({ code: 0, shown: undefined })
    expect(await login(desk, '--no-browser')).toMatchObject({ code: 0, shown: undefined })
  })

  test('opens the plain address where there is none with the code in it', async ({ desk }) => {
    const { verification_uri_complete: _, ...others } = begun
    desk.school.scripts.set(endpoint, { body: others })
    expect((await login(desk)).shown?.href).toBe(begun.verification_uri)
  })

  test.for<[what: string, interval: unknown, waits: number[]]>([
    ['no interval', undefined, [5000]],
    ['an interval of its own', 7, [7000]],
    ['an interval that is none', 0, [5000]],
    ['an interval longer than the code lives', 1e12, [60_000]],
  ])('asks every 5 seconds unless told otherwise: %s', async ([, interval, waits], { desk }) => {
    desk.school.scripts.set(endpoint, { body: { ...begun, expires_in: 60, interval } })
    expect((await login(desk)).code).toBe(0)
    expect(desk.waits).toEqual(waits)
  })

  test('asks 5 seconds later, for good, each time that it is too fast', async ({ desk }) => {
    desk.school.scripts.set('/token', [slower, pending, slower, pending, granted])
    expect((await login(desk)).code).toBe(0)
    expect(desk.waits).toEqual([5000, 10_000, 10_000, 15_000, 15_000])
  })

  test('asks half as often, for good, after each fault of the network', async ({ desk }) => {
    const late = new TimeoutError(target, 'connect_timeout', 5000)
    const reset = new ConnectionError(target, 'reset', 'school.example dropped the connection')
    desk.school.scripts.set('/token', [late, reset, { status: 503 }, pending, granted])
    const { code, stderr } = await login(desk)
    expect(code).toBe(0)
    expect(desk.waits).toEqual([5000, 10_000, 20_000, 40_000, 40_000])
    expect(stderr).toMatch(
      /note: Connection to school\.example timed out after 5 s .*; trying again in 10 s\n/,
    )
    expect(stderr).toContain('note: school.example dropped the connection; trying again in 20 s\n')
  })

  test('gives up when the code has expired by the clock', async ({ desk }) => {
    desk.school.scripts.set(endpoint, { body: { ...begun, expires_in: 12 } })
    desk.school.scripts.set('/token', pending)
    const ran = await login(desk)
    expectFailed(desk, ran, 4, /The code expired .*\n {2}hint: Try again: learnctl auth login --device\n$/)
    expect(ran.stderr).toContain('within 1 minute:')
    expect(desk.waits).toEqual([5000, 5000, 2000])
  })

  test('says what the network did where that lasted until the code expired', async ({ desk }) => {
    desk.school.scripts.set('/token', new ConnectionError(target, 'reset', 'school.example dropped it'))
    const ran = await login(desk)
    expectFailed(desk, ran, 7, 'error: school.example dropped it')
  })

  const answers: readonly [what: string, answer: object, exit: number, error: string | RegExp][] = [
    ['denial', { status: 400, body: { error: 'access_denied' } }, 4, 'Sign-in to school.example was denied'],
    [
      'an expired code',
      { status: 400, body: { error: 'expired_token' } },
      4,
      /The code expired before anyone signed in\n {2}hint: Try again: learnctl auth login --device\n$/,
    ],
  ]

  test.for(answers)('ends with %s', async ([, answer, exit, error], { desk }) => {
    desk.school.scripts.set('/token', [pending, answer])
    expectFailed(desk, await login(desk), exit, error)
    expect(desk.school.forms('/token')).toHaveLength(2)
  })

  const starts: readonly [what: string, answer: object, error: string | RegExp][] = [
    [
      'refuses the application',
      { status: 401, body: { error: 'invalid_client' } },
      /invalid_client\n {2}hint: .*--client-id/,
    ],
    ['answers with a page', page, 'a web page instead of JSON (/device_authorization)'],
    ['gives no code', { body: { ...begun, user_code: undefined } }, 'returned no usable code: "user_code"'],
    [
      'names a program',
      { body: { ...begun, verification_uri: 'file:///bin/sh' } },
      'returned an invalid URL',
    ],
    [
      'hides another host behind a user name',
      { body: { ...begun, verification_uri: `https://${new URL(school).host}@evil.example/device` } },
      'returned an invalid URL',
    ],
  ]

  test.for(starts)('is ended by a server that %s', async ([, answer, error], { desk }) => {
    desk.school.scripts.set(endpoint, answer)
    const ran = await login(desk)
    expectFailed(desk, ran, 4, error)
    expect(ran.shown).toBeUndefined()
    expect(desk.school.forms('/token')).toEqual([])
  })

  test('shows a code with control characters as they are', async ({ desk }) => {
    desk.school.scripts.set(endpoint, { body: { ...begun, user_code: '\u001b[2JAB' } })
    expect((await login(desk)).stderr).toContain('\n\\x1b[2JAB\n')
  })

  test('is refused where there is no such endpoint, named or guessed', async ({ desk }) => {
    const { device_authorization_endpoint: _, ...others } = metadata
    for (const [answer, guessed] of [
      [{ body: others }, { status: 404 }],
      [{ status: 404 }, { status: 404 }],
      [{ status: 404 }, page],
    ] as const) {
      desk.school.scripts.set(wellKnown, answer)
      desk.school.scripts.set('/oauth/device_authorization', guessed)
      const ran = await login(desk)
      expectFailed(
        desk,
        ran,
        4,
        /does not support signing in with a code\n {2}hint: .*--no-browser, or --with-key\n$/,
      )
    }
  })

  test('is interrupted at any moment and leaves nothing behind', async ({ desk }) => {
    for (const path of [endpoint, '/token', '/v1/user/profile']) {
      const controller = new AbortController()
      desk.school.scripts.set(endpoint, { body: begun })
      desk.school.scripts.set('/token', granted)
      desk.school.scripts.set(path, async () => {
        controller.abort(new InterruptedError('SIGINT'))
        return pending
      })
      const ran = await desk.login('--device', async () => {}, { signal: controller.signal })
      expect(ran).toMatchObject({ code: 130, stdout: '' })
      expect(existsSync(join(desk.cli.config, 'profiles.json'))).toBe(false)
    }
  })
})
