import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import sql from 'sql-template-tag'
import { test as base, expect } from 'vitest'
import {
  academySealing,
  createSealing,
  fileKeySource,
  keyPathOf,
  memoryKeySource,
} from '../../../src/server/access/sealing.ts'
import type { Store } from '../../../src/server/database/database.ts'
import { freshDirectory, openTestAcademy } from '../../helpers/academy.ts'

const test = base
  .extend('academy', async ({ task: _ }, { onCleanup }) => {
    const academy = await openTestAcademy()
    onCleanup(() => academy.close())
    return academy
  })
  .extend('folder', async ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    onCleanup(remove)
    return path
  })

const place = 'integration:canvas:accessToken'
const sealIn = (database: Store, sealing: ReturnType<typeof createSealing>, text = 'top secret') =>
  database.write((transaction) => sealing.seal(transaction, place, text))

test('a sealed secret opens only in its place, and is never stored in plain text', async ({ academy }) => {
  const { database, sealing } = academy
  const [first, second] = [await sealIn(database, sealing), await sealIn(database, sealing)]
  expect(first).not.toContain('secret')
  expect(first).not.toBe(second)
  expect(sealing.open(place, first)).toBe('top secret')
  expect(() => sealing.open('integration:moodle:accessToken', first)).toThrow(/damaged: set it again/)
})

test('text of every script is sealed and opened as it is', async ({ academy }) => {
  const text = `ключ 鍵 🔑 ${'x'.repeat(4000)}`
  expect(academy.sealing.open(place, await sealIn(academy.database, academy.sealing, text))).toBe(text)
})

test.for(['', 'v1.', 'top secret', 'v1.0000000000000000.', `v2.${'0'.repeat(16)}.AAAA`])(
  'a sealed text that is no such thing is refused plainly: %j',
  async (text, { academy }) => {
    await sealIn(academy.database, academy.sealing)
    expect(() => academy.sealing.open(place, text)).toThrow(
      expect.objectContaining({ code: 'encryption_unavailable' }),
    )
  },
)

test('a changed letter is noticed', async ({ academy }) => {
  const sealed = await sealIn(academy.database, academy.sealing)
  for (const at of [sealed.length - 1, sealed.length - 20, 25]) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    if (Buffer.from(changed.slice(20), 'base64url').equals(Buffer.from(sealed.slice(20), 'base64url')))
      continue
    expect(() => academy.sealing.open(place, changed)).toThrow(/damaged/)
  }
})

test('the key is made when first needed, beside the database, private', async ({ academy }) => {
  const path = keyPathOf(academy.path)
  expect(existsSync(path)).toBe(false)
  await sealIn(academy.database, academy.sealing)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const key = readFileSync(path, 'utf8').trim()
  expect(Buffer.from(key, 'base64url')).toHaveLength(32)
  const stored = await academy.database.one(sql`select value from settings where name = 'sealing_key'`)
  expect(key).not.toContain(stored?.['value'])
})

test('many processes that make the key at once all get the same', { tags: ['slow'] }, async ({ folder }) => {
  const path = join(folder, 'academy.db.key')
  const start = new Int32Array(new SharedArrayBuffer(4))
  const maker = `
    const { workerData, parentPort } = require('node:worker_threads')
    import(workerData.module).then(({ fileKeySource }) => {
      Atomics.wait(workerData.start, 0, 0)
      parentPort.postMessage(fileKeySource(workerData.path).make().id)
    })
    parentPort.postMessage('ready')`
  const module = new URL('../../../src/server/access/sealing.ts', import.meta.url).href
  const makers = Array.from(
    { length: 4 },
    () => new Worker(maker, { eval: true, workerData: { module, path, start } }),
  )
  await Promise.all(makers.map((worker) => once(worker, 'message')))
  const ids = makers.map((worker) => once(worker, 'message'))
  Atomics.store(start, 0, 1)
  Atomics.notify(start, 0)
  const keys = (await Promise.all(ids)).flat()
  await Promise.all(makers.map((worker) => worker.terminate()))
  expect(keys).toEqual(Array(4).fill(fileKeySource(path).read()?.id))
  expect(readdirSync(folder)).toEqual(['academy.db.key'])
})

test('servers on PostgreSQL with one key file open each other’s secrets', async ({ academy, folder }) => {
  const named = { path: '', postgres: {}, encryptionKeyFile: join(folder, 'shared.key') }
  const [one, other] = [academySealing(named), academySealing(named)]
  expect(other.open(place, await sealIn(academy.database, one))).toBe('top secret')
  expect(one.open(place, await sealIn(academy.database, other))).toBe('top secret')
  const astray = academySealing({ ...named, encryptionKeyFile: join(folder, 'mistyped.key') })
  await expect(sealIn(academy.database, astray)).rejects.toThrow(
    'Encryption key file mistyped.key is missing',
  )
  expect(readdirSync(folder)).toEqual(['shared.key'])
})

