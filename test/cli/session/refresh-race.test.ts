import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect, vi } from 'vitest'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import { openAcademyFile } from '../../../src/server/academy.ts'
import { localPrincipal } from '../../../src/server/access/identify.ts'
import { visit } from '../../auth/school.ts'
import { startOidcProvider } from '../../foreign-servers/oidc-provider.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { testCli } from '../../helpers/cli.ts'
import { bin, type Ended, run } from '../../helpers/process.ts'
import { startRotatingServer } from '../../helpers/rotating-server.ts'
import { readProfiles, signedIn, storedTokens, storeProfile, tokensIn } from '../../helpers/signed-in.ts'
import { startServer } from '../../server/socket/served.ts'

// Whole processes take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const source = (name: string) => JSON.stringify(new URL(`../../../src/cli/${name}.ts`, import.meta.url).href)

/** The program, killed as soon as the whole answer to a refresh is there. */
const deadly = `import { main } from ${source('main')}
import { processIo } from ${source('terminal/io')}
import { transports } from ${source('session/session')}
const remote = async (io) => {
  const transport = await transports.remote(io)
  const send = async (request) => {
    const reply = await transport(request)
    if (!request.url.endsWith('/oauth/token')) return reply
    for await (const _ of reply.body) {}
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  }
  return Object.assign(send, { close: transport.close })
}
process.exitCode = await main(process.argv.slice(2), processIo(), { ...transports, remote })`

/** The program over a network where every list is empty, and the names of all modules that it has loaded. */
const watched = `import { registerHooks } from 'node:module'
const loaded = []
registerHooks({
  resolve(name, context, next) {
    const found = next(name, context)
    loaded.push(found.url)
    return found
  },
})
const { main } = await import(${source('main')})
const { processIo } = await import(${source('terminal/io')})
const { transports } = await import(${source('session/session')})
const remote = async () => Object.assign(async () => ({ status: 200, headers: {}, body: '[]' }), { close: async () => {} })
process.exitCode = await main(process.argv.slice(2), processIo(), { ...transports, remote })
console.log(JSON.stringify(loaded))`

/** A home for processes that share one profile. */
const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const directory = freshDirectory()
    onCleanup(directory.remove)
    const config = join(directory.path, 'config')
    writeFileSync(join(directory.path, 'deadly.mjs'), deadly)
    writeFileSync(join(directory.path, 'watched.mjs'), watched)
    const learnctl = (words: string, script?: 'deadly' | 'watched'): Promise<Ended> =>
      run(process.execPath, [script ? join(directory.path, `${script}.mjs`) : bin, ...words.split(' ')], {
        cwd: directory.path,
        env: { HOME: directory.path, LEARNCTL_CONFIG_DIR: config },
      })
    return { path: directory.path, config, learnctl }
  })
  .extend('academy', async ({ home }, { onCleanup }) => {
    const path = join(home.path, 'academy.db')
    let time = Date.now()
    const now = () => new Date(time)
    const served = await startServer(path, { now })
    onCleanup(() => served.stop())
    const { database } = await openAcademyFile(path, now)
    const { userId } = await localPrincipal(database)
    const tokens = await signedIn(database, { userId, url: served.address, now })
    await database.close()
    return {
      url: served.address,
      tokens,
      /** Puts the academy's clock on, which stands still otherwise. */
      wait: (ms: number) => {
        time += ms
      },
      refreshes: () => served.log.filter((line) => line.includes('/oauth/token')).length,
    }
  })

const past = '2020-01-01T00:00:00.000Z'
const good = { code: 0, signal: null, stderr: '' }

/** So many processes at once, on whatever processors there are. */
function atOnce(count: number, start: () => Promise<Ended>): Promise<Ended[]> {
  return Promise.all(Array.from({ length: count }, start))
}

/** Expects the directory to hold the profiles alone, whole and closed to others; gives the tokens in them. */
function wholeFile(config: string): StoredTokens | undefined {
  expect(readdirSync(config)).toEqual(['profiles.json'])
  expect(statSync(join(config, 'profiles.json')).mode & 0o777).toBe(0o600)
  return tokensIn(config)
}

