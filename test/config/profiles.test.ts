import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createProfileStore,
  credentialOf,
  type StoredTokens,
  withCredential,
} from '../../src/config/profiles.ts'
import { runModule } from '../helpers/process.ts'

let root: string
let directory: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'learnctl-test-'))
  directory = join(root, 'config')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const clock = { now: Date.now, sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)) }
const store = () => createProfileStore(directory, clock)
const addSchool = () =>
  store().change((stored) => ({
    active: 'school',
    profiles: { ...stored.profiles, school: { url: 'https://school.example' } },
  }))

const tokens: StoredTokens = {
  kind: 'oauth',
  origin: 'https://a.example',
  storedAt: '2026-03-01T12:00:00.000Z',
  accessToken: 'access',
  refreshToken: null,
  expiresAt: null,
  lifetimeSeconds: null,
  scopes: ['read'],
  issuer: 'https://a.example',
  clientId: 'learnctl',
  tokenEndpoint: 'https://a.example/oauth/token',
  revocationEndpoint: null,
}

function withTokens(wrong: object): string {
  const credential = { ...tokens, ...wrong }
  return JSON.stringify({ version: 1, profiles: { a: { url: 'https://a.example', credential } } })
}

describe('the profile store', () => {
  it('closes its directory and its file to others, also where they were open before', async () => {
    await addSchool()
    chmodSync(directory, 0o755)
    chmodSync(store().path, 0o644)
    await addSchool()
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(store().path).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['{"profiles": {', 'it is not JSON'],
    ['', 'it is empty'],
    ['[]', '"profiles" is missing'],
    ['{"version": 2, "profiles": {}}', 'version is 2'],
    ['{"version": 1, "profiles": {"a": {}}}', 'profile "a" has neither'],
    ['{"version": 1, "profiles": {"a": {"url": "nowhere"}}}', 'profile "a" has neither'],
    ['{"version": 1, "profiles": {"a": {"url": "https://a.example", "credential": {}}}}', 'profile "a"'],
    ['{"version": 1, "profiles": {"../a": {"database": "x"}}}', 'profile "../a"'],
    [withTokens({ accessToken: 7 }), 'profile "a" has an incomplete credential'],
    [withTokens({ tokenEndpoint: null }), 'profile "a" has an incomplete credential'],
    [withTokens({ scopes: 'read' }), 'profile "a" has an incomplete credential'],
    [withTokens({ expiresAt: 0 }), 'profile "a" has an incomplete credential'],
  ])('says what is wrong with %s, and leaves it as it is', async (text, reason) => {
    await addSchool()
    writeFileSync(store().path, text)
    expect(() => store().read()).toThrow(reason)
    await expect(addSchool()).rejects.toThrow(`${store().path} is damaged: `)
    expect(readFileSync(store().path, 'utf8')).toBe(text)
  })

  it('does not repeat what a damaged file holds, which may be a credential', async () => {
    await addSchool()
    writeFileSync(store().path, '{"accessToken": "such-a-secret"')
    const fault = await addSchool().catch((error: unknown) => error)
    expect(inspect(fault)).not.toContain('secret')
  })

  it('takes away what a write that was killed left behind', async () => {
    await addSchool()
    writeFileSync(`${store().path}.tmp-1234567890abcdef`, '{"accessToken":')
    await addSchool()
    expect(readdirSync(directory)).toEqual(['profiles.json'])
  })

  it('loses no profile when three processes write at once', { tags: ['slow'] }, async () => {
    const names = ['a', 'b', 'c']
    const modulePath = new URL('../../src/config/profiles.ts', import.meta.url)
    const script = (name: string) => `
      const { createProfileStore } = await import(${JSON.stringify(modulePath.href)})
      const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
      const store = createProfileStore(${JSON.stringify(directory)}, { now: Date.now, sleep })
      await store.change(({ active, profiles }) => ({
        active,
        profiles: { ...profiles, ${name}: { database: '/${name}.db' } },
      }))`
    await Promise.all(names.map((name) => runModule(script(name))))
    expect(Object.keys(store().read().profiles).sort()).toEqual(names)
  })
})

describe('work on the credential of a profile', () => {
  it('is not waited for any longer once that is called off', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const wait = (_: number, signal?: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('woken')))
        controller.abort(reason)
      })
    const waiting = createProfileStore(directory, { now: Date.now, sleep: wait })
    await store().withCredentialLock('school', async () => {
      const second = waiting.withCredentialLock('school', async () => 'never', controller.signal)
      await expect(second).rejects.toBe(reason)
    })
  })
})

describe('a credential', () => {
  const school = { url: 'https://school.example' }

  it('is put into its profile, and taken out of it, and nothing else changes', () => {
    const before = { active: 'school', profiles: { school, trial: { database: '/trial.db' } } }
    const signedIn = withCredential(before, 'school', tokens)
    expect(signedIn).toEqual({
      ...before,
      profiles: { ...before.profiles, school: { ...school, credential: tokens } },
    })
    expect(withCredential(signedIn, 'school', undefined)).toEqual(before)
  })

  it.each(['gone', 'trial', '__proto__'])('is not put into %s, which is no platform', (name) => {
    const before = { active: null, profiles: { trial: { database: '/trial.db' } } }
    expect(withCredential(before, name, tokens)).toEqual(before)
    expect(credentialOf(before, name)).toBeUndefined()
  })
})
