import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, test as base, beforeAll, describe, expect } from 'vitest'
import type { StoredTokens } from '../../src/config/profiles.ts'
import { visit } from '../auth/school.ts'
import { hour } from '../helpers/academy.ts'
import { type PlainBrowser, plainBrowser } from '../helpers/browser.ts'
import { type Ran, type TestCli, testCli } from '../helpers/cli.ts'
import { freePort } from '../helpers/free-port.ts'
import { clientSecret, type ForeignServer, startOidcProvider } from './oidc-provider.ts'

/** The program on the real network, a user with a browser, and a foreign authorization server. */
interface Place {
  readonly server: ForeignServer
  readonly cli: TestCli
  readonly browser: PlainBrowser
  login(words?: string, stdin?: string): Promise<Ran>
  stored(): StoredTokens
  /** Advances the program's clock. */
  wait(ms: number): void
}

const test = base
  .extend('server', ({ task: _ }) => usual)
  .extend('place', async ({ server }, { onCleanup }): Promise<Place> => {
    let aheadMs = 0
    const browser = plainBrowser(fetch, server.url)
    const cli = testCli({
      now: () => Date.now() + aheadMs,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          // Only the user is waited for, and the browser here responds at once.
          if (ms < 300_000) resolve()
          else signal?.addEventListener('abort', reject)
        }),
      openBrowser: async (address) => {
        void person(address)
      },
      env: { DISPLAY: ':0' },
    })
    onCleanup(() => cli.remove())

    async function person(address: string): Promise<void> {
      const { leadsTo } = await browser.open(address)
      if (leadsTo !== null) await visit(leadsTo)
    }

    return {
      server,
      cli,
      browser,
      login: (words = '', stdin = '') => cli.run(`auth login --url ${server.url} ${words}`, { stdin }),
      stored: () => {
        const { active, profiles } = JSON.parse(readFileSync(join(cli.config, 'profiles.json'), 'utf8'))
        return profiles[active].credential
      },
      wait: (ms) => {
        aheadMs += ms
      },
    }
  })

let usual: ForeignServer

beforeAll(async () => {
  usual = await startOidcProvider()
})
afterAll(() => usual.close())

/** Sends a refresh token to the server; returns its response. */
async function refresh(server: ForeignServer, refreshToken: string | null): Promise<number> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken ?? '', client_id: 'learnctl' }
  const { status } = await fetch(`${server.url}/token`, { method: 'POST', body: new URLSearchParams(form) })
  return status
}

describe('with oidc-provider', () => {
  test('signs in with a browser, by the metadata of the server', async ({ place }) => {
    const ran = await place.login()
    expect(ran).toMatchObject({ code: 0, stdout: '' })
    expect(ran.stderr).toContain(`Signed in to ${place.server.url} as ada; profile `)
    expect(place.stored()).toMatchObject({
      issuer: place.server.url,
      clientId: 'learnctl',
      scopes: ['read', 'write'],
      lifetimeSeconds: 3600,
      refreshToken: expect.any(String),
      tokenEndpoint: `${place.server.url}/token`,
      revocationEndpoint: `${place.server.url}/token/revocation`,
    })
    expect(await place.cli.run('auth status -o json')).toMatchObject({ code: 0 })
  })

  test('signs in as an application with a secret and a redirect URI', async ({ place }) => {
    const uri = `http://127.0.0.1:${await freePort()}/back`
    const ran = await place.login(
      `--client-id confidential --client-secret-stdin --redirect-uri ${uri}`,
      clientSecret,
    )
    expect(ran).toMatchObject({ code: 0 })
    place.wait(2 * hour)
    expect(await place.cli.run('auth token')).toMatchObject({ code: 0, stderr: '' })
  })

  test('refreshes its session when that is due, with a new refresh token each time', async ({ place }) => {
    await place.login()
    const before = place.stored()
    place.wait(2 * hour)
    const { code, stdout } = await place.cli.run('auth token')
    const after = place.stored()
    expect(code).toBe(0)
    expect(stdout.trim()).toBe(after.accessToken)
    expect(after.accessToken).not.toBe(before.accessToken)
    expect(after.refreshToken).not.toBe(before.refreshToken)
    expect(await place.cli.run('auth status -o json')).toMatchObject({ code: 0 })
  })

  test('signs out: what it held is worth nothing any more', async ({ place }) => {
    await place.login()
    const { refreshToken, accessToken } = place.stored()
    expect(await place.cli.run('auth logout')).toMatchObject({ code: 0 })
    expect(await refresh(place.server, refreshToken)).toBe(400)
    const headers = { authorization: `Bearer ${accessToken}` }
    expect((await fetch(`${place.server.url}/v1/user/profile`, { headers })).status).toBe(401)
  })

  test('signs in again without ending the session that it has just begun', async ({ place }) => {
    await place.login()
    // The same browser: to this server it is one session and one grant.
    expect(await place.login()).toMatchObject({ code: 0 })
    place.wait(2 * hour)
    expect(await place.cli.run('auth token')).toMatchObject({ code: 0, stderr: '' })
  })

  test('signs in with a code that is typed in elsewhere', async ({ server }) => {
    const elsewhere = plainBrowser(fetch, server.url)
    let asked = 0
    let printed = ''
    const cli = testCli({
      now: Date.now,
      sleep: async () => {
        asked += 1
        if (asked < 3) return
        const code = /within \d+ minutes:\n\n(\S+)\n/.exec(printed)?.[1] ?? ''
        const form = await elsewhere.open(`${server.url}/device`)
        const confirmation = await elsewhere.submit(form, { user_code: code })
        const end = await elsewhere.submit(confirmation, { confirm: 'yes' })
        expect(end.text).toBe('done')
      },
    })
    const { code, stderr } = await cli.run(`auth login --device --url ${server.url}`, {
      onStderr: (text) => {
        printed = text
      },
    })
    cli.remove()
    expect({ code, asked }).toEqual({ code: 0, asked: 3 })
    expect(stderr).toContain(`Signed in to ${server.url} as ada`)
  })
})
