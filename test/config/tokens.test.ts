import { describe, expect, test } from 'vitest'
import { grantedTokensOf, isFresh } from '../../src/config/profiles.ts'
import { storedTokens } from '../helpers/signed-in.ts'

const url = 'https://school.example'
const noon = Date.parse('2026-03-01T12:00:00.000Z')
const second = 1000
const hour = 3600 * second

const before = { refreshToken: 'old', scopes: ['read', 'write'] }

describe('what a token response grants', () => {
  test('lasts from the asking on', () => {
    expect(grantedTokensOf({ access_token: 'a', expires_in: 60 }, noon, before)).toMatchObject({
      accessToken: 'a',
      expiresAt: '2026-03-01T12:01:00.000Z',
      lifetimeSeconds: 60,
      storedAt: '2026-03-01T12:00:00.000Z',
    })
  })

  test('has no end that is known where the response names none', () => {
    const granted = grantedTokensOf({ access_token: 'a' }, noon, before)
    expect(granted).toMatchObject({ expiresAt: null, lifetimeSeconds: null })
    expect(isFresh(storedTokens(url, granted), noon + 1000 * hour)).toBe(true)
  })

  test('has an end that can be written, however far the response puts it', () => {
    const { expiresAt } = grantedTokensOf({ access_token: 'a', expires_in: 1e300 }, noon, before)
    expect(expiresAt).toMatch(/^2036-/)
  })

  test('keeps the refresh token and the scopes that a response leaves out', () => {
    expect(grantedTokensOf({ access_token: 'a' }, noon, before)).toMatchObject(before)
    expect(grantedTokensOf({ access_token: 'a', scope: '' }, noon, before)).toMatchObject(before)
    const more = { access_token: 'a', refresh_token: 'new', scope: 'read' }
    expect(grantedTokensOf(more, noon, before)).toMatchObject({ refreshToken: 'new', scopes: ['read'] })
  })
})

describe('an access token is refreshed', () => {
  test.each([
    ['an hour, in its last minute', 3600, 60],
    ['ten minutes, in the last one of them', 600, 60],
    ['five minutes, in the last tenth of them', 300, 30],
    ['a second, in the last tenth of it', 1, 0.1],
  ])('of %s', (_, lifetimeSeconds, thresholdSeconds) => {
    const tokens = storedTokens(url, {
      lifetimeSeconds,
      expiresAt: new Date(noon + lifetimeSeconds * second).toISOString(),
    })
    const dueMs = noon + (lifetimeSeconds - thresholdSeconds) * second
    expect([dueMs - 1, dueMs, dueMs + 1].map((now) => isFresh(tokens, now))).toEqual([true, true, false])
  })

  test('in its last minute, where only its end is known', () => {
    const tokens = storedTokens(url, { lifetimeSeconds: null })
    expect(isFresh(tokens, noon + hour - 60 * second)).toBe(true)
    expect(isFresh(tokens, noon + hour - 59 * second)).toBe(false)
  })
})
