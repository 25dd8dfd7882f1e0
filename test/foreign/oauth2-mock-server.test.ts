import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OAuth2Server } from 'oauth2-mock-server'
import { test as base, describe, expect } from 'vitest'
import type { StoredTokens } from '../../src/config/profiles.ts'
import { oauthPaths } from '../../src/contract/oauth.ts'
import { visit } from '../auth/school.ts'
import { hour } from '../helpers/academy.ts'
import { plainBrowser } from '../helpers/browser.ts'
import { type Ran, type TestCli, testCli } from '../helpers/cli.ts'

/** The program on the real network, with a foreign authorization server. */
interface Place {
  readonly url: string
  readonly cli: TestCli
  readonly server: OAuth2Server
  login(words?: string): Promise<Ran>
  stored(): StoredTokens
  /** Advances the program's clock. */
  wait(ms: number): void
}

const { authorize, token, revoke, metadata } = oauthPaths

const test = base
  .extend('wellKnown', metadata as string)
  .extend('place', async ({ wellKnown }, { onCleanup }): Promise<Place> => {
    const endpoints = { wellKnownDocument: wellKnown, authorize, token, revoke }
    const server = new OAuth2Server(undefined, undefined, { endpoints })
    await server.issuer.keys.generate('ES256')
    await server.start(0, '127.0.0.1')
    const url = `http://127.0.0.1:${server.address().port}`
    server.issuer.url = url
    server.service.addRoute('GET', '/v1/user/profile', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"email":"john@school.example"}')
    })
    let aheadMs = 0
    const cli = testCli({
      now: () => Date.now() + aheadMs,
      sleep: (_, signal) => new Promise((_, reject) => signal?.addEventListener('abort', reject)),
      openBrowser: async (address) => {
        void plainBrowser(fetch, url)
          .open(address)
          .then(({ leadsTo }) => visit(leadsTo ?? ''))
      },
      env: { DISPLAY: ':0' },
    })
    onCleanup(async () => {
      cli.remove()
      await server.stop()
    })
    return {
      url,
      cli,
      server,
      login: (words = '') => cli.run(`auth login --url ${url} ${words}`),
      stored: () => {
        const { active, profiles } = JSON.parse(readFileSync(join(cli.config, 'profiles.json'), 'utf8'))
        return profiles[active].credential
      },
      wait: (ms) => {
        aheadMs += ms
      },
    }
  })

const silent = test.extend('wellKnown', '/.well-known/openid-configuration')

describe('with oauth2-mock-server', () => {
  test('signs in by its metadata, and says what was not granted', async ({ place }) => {
    const { code, stderr } = await place.login()
    expect(code).toBe(0)
    expect(stderr).toContain(`Signed in to ${place.url} as john@school.example`)
    // It grants its own scope, regardless of the request.
    expect(stderr).toContain('note: Granted scopes: dummy; not granted: read write\n')
    expect(place.stored()).toMatchObject({ scopes: ['dummy'], lifetimeSeconds: 3600 })
  })

  silent('signs in at the published paths where there is no metadata', async ({ place }) => {
    const { code, stderr } = await place.login()
    expect(code).toBe(0)
    expect(stderr).toMatch(
      new RegExp(
        `^note: ${place.url} publishes no OAuth metadata; trying .*/oauth/authorize and .*/oauth/token\n`,
      ),
    )
    expect(place.stored()).toMatchObject({ tokenEndpoint: `${place.url}/oauth/token` })
  })

  test('refreshes its session, and ends it', async ({ place }) => {
    await place.login()
    const before = place.stored()
    place.wait(2 * hour)
    const { code, stdout } = await place.cli.run('auth token')
    expect(code).toBe(0)
    const after = place.stored()
    expect(stdout.trim()).toBe(after.accessToken)
    expect(after.refreshToken).not.toBe(before.refreshToken)
    let revocations = 0
    place.server.service.on('beforeRevoke', () => {
      revocations += 1
    })
    expect(await place.cli.run('auth logout')).toMatchObject({ code: 0 })
    expect(revocations).toBe(1)
  })

  test('keeps its session where the server is out of order, and says so', async ({ place }) => {
    await place.login()
    const before = place.stored()
    place.wait(2 * hour)
    place.server.service.once('beforeResponse', (answer) => {
      answer.statusCode = 503
    })
    expect(await place.cli.run('auth token')).toMatchObject({ code: 7, stdout: '' })
    expect(place.stored()).toEqual(before)
  })

  test.for<[what: string, status: number, body: object, exit: number]>([
    ['refuses the code', 400, { error: 'invalid_grant' }, 4],
    ['is out of order', 500, { error: 'server_error' }, 4],
    ['is busy', 503, {}, 7],
    ['gives another kind of token', 200, { access_token: 'a', token_type: 'mac' }, 4],
  ])('refuses the sign-in if it %s', async ([, status, body, exit], { place }) => {
    place.server.service.once('beforeResponse', (answer) => {
      answer.statusCode = status
      answer.body = { ...body }
    })
    expect(await place.login()).toMatchObject({ code: exit, stdout: '' })
    expect(() => place.stored()).toThrow()
  })
})
