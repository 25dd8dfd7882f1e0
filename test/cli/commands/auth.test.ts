import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { newCredential } from '../../../src/server/secret.ts'
import { test } from '../../helpers/cli.ts'

const login = 'auth login --with-key --url https://school.example'

describe('a stored key', () => {
  test('goes to no other origin', async ({ remote, admin, academy }) => {
    await remote.run(login, { stdin: admin.key })
    const before = academy.logged.length
    for (const place of [
      '--url https://evil.example',
      '--url http://school.example',
      '--url https://school.example:8443',
    ]) {
      const { code, stderr } = await remote.run(`courses list ${place}`)
      expect(code).toBe(4)
      expect(stderr).toContain('was stored for https://school.example and goes nowhere else')
    }
    expect(await remote.run('courses list', { env: { LEARNCTL_URL: 'https://evil.example' } })).toMatchObject(
      { code: 4 },
    )
    writeFileSync(join(remote.cwd, 'learnctl.json'), '{"url": "https://evil.example"}')
    expect(await remote.run('courses list')).toMatchObject({ code: 2 })
    expect(academy.logged).toHaveLength(before)
  })

  test('is never shown', async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    const lines = [
      'auth status -o json',
      'profiles list -o json',
      'profiles show',
      'courses list --debug',
      'courses list --dry-run',
    ]
    for (const line of lines) {
      const { stdout, stderr } = await remote.run(line)
      expect(stdout + stderr).not.toContain(admin.key)
      expect(stdout + stderr).not.toContain(admin.key.slice(4, 34))
    }
    expect(readFileSync(join(remote.config, 'profiles.json'), 'utf8')).toContain(admin.key)
  })

  test('is forgotten by auth logout, which says what is still set', async ({ remote, admin }) => {
    await remote.run(login, { stdin: admin.key })
    const out = await remote.run('auth logout', { env: { LEARNCTL_API_KEY: 'other' } })
    expect(out.stderr).toBe(
      'note: profile school-example holds no credential any more\nnote: LEARNCTL_API_KEY is still set\n',
    )
    expect(readFileSync(join(remote.config, 'profiles.json'), 'utf8')).not.toContain(admin.key)
    expect(await remote.run('courses list')).toMatchObject({ code: 4, stdout: '' })
  })
})

describe('auth status', () => {
  test('shows which credential is used and which is not', async ({ remote, admin, instructor }) => {
    await remote.run(login, { stdin: admin.key })
    const { stdout } = await remote.run('auth status -o json', { env: { LEARNCTL_API_KEY: instructor.key } })
    expect(JSON.parse(stdout)).toMatchObject({
      profile: 'school-example',
      academy: 'https://school.example',
      chosenBy: 'the active profile school-example',
      credential: {
        kind: 'api_key',
        value: `lpk_***${instructor.key.slice(-4)}`,
        from: 'LEARNCTL_API_KEY',
        insteadOf: ['profile school-example'],
      },
      user: { role: 'instructor' },
    })
  })

  test('shows a local academy as well', async ({ local }) => {
    const { stdout } = await local.run('auth status -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      profile: null,
      academy: join(local.cwd, 'academy.db'),
      chosenBy: 'LEARNCTL_DATABASE',
      credential: null,
      user: { role: 'admin', authMethod: 'local' },
    })
  })

  test('with no academy exits 4 and names the two ways on', async ({ cli }) => {
    const { code, stdout, stderr } = await cli.run('auth status')
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toContain('learnctl auth login --url <address>')
    expect(stderr).toContain('learnctl quickstart')
  })
})

test('a refused key is answered with where it came from and what it shadows', async ({ remote, admin }) => {
  await remote.run(login, { stdin: admin.key })
  const { code, stderr } = await remote.run('courses list', {
    env: { LEARNCTL_API_KEY: newCredential('apiKey') },
  })
  expect(code).toBe(4)
  expect(stderr).toContain('the API key from LEARNCTL_API_KEY was sent to https://school.example')
  expect(stderr).toContain('it keeps the one from profile school-example from being used')
})

test('a key and a token together are refused', async ({ remote }) => {
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'a', LEARNCTL_ACCESS_TOKEN: 'b' }
  expect(await remote.run('courses list', { env })).toMatchObject({ code: 2, stdout: '' })
})
