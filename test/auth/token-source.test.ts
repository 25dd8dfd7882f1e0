import { describe, expect, test } from 'vitest'
import { SignInError } from '../../src/auth/errors.ts'
import { createTokenSource } from '../../src/auth/token-source.ts'
import { ConfigError } from '../../src/config/errors.ts'
import type { StoredTokens } from '../../src/config/profiles.ts'
import { hour, minute, second, stoppedClock } from '../helpers/academy.ts'
import { storedTokens } from '../helpers/signed-in.ts'

const url = 'https://school.example'

/**
 * A token source with its own clock; a refresh returns `access-2`, then `access-3` and so on, unless it
 * fails.
 */
function sourceOf(given: Partial<StoredTokens> = {}) {
  const clock = stoppedClock()
  const told: string[] = []
  const state = { refreshes: 0, fault: null as Error | null }
  const source = createTokenSource({
    tokens: storedTokens(url, given),
    now: () => clock.now().getTime(),
    refresh: async (held) => {
      state.refreshes += 1
      await new Promise((done) => setImmediate(done))
      if (state.fault) throw state.fault
      const expiresAt = new Date(clock.now().getTime() + hour).toISOString()
      return { ...held, accessToken: `access-${state.refreshes + 1}`, expiresAt }
    },
    onRefreshed: ({ accessToken }) => told.push(accessToken),
  })
  return { source, clock, state, told }
}

describe('the token to send', () => {
  test('is the one that is held while that is fresh', async () => {
    const { source, clock, state } = sourceOf()
    clock.advance(58 * minute)
    expect(await source.current()).toBe('access-1')
    expect(state.refreshes).toBe(0)
  })

  test('is refreshed from the last minute on, and the refresh is reported', async () => {
    const { source, clock, told } = sourceOf()
    clock.advance(59 * minute + second)
    expect(await source.current()).toBe('access-2')
    expect(await source.current()).toBe('access-2')
    expect(told).toEqual(['access-2'])
  })

  test('is refreshed once for all who ask for it at the same time', async () => {
    const { source, clock, state } = sourceOf()
    clock.advance(2 * hour)
    const all = await Promise.all([source.current(), source.current(), source.after('access-1')])
    expect(all).toEqual(['access-2', 'access-2', 'access-2'])
    expect(state.refreshes).toBe(1)
  })

  test('is the one that is held where nothing can refresh it: the platform has the last word', async () => {
    const { source, clock, state } = sourceOf({ refreshToken: null })
    clock.advance(2 * hour)
    expect(await source.current()).toBe('access-1')
    expect(await source.after('access-1')).toBeNull()
    expect(state.refreshes).toBe(0)
  })

  test('is not refreshed ahead if its end is unknown', async () => {
    const { source, clock, state } = sourceOf({ expiresAt: null, lifetimeSeconds: null })
    clock.advance(1000 * hour)
    expect(await source.current()).toBe('access-1')
    expect(await source.after('access-1')).toBe('access-2')
    expect(state.refreshes).toBe(1)
  })
})

describe('a refresh that fails', () => {
  const passing = [
    new SignInError('server_unavailable', 'busy'),
    new SignInError('answer_unusable', 'a page'),
    new ConfigError('config_locked', 'held'),
  ]
  const lasting = [
    new SignInError('signed_out', 'gone'),
    new SignInError('token_refused', 'no'),
    new Error('x'),
  ]

  test.each(passing)('for a while ($message) leaves the token in use while it lasts', async (fault) => {
    const { source, clock, state } = sourceOf()
    state.fault = fault
    clock.advance(59 * minute + 30 * second)
    expect(await source.current()).toBe('access-1')
    expect(await source.current()).toBe('access-1')
    expect(state.refreshes).toBe(1)
    clock.advance(minute)
    await expect(source.current()).rejects.toBe(fault)
    state.fault = null
    expect(await source.current()).toBe('access-4')
  })

  test.each(lasting)('for good ($message) is the error at once', async (fault) => {
    const { source, clock, state } = sourceOf()
    state.fault = fault
    clock.advance(59 * minute + 30 * second)
    await expect(source.current()).rejects.toBe(fault)
  })

  test.each([...passing, ...lasting])('after a refusal ($message) is the error', async (fault) => {
    const { source, state } = sourceOf()
    state.fault = fault
    await expect(source.after('access-1')).rejects.toBe(fault)
  })
})

describe('after a refusal', () => {
  test('a token that was refreshed meanwhile is given at once', async () => {
    const { source, state } = sourceOf()
    expect(await source.after('access-1')).toBe('access-2')
    expect(await source.after('access-1')).toBe('access-2')
    expect(state.refreshes).toBe(1)
  })

  test('the new one can be refused as well', async () => {
    const { source } = sourceOf()
    expect(await source.after('access-1')).toBe('access-2')
    expect(await source.after('access-2')).toBe('access-3')
  })
})

test('a source has settled when no refresh is under way, however that ended', async () => {
  const { source, clock, state, told } = sourceOf()
  await source.settled()
  clock.advance(2 * hour)
  const current = source.current()
  await source.settled()
  expect(told).toEqual(['access-2'])
  await current
  state.fault = new Error('no')
  const failing = expect(source.after('access-2')).rejects.toThrow('no')
  await source.settled()
  await failing
})
