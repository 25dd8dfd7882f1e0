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
  const state = { isSilent: false }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answer = transportTo(academy)
  const transport: Transport = (request) => {
    asked.push(new URL(request.url).pathname)
    return state.isSilent ? new Promise(() => {}) : answer(request)
  }
  const cli = testCli({
    transport,
    now: () => start,
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
  return { cli, asked, silence }
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
  test('is asked each time, so that a new record is offered', async ({ school: { cli, asked } }) => {
    expect(await words(cli, 'courses get ')).toEqual(['ext:BIO', 'ext:CHE'])
    await cli.run('courses create --title Drama --external-id DRA')
    asked.length = 0
    expect(await words(cli, 'courses update ext:D')).toEqual(['ext:DRA'])
    expect(asked).toEqual(['/v1/courses'])
  })

  test('that does not answer is waited for a moment', { tags: ['slow'] }, async ({
    school: { cli, asked, silence },
  }) => {
    silence()
    expect(await words(cli, 'courses get ')).toEqual([])
    expect(asked).toHaveLength(1)
  })

  test('is asked nothing without a credential, or with one for elsewhere', async ({
    school: { cli, asked },
  }) => {
    expect(await words(cli, 'courses get ', { LEARNCTL_API_KEY: '' })).toEqual([])
    expect(await words(cli, '--url http://school.example courses get ')).toEqual([])
    expect(asked).toEqual([])
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
