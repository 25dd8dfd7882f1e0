import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import type { Transport } from '../../../src/contract/http.ts'
import { test as base, type TestCli, testCli, transportTo } from '../../helpers/cli.ts'
import { storedTokens, storeProfile } from '../../helpers/signed-in.ts'

const url = 'https://school.example'
const start = Date.parse('2026-03-01T12:00:00.000Z')

/**
 * A platform whose requests are counted and can be delayed, and the program signed in to it with a key. Time stands still for
 * the deadline of completion until the platform is silent.
 */
const test = base.extend('school', async ({ academy, admin }, { onCleanup }) => {
  const asked: string[] = []
  const state = { now: start, isSilent: false }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answer = transportTo(academy)
  const transport: Transport = (request) => {
    asked.push(new URL(request.url).pathname)
    return state.isSilent ? new Promise(() => {}) : answer(request)
  }
  const cli = testCli({
    transport,
    now: () => state.now,
    env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: admin.key },
  })
  onCleanup(() => {
    vi.useRealTimers()
    cli.remove()
  })
  for (const [title, id] of [
    ['Biology', 'BIO'],
    ['Chemistry', 'CHE'],
  ]) {
    await cli.run(`courses create --title ${title} --external-id ${id}`)
  }
  asked.length = 0
  const silence = () => {
    state.isSilent = true
    vi.useRealTimers()
  }
  return { cli, asked, state, silence, folder: join(cli.home, '.local/state/learnctl/completion') }
})

async function words(cli: TestCli, line: string, env: Record<string, string> = {}): Promise<string[]> {
  const { code, stdout, stderr } = await cli.run(['__complete', 'fish', `learnctl ${line}`], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .split('\n')
    .slice(1, -1)
    .map((each) => each.split('\t')[0] ?? '')
    .sort()
}

describe('a platform elsewhere', () => {
  test('is asked once in five minutes', async ({ school: { cli, asked, state } }) => {
    expect(await words(cli, 'courses get ')).toEqual(['ext:BIO', 'ext:CHE'])
    expect(await words(cli, 'courses update ext:C')).toEqual(['ext:CHE'])
    expect(asked).toEqual(['/v1/courses'])
    state.now += 301_000
    await words(cli, 'courses get ')
    expect(asked).toHaveLength(2)
  })

  test('is asked again for what is not known, but not at every key', async ({
    school: { cli, asked, state },
  }) => {
    await words(cli, 'courses get ')
    await cli.run('courses create --title Drama --external-id DRA')
    asked.length = 0
    expect(await words(cli, 'courses get ext:D')).toEqual([])
    expect(asked).toEqual([])
    state.now += 16_000
    expect(await words(cli, 'courses get ext:D')).toEqual(['ext:DRA'])
    expect(await words(cli, 'courses get ext:X')).toEqual([])
    expect(asked).toHaveLength(1)
  })

  test('that does not answer is waited for a moment, and not at the next key', { tags: ['slow'] }, async ({
    school: { cli, asked, silence },
  }) => {
    silence()
    expect(await words(cli, 'courses get ')).toEqual([])
    expect(await words(cli, 'courses get ')).toEqual([])
    expect(asked).toHaveLength(1)
  })

  test('is offered as a list showed it, without a request', { tags: ['slow'] }, async ({
    school: { cli, asked, state, silence },
  }) => {
    await cli.run('courses list --limit 1 -q')
    silence()
    asked.length = 0
    const shown = await words(cli, 'courses get ')
    expect(shown).toHaveLength(1)
    state.now += 601_000
    expect(await words(cli, 'courses get ')).toEqual([])
  })

  test('is asked nothing without a credential, or with one for elsewhere', async ({
    school: { cli, asked },
  }) => {
    expect(await words(cli, 'courses get ', { LEARNCTL_API_KEY: '' })).toEqual([])
    expect(await words(cli, '--url http://school.example courses get ')).toEqual([])
    expect(asked).toEqual([])
  })

  test('is not mixed up with another, and leaves nothing behind after sign-out', async ({
    admin,
    school: { cli, asked, folder },
  }) => {
    const env = { LEARNCTL_URL: '', LEARNCTL_API_KEY: '' }
    await cli.run(`auth login --with-key --url ${url}`, { stdin: admin.key, env })
    expect(await words(cli, 'courses get ', env)).toEqual(['ext:BIO', 'ext:CHE'])
    const [name = ''] = readdirSync(folder)
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain(admin.key)
    asked.length = 0
    await words(cli, '--url https://other.example courses get ')
    expect(asked).toHaveLength(1)
    expect(await cli.run('auth logout', { env })).toMatchObject({ code: 0 })
    expect(existsSync(folder)).toBe(false)
  })
})

describe('a session that has to be renewed', () => {
  test('is left as it is: a key signs in no user and refreshes no token', { tags: ['slow'] }, async ({
    admin,
    school: { cli, asked },
  }) => {
    const env = { LEARNCTL_URL: '', LEARNCTL_API_KEY: '' }
    const expired = { accessToken: admin.key, expiresAt: '2026-03-01T11:59:00.000Z' }
    storeProfile(cli.config, url, storedTokens(url, expired), 'work')
    asked.length = 0
    expect(await words(cli, 'courses get ', env)).toEqual([])
    expect(asked).toEqual([])
  })
})
