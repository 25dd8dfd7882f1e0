import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { type RefreshOptions, refreshTokens } from '../../src/auth/refresh-tokens.ts'
import { ConfigError } from '../../src/config/errors.ts'
import { createProfileStore, type StoredCredential, withCredential } from '../../src/config/profiles.ts'
import { freshDirectory } from '../helpers/academy.ts'
import { readProfiles, storedTokens, storeProfile, tokensIn } from '../helpers/signed-in.ts'

const url = 'https://school.example'
const old = storedTokens(url)
const next = storedTokens(url, { accessToken: 'access-2', refreshToken: 'refresh-2' })
const granted = () =>
  Response.json({
    access_token: 'access-2',
    refresh_token: 'refresh-2',
    token_type: 'Bearer',
    expires_in: 3600,
  })
const refused = (error: string, status = 400) => Response.json({ error }, { status })

/** A profile with tokens, and a process that refreshes them, with its requests and notes. */
const test = base.extend('shared', async ({ task: _ }, { onCleanup }) => {
  const directory = freshDirectory()
  onCleanup(directory.remove)
  const config = join(directory.path, 'config')
  storeProfile(config, url, old)
  const sleep = () => new Promise<void>((done) => setImmediate(done))
  const store = createProfileStore(config, { now: Date.now, sleep })
  /** Refresh tokens that were sent. */
  const sent: (string | null | undefined)[] = []
  const notes: string[] = []
  return {
    config,
    store,
    sent,
    notes,
    /** Refreshes; `answer` is the server's response to a refresh token. */
    refresh: (answer = async () => granted(), more: Partial<RefreshOptions> = {}) =>
      refreshTokens(old, ({ accessToken }) => accessToken !== old.accessToken, {
        profile: 'school',
        store,
        signal: new AbortController().signal,
        now: () => Date.parse('2026-03-01T12:00:00.000Z'),
        signInCommand: 'learnctl auth login --profile school',
        note: async (text) => {
          notes.push(text)
        },
        fetch: async (_, { body }) => {
          sent.push(body?.get('refresh_token'))
          return answer()
        },
        ...more,
      }),
    put: async (credential: StoredCredential | undefined) => {
      await store.change((profiles) => withCredential(profiles, 'school', credential))
    },
  }
})

