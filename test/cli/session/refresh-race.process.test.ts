import { statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import { listen } from '../../helpers/listen.ts'
import { readProfiles, storedTokens, storeProfile, tokensIn } from '../../helpers/signed-in.ts'
import { expired, readValidTokens, runAtOnce, success, test } from './sharing-processes.ts'

describe('four processes with one profile', () => {
  test('ask once for a token refused to all, and none fails', async ({ home, onTestFinished }) => {
    const server = await startRotatingServer(4)
    onTestFinished(() => server.close())
    storeProfile(home.config, server.url, server.tokens)
    for (const { code, stderr } of await runAtOnce(4, () => home.learnctl('courses list'))) {
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: '' })
    }
    expect(server.refreshed).toEqual(['refresh-1'])
    expect(server.alive()).toBe(true)
    expect(readValidTokens(home.config)).toMatchObject({ accessToken: 'access-2', refreshToken: 'refresh-2' })
  })

  test('ask an academy once for a token that has ended, and the session lives', async ({ home, academy }) => {
    for (const [round, together] of [
      [1, 4],
      [2, 1],
    ] as const) {
      const tokens = tokensIn(home.config) ?? academy.tokens
      storeProfile(home.config, academy.url, { ...tokens, expiresAt: expired })
      for (const ended of await runAtOnce(together, () => home.learnctl('courses list')))
        expect(ended).toMatchObject(success)
      expect(academy.refreshes()).toBe(round)
      expect(readValidTokens(home.config)?.refreshToken).not.toBe(tokens.refreshToken)
    }
  })
})

const killed = test.extend('before', async ({ home, academy }) => {
  const tokens = { ...academy.tokens, expiresAt: expired }
  storeProfile(home.config, academy.url, tokens)
  expect(await home.learnctl('courses list', 'deadly')).toMatchObject({ signal: 'SIGKILL', stdout: '' })
  expect(academy.refreshes()).toBe(1)
  return tokens
})

describe('a process that is killed between the answer to its refresh and the write', () => {
  killed('leaves a whole file; a command soon after goes on', async ({ home, academy, before }) => {
    expect(tokensIn(home.config)).toEqual(before)
    expect(statSync(join(home.config, 'profiles.json')).mode & 0o777).toBe(0o600)
    for (const _ of [1, 2]) expect(await home.learnctl('courses list')).toMatchObject(success)
    expect(academy.refreshes()).toBe(2)
  })

  killed('leaves a whole file; a later command says to sign in', async ({ home, academy, before }) => {
    expect(tokensIn(home.config)).toEqual(before)
    expect(statSync(join(home.config, 'profiles.json')).mode & 0o777).toBe(0o600)
    academy.wait(11_000)
    const { code, stdout, stderr } = await home.learnctl('courses list')
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toBe(`error: The session at ${academy.url} has ended
  ${new URL(academy.url).host} says: invalid_grant: The refresh token has already been used; all tokens issued for it are revoked.
  hint: Sign in again: learnctl auth login --profile school --url ${academy.url}
`)
    expect(readValidTokens(home.config)).toBeUndefined()
    expect(readProfiles(home.config)).toEqual({ school: { url: academy.url } })
  })
})

test('a fresh token is sent without anything being loaded that refreshes or stores one', async ({ home }) => {
  const url = 'https://school.example'
  storeProfile(home.config, url, storedTokens(url, { expiresAt: null, lifetimeSeconds: null }))
  const { code, stdout } = await home.learnctl('courses list', 'watched')
  expect(code).toBe(0)
  const loaded: string[] = JSON.parse(stdout)
  const parts = loaded.map((address) => address.replace(/.*\/(src|node_modules)\//, ''))
  expect(parts).toContain('auth/token-source.ts')
  expect(parts.filter((part) => /^(oauth4webapi|conf)\/|^auth\/refresh/.test(part))).toEqual([])
})

/** A platform whose refresh tokens work once: using one again ends the session. */
interface RotatingServer {
  readonly url: string
  /** First tokens of its only session. */
  readonly tokens: StoredTokens
  /** Refresh tokens that it received, in order. */
  readonly refreshed: readonly string[]
  /** False after a used refresh token was sent again. */
  readonly alive: () => boolean
  close(): Promise<void>
}

/**
 * Starts it on a free loopback port. It refuses the first access token, and sends that refusal to the first `crowd`
 * requests at the same moment, when all of them have arrived.
 */
async function startRotatingServer(crowd: number): Promise<RotatingServer> {
  const refreshed: string[] = []
  const waiting: ServerResponse[] = []
  let generation = 1
  let alive = true

  const server = createServer(async (request, response) => {
    if (request.url === '/oauth/token') return send(response, ...(await refresh(request)))
    if (alive && generation > 1 && request.headers.authorization === `Bearer access-${generation}`) {
      return send(response, 200, [])
    }
    waiting.push(response)
    if (refreshed.length === 0 && waiting.length < crowd) return
    for (const one of waiting.splice(0)) send(one, 401, { message: 'Invalid token' })
  })

  async function refresh(request: IncomingMessage): Promise<[status: number, body: object]> {
    const form = new URLSearchParams(await textOf(request))
    const token = form.get('refresh_token') ?? ''
    refreshed.push(token)
    if (token !== `refresh-${generation}`) alive = false
    if (!alive) return [400, { error: 'invalid_grant' }]
    generation += 1
    const access_token = `access-${generation}`
    return [
      200,
      { access_token, token_type: 'Bearer', expires_in: 3600, refresh_token: `refresh-${generation}` },
    ]
  }

  const { url, close } = await listen(server)
  return {
    url,
    tokens: storedTokens(url, { expiresAt: null, lifetimeSeconds: null }),
    refreshed,
    alive: () => alive,
    close,
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