describe('four processes with one profile', () => {
  test('ask once for a token that was refused to all of them, and none fails', async ({
    home,
    onTestFinished,
  }) => {
    const server = await startRotatingServer(4)
    onTestFinished(() => server.close())
    storeProfile(home.config, server.url, server.tokens)
    for (const { code, stderr } of await atOnce(4, () => home.learnctl('courses list'))) {
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: '' })
    }
    expect(server.refreshed).toEqual(['refresh-1'])
    expect(server.alive()).toBe(true)
    expect(wholeFile(home.config)).toMatchObject({ accessToken: 'access-2', refreshToken: 'refresh-2' })
  })

  test('ask an academy once for a token that has ended, and the session lives', async ({ home, academy }) => {
    for (const [round, together] of [
      [1, 4],
      [2, 1],
    ] as const) {
      const tokens = tokensIn(home.config) ?? academy.tokens
      storeProfile(home.config, academy.url, { ...tokens, expiresAt: past })
      for (const ended of await atOnce(together, () => home.learnctl('courses list')))
        expect(ended).toMatchObject(good)
      expect(academy.refreshes()).toBe(round)
      expect(wholeFile(home.config)?.refreshToken).not.toBe(tokens.refreshToken)
    }
  })
})

test('four processes leave a session of oidc-provider alive, which two refreshes at once would end', async ({
  home,
  onTestFinished,
}) => {
  const server = await startOidcProvider()
  onTestFinished(() => server.close())
  const browser = plainBrowser(fetch, server.url)
  const approve = async (address: string) => {
    const { leadsTo } = await browser.open(address)
    if (leadsTo !== null) await visit(leadsTo)
  }
  const person = testCli({
    now: Date.now,
    // The five minutes for a sign-in, which is there at once.
    sleep: (_, signal) => new Promise((_resolve, reject) => signal?.addEventListener('abort', reject)),
    openBrowser: async (address) => {
      // The last page comes only after the program has gone on.
      void approve(address)
    },
    env: { DISPLAY: ':0' },
  })
  onTestFinished(() => person.remove())
  expect(await person.run(`auth login --url ${server.url} --profile school`)).toMatchObject({ code: 0 })
  const tokens = tokensIn(person.config)
  storeProfile(home.config, server.url, tokens && { ...tokens, expiresAt: past })
  const printed = (await atOnce(4, () => home.learnctl('auth token'))).map(({ stdout }) => stdout)
  expect(printed).toEqual(Array.from({ length: 4 }, () => `${wholeFile(home.config)?.accessToken}\n`))
  expect(printed[0]).not.toContain(tokens?.accessToken)
  expect(await home.learnctl('users me')).toMatchObject(good)
})

const killed = test.extend('before', async ({ home, academy }) => {
  const tokens = { ...academy.tokens, expiresAt: past }
  storeProfile(home.config, academy.url, tokens)
  expect(await home.learnctl('courses list', 'deadly')).toMatchObject({ signal: 'SIGKILL', stdout: '' })
  expect(academy.refreshes()).toBe(1)
  return tokens
})

describe('a process that is killed between the answer to its refresh and the write', () => {
  killed(
    'leaves a whole file, and a command within ten seconds goes on with the session',
    async ({ home, academy, before }) => {
      expect(tokensIn(home.config)).toEqual(before)
      expect(statSync(join(home.config, 'profiles.json')).mode & 0o777).toBe(0o600)
      for (const _ of [1, 2]) expect(await home.learnctl('courses list')).toMatchObject(good)
      expect(academy.refreshes()).toBe(2)
    },
  )

  killed(
    'leaves a whole file, and a later command says plainly to sign in again',
    async ({ home, academy, before }) => {
      expect(tokensIn(home.config)).toEqual(before)
      expect(statSync(join(home.config, 'profiles.json')).mode & 0o777).toBe(0o600)
      academy.wait(11_000)
      const { code, stdout, stderr } = await home.learnctl('courses list')
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
      expect(stderr).toBe(`error: The session at ${academy.url} has ended
  ${new URL(academy.url).host} says: invalid_grant: The refresh token has already been used; all tokens issued for it are revoked.
  hint: Sign in again: learnctl auth login --profile school --url ${academy.url}
`)
      expect(wholeFile(home.config)).toBeUndefined()
      expect(readProfiles(home.config)).toEqual({ school: { url: academy.url } })
    },
  )
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
