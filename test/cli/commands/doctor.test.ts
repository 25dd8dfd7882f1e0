import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import type { HttpResponse } from '../../../src/contract/http.ts'
import { day } from '../../helpers/academy.ts'
import { type TestCli, test, testCli, transportTo } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran, resultOf } from '../../helpers/result.ts'
import { startSession, storeProfile } from '../../helpers/signed-in.ts'

const url = 'https://school.example'
const withKey = (key: string) => ({ env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } })

/** Returns the outcome of each check, as `check: status`. */
async function outcomes(cli: TestCli, options = {}): Promise<string[]> {
  const { stdout } = await cli.run('doctor --columns check,status', options)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace('\t', ': '))
}

describe('of a local academy', () => {
  test('finds everything in order', async ({ cli }) => {
    await cli.run('profiles add local --database academy.db')
    await putNewAcademy(join(cli.cwd, 'academy.db'))
    await cli.run('courses create --title Sea')
    expect(await cli.run('doctor')).toMatchObject({ code: 0, stderr: '' })
    expect(await outcomes(cli)).toEqual([
      'Runtime: ok',
      'Configuration: ok',
      'Configuration: ok',
      'Academy: ok',
      'Database: ok',
      'Encryption: ok',
    ])
  })

  test('warns of files that others can read, in full on a terminal', async ({ cli }) => {
    await cli.run('profiles add local --database academy.db')
    await putNewAcademy(join(cli.cwd, 'academy.db'))
    chmodSync(join(cli.config, 'profiles.json'), 0o644)
    const { stdout } = await ran(cli, 'doctor -o json')
    expect(JSON.parse(stdout)).toContainEqual({
      check: 'Configuration',
      status: 'warning',
      detail: `${cli.config}/profiles.json is readable by others (0644); run: chmod 600 ${cli.config}/profiles.json`,
    })
    chmodSync(cli.config, 0o755)
    const { stdout: shown } = await cli.run('doctor --color never', { tty: 80 })
    expect(shown).toMatch(/^ {2}ok {7}Runtime {8}Node v/)
    expect(shown.replace(/\n {8,}/g, ' ')).toMatch(
      /^ {2}warning {2}Configuration {2}.+ is readable by others \(0755\); run: chmod 700 \S+$/m,
    )
  })

  test('finds a database that is damaged', { tags: ['slow'] }, async ({ cli }) => {
    await cli.run('profiles add local --database academy.db')
    await putNewAcademy(join(cli.cwd, 'academy.db'))
    for (const title of ['Sea', 'Land']) await cli.run(`courses create --title ${title}`)
    const file = join(cli.cwd, 'academy.db')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0x5a, 8192))
    const { stderr } = await ran(cli, 'doctor', 1)
    expect(stderr).toMatch(/^error: 1 of 5 checks failed\n {2}Database: .+/)
  })
})

describe('of a platform elsewhere', () => {
  test('tells who one is there, with which rights', async ({ remote, instructor }) => {
    expect(await resultOf(remote, 'doctor', withKey(instructor.key))).toMatchObject([
      { check: 'Runtime' },
      { check: 'Configuration', detail: `${remote.config}/profiles.json does not exist yet` },
      { check: 'Configuration' },
      { check: 'Platform', status: 'ok', detail: `${url} (from LEARNCTL_URL)` },
      { check: 'Connection', status: 'ok', detail: 'responded in 0 ms' },
      {
        check: 'Credential',
        status: 'ok',
        detail: 'instructor-1@school.example (instructor), scopes: read write',
      },
    ])
  })

  test('tells which credential was refused by name', { tags: ['slow'] }, async ({ remote, admin, clock }) => {
    const { key } = await resultOf(
      remote,
      'keys create --name short --expires-at 2026-03-02T00:00:00Z',
      withKey(admin.key),
    )
    clock.advance(2 * day)
    const { stdout, stderr } = await ran(remote, 'doctor', 1, withKey(key))
    expect(stderr).toMatch(/^error: 1 of 5 checks failed\n {2}Connection: .*expired/)
    expect(stderr).toContain(`The API key from LEARNCTL_API_KEY was sent to ${url}`)
    expect(stdout + stderr).not.toContain(key)
  })

  test('tells how long a session lasts, and how it goes on', async ({ academy, admin, clock }) => {
    const cli = testCli({ transport: transportTo(academy), now: () => clock.now().getTime() })
    const tokens = await startSession(academy.database, { userId: admin.id, url, now: clock.now })
    const again = '; it cannot be refreshed; sign in again then: learnctl auth login'
    const kinds: [Partial<StoredTokens>, string, string][] = [
      [{}, 'ok', 'expires at 2026-03-01T13:00:00.000Z (in 60 min); it is refreshed automatically'],
      [{ refreshToken: null }, 'warning', `expires at 2026-03-01T13:00:00.000Z (in 60 min)${again}`],
      [{ expiresAt: null, refreshToken: null }, 'warning', `has no known expiry${again}`],
    ]
    for (const [given, status, detail] of kinds) {
      storeProfile(cli.config, url, { ...tokens, ...given })
      const finding = { check: 'Session', status, detail: `Access token ${detail}` }
      expect(await resultOf(cli, 'doctor')).toContainEqual(finding)
    }
    cli.remove()
  })

  test('warns of a clock that is wrong', async ({ academy, admin }) => {
    const transport = transportTo(academy)
    const dated = async (...call: Parameters<typeof transport>): Promise<HttpResponse> => {
      const response = await transport(...call)
      return { ...response, headers: { ...response.headers, date: 'Sun, 01 Mar 2026 11:57:00 GMT' } }
    }
    const cli = testCli({ transport: dated })
    const { code, stdout } = await cli.run('doctor -o json', withKey(admin.key))
    cli.remove()
    expect(code).toBe(0)
    expect(JSON.parse(stdout).at(-1)).toEqual({
      check: 'Clock',
      status: 'warning',
      detail: 'The clock of this machine is 3 min ahead of the server; correct it',
    })
  })
})

test('without an academy names the ways to one', async ({ cli }) => {
  const { stderr } = await ran(cli, 'doctor', 1)
  expect(stderr).toMatch(
    /^error: 1 of 4 checks failed\n {2}Platform: No platform or academy is selected \(Sign in with /,
  )
  expect(await outcomes(cli)).toContain('Platform: failed')
})

test('with damaged profiles says which file it is', async ({ cli }) => {
  mkdirSync(cli.config, { recursive: true, mode: 0o700 })
  writeFileSync(join(cli.config, 'profiles.json'), '{"version": 1,', { mode: 0o600 })
  const { stderr } = await ran(cli, 'doctor', 1)
  expect(stderr).toContain(`Platform: ${cli.config}/profiles.json is damaged: it is not JSON`)
})

test('names a proxy that will be used', async ({ local }) => {
  const { stdout } = await local.run('doctor', {
    env: { HTTPS_PROXY: 'http://user:secret@proxy.example:3128' },
  })
  expect(stdout).toContain('Proxy\tok\thttp://proxy.example:3128 (from HTTPS_PROXY, with credentials)\n')
  expect(stdout).not.toContain('secret')
})
