import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readProfiles, storeProfile, tokensIn } from '../../helpers/signed-in.ts'
import { expired, readValidTokens, runAtOnce, success, test } from './sharing-processes.ts'

describe('four processes with one profile', () => {
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