describe('whose turn it is', () => {
  test('refreshes, and stores the tokens so that no other user can read them', async ({ shared }) => {
    expect(await shared.refresh()).toEqual(next)
    expect(tokensIn(shared.config)).toEqual(next)
    expect(statSync(join(shared.config, 'profiles.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(shared.config)).toEqual(['profiles.json'])
    expect(shared.notes).toEqual([])
  })

  test('takes what another process has stored meanwhile', async ({ shared }) => {
    await shared.put(next)
    expect(await shared.refresh()).toEqual(next)
    expect(shared.sent).toEqual([])
  })

  test('refreshes what is stored, not what it once read', async ({ shared }) => {
    await shared.put({ ...old, refreshToken: 'refresh-9' })
    await shared.refresh()
    expect(shared.sent).toEqual(['refresh-9'])
    expect(tokensIn(shared.config)).toEqual(next)
  })

  test('asks once, even if others wait for the result', async ({ shared }) => {
    const all = await Promise.all(Array.from({ length: 8 }, () => shared.refresh()))
    expect(all).toEqual(Array.from({ length: 8 }, () => next))
    expect(shared.sent).toEqual(['refresh-1'])
  })

  test('asks for nothing where it could not store it', async ({ shared }) => {
    rmSync(shared.config, { recursive: true })
    writeFileSync(shared.config, 'a file where the directory should be')
    await expect(shared.refresh()).rejects.toMatchObject({ name: 'ConfigError' })
    expect(shared.sent).toEqual([])
  })

  test('asks for nothing where a lock could be made, but the file not be written', async ({ shared }) => {
    const full = new ConfigError('config_unwritable', 'cannot write: ENOSPC')
    const store = { ...shared.store, change: () => Promise.reject(full) }
    await expect(shared.refresh(undefined, { store })).rejects.toBe(full)
    expect(shared.sent).toEqual([])
  })

  test('asks for nothing any more once the run is interrupted', async ({ shared }) => {
    const reason = new Error('interrupted')
    await expect(shared.refresh(undefined, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(shared.sent).toEqual([])
  })

  test('keeps what a server gave, though the run was interrupted meanwhile', async ({ shared }) => {
    const controller = new AbortController()
    const answer = async () => {
      controller.abort(new Error('interrupted'))
      return granted()
    }
    expect(await shared.refresh(answer, { signal: controller.signal })).toEqual(next)
    expect(tokensIn(shared.config)).toEqual(next)
  })

  test('goes on with new tokens that cannot be stored, and says so', async ({ shared }) => {
    const answer = async () => {
      rmSync(shared.config, { recursive: true })
      writeFileSync(shared.config, 'a file where the directory should be')
      return granted()
    }
    expect(await shared.refresh(answer)).toEqual(next)
    expect(shared.notes).toEqual([
      expect.stringMatching(
        /^The refreshed session of profile school cannot be stored \(Cannot write .*\); /,
      ),
    ])
  })

  test('leaves alone what was stored while it asked', async ({ shared }) => {
    const other = storedTokens(url, { accessToken: 'other', refreshToken: 'other' })
    const answer = async () => {
      await shared.put(other)
      return granted()
    }
    expect(await shared.refresh(answer)).toEqual(next)
    expect(tokensIn(shared.config)).toEqual(other)
  })
})

describe('a session that has ended', () => {
  test('is forgotten, but not its profile', async ({ shared }) => {
    await expect(shared.refresh(async () => refused('invalid_grant'))).rejects.toMatchObject({
      code: 'signed_out',
      message: 'The session at https://school.example has ended',
      hint: 'Sign in again: learnctl auth login --profile school',
    })
    expect(readProfiles(shared.config)).toEqual({ school: { url } })
    expect(readdirSync(shared.config)).toEqual(['profiles.json'])
  })

  test('is another’s success where that has stored new tokens meanwhile', async ({ shared }) => {
    const answer = async () => {
      await shared.put(next)
      return refused('invalid_grant')
    }
    expect(await shared.refresh(answer)).toEqual(next)
    expect(tokensIn(shared.config)).toEqual(next)
  })

  test('was ended by signing out, and nothing is asked for', async ({ shared }) => {
    await shared.put(undefined)
    await expect(shared.refresh()).rejects.toMatchObject({
      code: 'signed_out',
      message: 'Profile school is no longer signed in to https://school.example',
      hint: 'Sign in again: learnctl auth login --profile school',
    })
    expect(shared.sent).toEqual([])
  })

  test.for<[string, StoredCredential]>([
    ['tokens for another place', storedTokens('https://other.example')],
    ['an API key', { kind: 'api_key', value: 'key', origin: url, storedAt: old.storedAt }],
  ])('is not gone on with by %s', async ([, credential], { shared }) => {
    await shared.put(credential)
    await expect(shared.refresh()).rejects.toMatchObject({ code: 'signed_out' })
    expect(shared.sent).toEqual([])
    expect(readProfiles(shared.config)['school']?.credential).toEqual(credential)
  })

  test('is not assumed because a server is in trouble', { tags: ['slow'] }, async ({ shared }) => {
    const again = 'Sign in again: learnctl auth login --profile school'
    for (const [answer, code, hint] of [
      [refused('busy', 503), 'server_unavailable', 'Try again later'],
      [refused('invalid_client'), 'token_refused', again],
      [new Response('<!doctype html>'), 'answer_unusable', again],
    ] as const) {
      await expect(shared.refresh(async () => answer)).rejects.toMatchObject({ code, hint })
    }
    expect(tokensIn(shared.config)).toEqual(old)
    expect(existsSync(join(shared.config, 'school.credential.lock'))).toBe(false)
  })

  test('is what it is, also where it cannot be forgotten', async ({ shared }) => {
    const answer = async () => {
      rmSync(shared.config, { recursive: true })
      writeFileSync(shared.config, 'a file where the directory should be')
      return refused('invalid_grant')
    }
    await expect(shared.refresh(answer)).rejects.toMatchObject({ code: 'signed_out' })
  })
})

test('tokens that cannot be refreshed stay as they are', async ({ shared }) => {
  const short = { ...old, refreshToken: null }
  await shared.put(short)
  expect(await shared.refresh()).toEqual(short)
  expect(shared.sent).toEqual([])
})
