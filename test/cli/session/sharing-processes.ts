import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { localPrincipal } from '../../../src/server/access/identify.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { bin, type Ended, run } from '../../helpers/process.ts'
import { startSession, tokensIn } from '../../helpers/signed-in.ts'
import { startServer } from '../../server/socket/served.ts'

const source = (name: string) => JSON.stringify(new URL(`../../../src/cli/${name}.ts`, import.meta.url).href)

/** The program, killed as soon as it has received the response to a refresh. */
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

/** A test with processes that share a profile, and an academy that they are signed in to. */
export const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const directory = freshDirectory()
    onCleanup(directory.remove)
    const config = join(directory.path, 'config')
    writeFileSync(join(directory.path, 'deadly.mjs'), deadly)
    const learnctl = (words: string, script?: 'deadly'): Promise<Ended> =>
      run(process.execPath, [script ? join(directory.path, 'deadly.mjs') : bin, ...words.split(' ')], {
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
    const tokens = await startSession(database, { userId, url: served.address, now })
    await database.close()
    return {
      url: served.address,
      tokens,
      /** Advances the academy's clock, which otherwise stands still. */
      wait: (ms: number) => {
        time += ms
      },
      refreshes: () => served.log.filter((line) => line.includes('/oauth/token')).length,
    }
  })

/** A time at which every access token has expired. */
export const expired = '2020-01-01T00:00:00.000Z'
/** Result of a successful process. */
export const success = { code: 0, signal: null, stderr: '' }

/** Runs a number of processes at once. */
export function runAtOnce(count: number, start: () => Promise<Ended>): Promise<Ended[]> {
  return Promise.all(Array.from({ length: count }, start))
}

/** Expects only valid, private profiles in the directory; returns their tokens. */
export function readValidTokens(config: string): StoredTokens | undefined {
  expect(readdirSync(config)).toEqual(['profiles.json'])
  expect(statSync(join(config, 'profiles.json')).mode & 0o777).toBe(0o600)
  return tokensIn(config)
}
