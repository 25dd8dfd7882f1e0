import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/errors.ts'
import { createProfileStore } from '../../src/config/profiles.ts'

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

describe('the profile store', () => {
  it('has no profiles before the first is written', () => {
    expect(store().read()).toEqual({ active: null, profiles: {} })
    expect(existsSync(directory)).toBe(false)
  })

  it('gives back what was written', async () => {
    await addSchool()
    expect(store().read()).toEqual({
      active: 'school',
      profiles: { school: { url: 'https://school.example' } },
    })
  })

  it('closes its directory and its file to others, also where they were open before', async () => {
    await addSchool()
    chmodSync(directory, 0o755)
    chmodSync(store().path, 0o644)
    await addSchool()
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(store().path).mode & 0o777).toBe(0o600)
  })

  it('leaves nothing but the file behind', async () => {
    await addSchool()
    const { readdirSync } = await import('node:fs')
    expect(readdirSync(directory)).toEqual(['profiles.json'])
  })

  it.each([
    ['{"profiles": {', 'it is not JSON'],
    ['', 'it is empty'],
    ['[]', 'it holds no "profiles"'],
    ['{"version": 2, "profiles": {}}', 'its version is 2'],
    ['{"version": 1, "profiles": {"a": {}}}', 'profile "a" is neither'],
    ['{"version": 1, "profiles": {"a": {"url": "nowhere"}}}', 'profile "a" is neither'],
    ['{"version": 1, "profiles": {"a": {"url": "https://a.example", "credential": {}}}}', 'profile "a"'],
    ['{"version": 1, "profiles": {"../a": {"database": "x"}}}', 'profile "../a"'],
  ])('says what is wrong with %s, and leaves it as it is', async (text, reason) => {
    await addSchool()
    writeFileSync(store().path, text)
    expect(() => store().read()).toThrow(reason)
    await expect(addSchool()).rejects.toThrow(`${store().path} is damaged: `)
    expect(readFileSync(store().path, 'utf8')).toBe(text)
  })

  it('says in one line where it cannot write', async () => {
    writeFileSync(directory, 'a file where the directory should be')
    const fault = await addSchool().catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(ConfigError)
    expect(fault).toMatchObject({
      code: 'config_unwritable',
      message: expect.stringMatching(/^cannot write .*config: E[A-Z]+$/),
    })
  })

  it('reads no profiles where its directory cannot be one', () => {
    writeFileSync(directory, 'a file where the directory should be')
    expect(store().read().profiles).toEqual({})
  })

  it('loses no profile when eight processes write at once', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
    const modulePath = new URL('../../src/config/profiles.ts', import.meta.url)
    const script = (name: string) => `
      const { createProfileStore } = await import(${JSON.stringify(modulePath.href)})
      const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
      const store = createProfileStore(${JSON.stringify(directory)}, { now: Date.now, sleep })
      await store.change(({ active, profiles }) => ({
        active,
        profiles: { ...profiles, ${name}: { database: '/${name}.db' } },
      }))`
    const run = promisify(execFile)
    await Promise.all(
      names.map((name) => run(process.execPath, ['--input-type=module', '--eval', script(name)])),
    )
    expect(Object.keys(store().read().profiles).sort()).toEqual(names)
  }, 30_000)
})