test('a key file that was lost is not replaced: secrets would be lost', async ({ academy }) => {
  const sealed = await sealIn(academy.database, academy.sealing)
  const path = keyPathOf(academy.path)
  const key = readFileSync(path)
  rmSync(path)
  expect(() => academy.sealing.open(place, sealed)).toThrow(
    'Encryption key file academy.db.key is missing: restore it from where it was kept.',
  )
  await expect(sealIn(academy.database, academy.sealing)).rejects.toThrow(/academy\.db\.key is missing/)
  expect(existsSync(path)).toBe(false)
  expect(await academy.sealing.trouble(academy.database)).toMatch(/is missing/)
  writeFileSync(path, key, { mode: 0o600 })
  expect(academy.sealing.open(place, sealed)).toBe('top secret')
  expect(await academy.sealing.trouble(academy.database)).toBeUndefined()
})

test('the server whose key sealed first goes on, others fail', async ({ academy: { database }, folder }) => {
  const [one, other] = ['one.key', 'other.key'].map((name) => {
    const source = fileKeySource(join(folder, name))
    source.make()
    return createSealing(source)
  }) as [ReturnType<typeof createSealing>, ReturnType<typeof createSealing>]
  const sealed = await sealIn(database, one)
  await expect(sealIn(database, other)).rejects.toThrow(/other\.key holds another key .*: use that one\.$/)
  expect(await other.trouble(database)).toMatch(/use that one\.$/)
  expect(() => other.open(place, sealed)).toThrow(
    /use that one, or set the secret again if the key was replaced/,
  )
  expect(one.open(place, sealed)).toBe('top secret')
  await database.write((transaction) => other.forget(transaction))
  expect(other.open(place, await sealIn(database, other))).toBe('top secret')
  await expect(sealIn(database, one)).rejects.toThrow(/one\.key holds another key .*: use that one\.$/)
})

test('another key is distinguished from the right one', async ({ academy }) => {
  const sealed = await sealIn(academy.database, academy.sealing)
  writeFileSync(keyPathOf(academy.path), `${'A'.repeat(43)}\n`, { mode: 0o600 })
  const another = /academy\.db\.key holds another key \(\w{16}\) than the one that was used \(\w{16}\)/
  expect(() => academy.sealing.open(place, sealed)).toThrow(another)
  await expect(sealIn(academy.database, academy.sealing)).rejects.toThrow(another)
  expect(await academy.sealing.trouble(academy.database)).toMatch(another)
})

test.for([
  ['a directory', 'is a directory', (path: string) => mkdirSync(path)],
  [
    'half a key',
    'is damaged: it must hold 32 bytes',
    (path: string) => writeFileSync(path, 'AAAA\n', { mode: 0o600 }),
  ],
  [
    'an empty file',
    'is damaged: it must hold 32 bytes',
    (path: string) => writeFileSync(path, '', { mode: 0o600 }),
  ],
  ['a large file', 'is damaged', (path: string) => writeFileSync(path, 'A'.repeat(100_000), { mode: 0o600 })],
  [
    'a file that others can read',
    'can be read by others (mode 0644): run chmod 600 on it',
    (path: string) => {
      writeFileSync(path, `${'A'.repeat(43)}\n`)
      chmodSync(path, 0o644)
    },
  ],
] as const)('a key file that is %s is refused, and stays as it is', async ([, why, make], { academy }) => {
  make(keyPathOf(academy.path))
  await expect(sealIn(academy.database, academy.sealing)).rejects.toMatchObject({
    code: 'encryption_unavailable',
    status: 503,
    message: expect.stringContaining(`academy.db.key ${why}`),
  })
})

test('a server on PostgreSQL that has no key file says which flag it needs', async ({ academy }) => {
  const without = createSealing(undefined)
  await expect(sealIn(academy.database, without)).rejects.toThrow(/--encryption-key-file/)
  expect(() => without.open(place, 'v1.x')).toThrow(/--encryption-key-file/)
  expect(await without.trouble(academy.database)).toBeUndefined()
})

test('an academy that goes with its process leaves no key', async ({ academy }) => {
  const sealing = createSealing(memoryKeySource())
  expect(sealing.open(place, await sealIn(academy.database, sealing))).toBe('top secret')
  expect(existsSync(keyPathOf(academy.path))).toBe(false)
})
