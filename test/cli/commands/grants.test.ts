import { describe, expect } from 'vitest'
import { test as base } from '../../helpers/cli.ts'
import { expectClearError, resultOf } from '../../helpers/result.ts'
import { createGrant } from '../../helpers/signed-in.ts'

/** The program, signed in with the key of an admin or of another user. */
const test = base
  .extend('learnersKey', ({ learner }) => as(learner.key))
  .extend('adminsKey', ({ admin }) => as(admin.key))

function as(key: string) {
  return { env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key } }
}

describe('auth grants', () => {
  test('list shows one’s own, or a user’s', async ({ remote, academy, learner, learnersKey, adminsKey }) => {
    const { id } = await createGrant(academy, { userId: learner.id, scopes: ['read', 'write'] })
    const grant = {
      id,
      userId: learner.id,
      clientId: 'learnctl',
      clientName: 'learnctl',
      scopes: ['read', 'write'],
      createdAt: '2026-03-01T12:00:00.000Z',
      lastUsedAt: null,
      expiresAt: '2026-05-30T12:00:00.000Z',
    }
    expect(await resultOf(remote, 'auth grants list', learnersKey)).toEqual([grant])
    expect(await resultOf(remote, `auth grants list --user email:${learner.email}`, adminsKey)).toEqual([
      grant,
    ])
    expect(await resultOf(remote, 'auth grants list', adminsKey)).toEqual([])
    expect((await remote.run('auth grants list -q', learnersKey)).stdout).toBe(`${id}\n`)
    const { stdout } = await remote.run('auth -o csv grants list --columns clientName,scopes', learnersKey)
    expect(stdout.split('\r\n')[0]).toBe('clientName,scopes')
  })

  test('revoke ends one, after a yes', async ({ remote, academy, learner, learnersKey }) => {
    const { id } = await createGrant(academy, { userId: learner.id })
    expectClearError(await remote.run(`auth grants revoke ${id}`, learnersKey), 2, 'hint: Confirm with --yes')
    const asked = await remote.run(`auth grants revoke ${id}`, { ...learnersKey, tty: 200, typed: ['y\r'] })
    expect(asked.code).toBe(0)
    expect(asked.stderr).toMatch(new RegExp(`Revoke grant .* \\(${id}\\) on school.example\\?`))
    expect(await resultOf(remote, 'auth grants list', learnersKey)).toEqual([])
    expect(await remote.run(`auth grants revoke ${id} --yes`, learnersKey)).toEqual({
      code: 0,
      stdout: '',
      stderr: `Revoked grant ${id}\n`,
    })
    expectClearError(await remote.run('auth grants revoke gnt_none --yes', learnersKey), 3, 'gnt_none')
  })
})
