import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { newCredential } from '../../../src/server/access/secret.ts'
import { test } from '../../helpers/cli.ts'
import { expectClearError } from '../../helpers/result.ts'

const login = 'auth login --with-key --url https://school.example'

describe('auth login', () => {
  test('stores a key that works, and is signed in from then on', async ({ remote, admin }) => {
    const { code, stdout, stderr } = await remote.run(login, { stdin: `${admin.key}\n` })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(
      /^Signed in to https:\/\/school\.example as admin-1@.+; profile school-example is now active/,
    )
    expect(await remote.run('courses list -o json')).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(statSync(join(remote.config, 'profiles.json')).mode & 0o777).toBe(0o600)
  })

  test('asks for the key on a terminal and does not show it', async ({ remote, admin }) => {
    const { code, stderr } = await remote.run(login, { tty: 80, typed: [`${admin.key}\r`] })
    expect(code).toBe(0)
    expect(stderr).toContain('API key:')
    expect(stderr).not.toContain(admin.key)
  })

  test('signs in again where the profile already says where', async ({ remote, admin }) => {
    await remote.run('profiles add school --url https://school.example/v1/')
    expect(await remote.run('auth login --with-key', { stdin: admin.key })).toMatchObject({ code: 0 })
    expect((await remote.run('auth status --columns profile,location')).stdout).toBe(
      'school\thttps://school.example\n',
    )
  })

  test('stores nothing where the key is refused', async ({ remote }) => {
    const { code, stderr } = await remote.run(login, { stdin: newCredential('apiKey') })
    expect(code).toBe(4)
    expect(stderr).toContain('The API key from auth login was sent to https://school.example')
    expect((await remote.run('profiles list')).stdout).toBe('')
  })

  test.for([
    ['', 'No API key'],
    ['two words', 'it contains spaces'],
    ['lpk_abc', 'its checksum does not match'],
    [`${newCredential('apiKey').slice(0, -1)}!`, 'its checksum does not match'],
    [
      newCredential('apiKey').replace(/^lpk_./, (start) => (start === 'lpk_a' ? 'lpk_b' : 'lpk_a')),
      'its checksum does not match',
    ],
  ])('refuses %j without sending it', async ([stdin = '', message = ''], { remote, academy }) => {
    const { code, stderr } = await remote.run(login, { stdin })
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(academy.logged).toEqual([])
  })

  test('is refused for a local academy, and without a way to sign in', async ({ cli }) => {
    expect(await cli.run('auth login --with-key --database a.db', { stdin: 'k' })).toMatchObject({ code: 2 })
    expect(await cli.run('auth login')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('learnctl auth login --with-key'),
    })
  })

  test('leaves the profile of a local academy what it is', async ({ remote, admin, academy }) => {
    await remote.run('profiles add here --database here.db')
    const ran = await remote.run(`${login} --profile here`, { stdin: admin.key })
    expectClearError(ran, 2, 'Profile here is a local academy (')
    expect(ran.stderr).toMatch(
      / {2}hint: .*learnctl auth login --profile <name> --url https:\/\/school\.example\n$/,
    )
    expect(JSON.parse((await remote.run('profiles get here -o json')).stdout)).toMatchObject({
      location: join(remote.cwd, 'here.db'),
    })
    expect(academy.logged.filter(({ path }) => path === '/v1/user/profile')).toEqual([])
  })

  test('sends no key over plain http to another machine', async ({ remote, admin, academy }) => {
    const { code, stderr } = await remote.run('auth login --with-key --url http://school.example', {
      stdin: admin.key,
    })
    expect(code).toBe(2)
    expect(stderr).toContain('--insecure-http')
    expect(academy.logged.filter(({ path }) => path === '/v1/user/profile')).toEqual([])
  })

  test('shows what it would send, the key masked, under --dry-run', async ({ remote, admin }) => {
    const { stdout } = await remote.run(`${login} --dry-run`, { stdin: admin.key })
    expect(stdout).toMatch(
      /^GET https:\/\/school\.example\/v1\/user\/profile\nauthorization: Bearer \*\*\*\n/,
    )
    expect((await remote.run('profiles list')).stdout).toBe('')
  })
})
