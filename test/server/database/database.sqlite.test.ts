import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sql from 'sql-template-tag'
import { test as base, expect } from 'vitest'
import { openAcademyFile } from '../../../src/server/academy/open-academy.ts'
import { DatabaseError } from '../../../src/server/database/database.ts'
import { backUp } from '../../../src/server/database/sqlite/backup.ts'
import { shortenLog } from '../../../src/server/database/sqlite/connection.ts'
import { openReader } from '../../../src/server/database/sqlite/sqlite.ts'
import { freshDirectory, stoppedClock } from '../../helpers/academy.ts'
import { damagePage } from '../../helpers/damage-page.ts'
import { makeOldAcademy } from '../../helpers/old-academy.ts'
import { runModule } from '../../helpers/process.ts'

const { now } = stoppedClock()

const test = base.extend('directory', ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return path
})

/** More rows than a stream reads at once. */
const names = Array.from({ length: 300 }, (_, index) => `a${String(index).padStart(3, '0')}`)
const put = (name: string) => sql`insert into settings (name, value) values (${name}, '')`

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function refusalOf(path: string): Promise<string> {
  try {
    await await (await openAcademyFile(path, now)).database.close()
    return 'opened'
  } catch (error) {
    expect(error).toBeInstanceOf(DatabaseError)
    const { path: named, message } = error as DatabaseError
    expect(named).toBe(path)
    return message
  }
}

test('a new academy has a first user, who is its admin', async ({ directory }) => {
  const { database, created } = await openAcademyFile(join(directory, 'academy.db'), now)
  expect(created).toBe(true)
  expect(await database.all(sql`select email, role, status from users`)).toEqual([
    { email: 'admin@academy.local', role: 'admin', status: 'active' },
  ])
  await database.close()
  const again = await openAcademyFile(join(directory, 'academy.db'), now)
  expect(again.created).toBe(false)
  expect(await again.database.all(sql`select id from users`)).toHaveLength(1)
  await again.database.close()
})

test('exactly one of many programs that make the same academy at once succeeds', { tags: ['slow'] }, async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  const program = `
    import { openAcademyFile } from ${JSON.stringify(import.meta.resolve('../../../src/server/academy/open-academy.ts'))}
    const { created, database } = await openAcademyFile(process.argv[1], () => new Date())
    console.log(created)
    await database.close()`
  const outputs = await Promise.all(Array.from({ length: 3 }, () => runModule(program, [path])))
  expect(outputs.map(({ stdout }) => stdout.trim()).sort()).toEqual(['false', 'false', 'true'])
})

test('database, journal and shared memory are 0600', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(modeOf(file), file).toBe('600')
  await database.close()
})

test('an academy that others could read is so no more', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  chmodSync(path, 0o644)
  const { database } = await openAcademyFile(path, now)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(modeOf(file), file).toBe('600')
  await database.close()
})

test('a database from a newer version is refused, and left as it is', { tags: ['slow'] }, async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  const other = new DatabaseSync(path)
  other.exec('pragma user_version = 99; create table later (id text)')
  other.close()
  const before = readFileSync(path)
  expect(await refusalOf(path)).toMatch(
    /^was written by a newer version of learnctl \(schema version 99; this version supports up to \d+\)$/,
  )
  expect(readFileSync(path)).toEqual(before)
})

test('a database from a version before the oldest one that is upgraded is refused', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  makeOldAcademy(path)
  const older = new DatabaseSync(path)
  older.exec('pragma user_version = 19')
  older.close()
  expect(await refusalOf(path)).toBe(
    'was written by a version of learnctl that cannot be upgraded (schema version 19; this version upgrades from 20)',
  )
})

test('a database of another program is refused, and left as it is', async ({ directory }) => {
  const path = join(directory, 'bookmarks.db')
  const other = new DatabaseSync(path)
  other.exec('create table bookmarks (url text); insert into bookmarks values (1)')
  other.close()
  chmodSync(path, 0o644)
  const before = readFileSync(path)
  expect(await refusalOf(path)).toBe('is a SQLite database of another program')
  expect(readFileSync(path)).toEqual(before)
  expect(modeOf(path)).toBe('644')
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test('a file that is no database is refused, and left as it is', async ({ directory }) => {
  const path = join(directory, 'notes.txt')
  writeFileSync(path, 'dear diary, '.repeat(1000))
  expect(await refusalOf(path)).toBe('is not a SQLite database')
  expect(readFileSync(path, 'utf8')).toBe('dear diary, '.repeat(1000))
})

test('a file without a byte is no new academy: it is refused, and left as it is', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  writeFileSync(path, '')
  writeFileSync(`${path}-wal`, 'what was written')
  expect(await refusalOf(path)).toBe('is an empty file, not an academy')
  expect(statSync(path).size).toBe(0)
  // SQLite removes the log of an empty file.
  expect(readFileSync(`${path}-wal`, 'utf8')).toBe('what was written')
})

test('a database that lost its -wal file before anything reached the file itself is refused', async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  const older = new DatabaseSync(path)
  older.exec('pragma journal_mode = wal; create table settings (name text)')
  copyFileSync(path, join(directory, 'copy.db'))
  older.close()
  expect(await refusalOf(join(directory, 'copy.db'))).toBe(
    'is incomplete: it has no tables, and copy.db-wal is missing, which holds its latest changes',
  )
})

test('a database without a table is no new academy', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const other = new DatabaseSync(path)
  other.exec('create table one (id text); drop table one')
  other.close()
  expect(await refusalOf(path)).toBe('is an empty SQLite database, not an academy')
})

test('an academy whose -wal file was taken away is refused until it is back', { tags: ['slow'] }, async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  await database.run(sql`insert into settings (name, value) values ('kept', '')`)
  const copy = join(directory, 'copy.db')
  for (const suffix of ['', '-shm']) copyFileSync(path + suffix, copy + suffix)
  expect(await refusalOf(copy)).toBe(
    'is incomplete: copy.db-shm is there, but copy.db-wal is missing, which holds its latest changes',
  )
  copyFileSync(`${path}-wal`, `${copy}-wal`)
  const whole = (await openAcademyFile(copy, now)).database
  expect(await whole.all(sql`select name from settings where value = ''`)).toEqual([{ name: 'kept' }])
  await whole.close()
  await database.close()
})

test('a file that was cut short is refused', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  truncateSync(path, statSync(path).size - 8192)
  expect(await refusalOf(path)).toBe('is damaged, or part of it is missing')
})

test('a new academy is there whole or not at all, with nothing left beside it', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  expect(readdirSync(directory)).toEqual(['academy.db'])
  expect(modeOf(path)).toBe('600')
})

test('a directory, or a file in place of a directory, is reported as such', async ({ directory }) => {
  mkdirSync(join(directory, 'folder'))
  writeFileSync(join(directory, 'file'), '')
  expect(await refusalOf(join(directory, 'folder'))).toBe('is a directory')
  expect(await refusalOf(join(directory, 'file/academy.db'))).toBe(
    'cannot be created: part of its path is a file',
  )
})

test('a transaction does all or nothing, a savepoint undoes itself alone', async ({ directory }) => {
  const { database } = await openAcademyFile(join(directory, 'academy.db'), now)
  const stored = async () =>
    (await database.all(sql`select name from settings where value = '' order by name`)).map(
      ({ name }) => name,
    )
  await expect(
    database.write(async (transaction) => {
      await transaction.run(put('a'))
      await transaction.run(put('a'))
    }),
  ).rejects.toThrow('UNIQUE')
  expect(await stored()).toEqual([])
  await database.write(async (transaction) => {
    await transaction.run(put('a'))
    await expect(
      transaction.savepoint(async () => {
        await transaction.run(put('b'))
        await transaction.savepoint(() => transaction.run(put('c')))
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await transaction.run(put('d'))
  })
  expect(await stored()).toEqual(['a', 'd'])
  await database.close()
})

test('writes of one turn share a commit; one that throws undoes itself alone', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  const outcomes = await Promise.allSettled([
    database.write((transaction) => transaction.run(put('a'))),
    database.write(async (transaction) => {
      await transaction.run(put('b'))
      throw new Error('no')
    }),
    database.write((transaction) => transaction.run(put('a'))),
    database.write((transaction) => transaction.run(put('c'))),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  const other = new DatabaseSync(path, { readOnly: true })
  expect(other.prepare(`select name from settings where value = '' order by name`).all()).toEqual([
    expect.objectContaining({ name: 'a' }),
    expect.objectContaining({ name: 'c' }),
  ])
  other.close()
  await database.close()
})

test('writes that take long leave turns to everybody else, and none is left undone', {
  tags: ['slow'],
}, async ({ directory }) => {
  const { database } = await openAcademyFile(join(directory, 'academy.db'), now)
  const told: string[] = []
  const slow = async (name: string) => {
    await database.write(async (transaction) => {
      const endMs = performance.now() + 25
      while (performance.now() < endMs);
      await transaction.run(put(name))
      told.push(`${name} is done`)
    })
    told.push(`${name} is answered`)
  }
  await Promise.all([slow('a'), slow('b')])
  expect(told).toEqual(['a is done', 'a is answered', 'b is done', 'b is answered'])
  expect(await database.all(sql`select name from settings where value = ''`)).toHaveLength(2)
  await database.close()
})

test('a reader sees one state of the data for as long as it reads', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  for (const name of names) await database.run(put(name))
  const rows = database.stream(sql`select name from settings where value = '' order by name`)
  const first = await rows.next()
  expect(first.value?.[0]).toEqual(['a000'])
  await database.run(sql`delete from settings where value = ''`)
  const read = [...(first.value ?? []), ...(await Array.fromAsync(rows)).flat()]
  expect(read.map(([name]) => name)).toEqual(names)
  const reader = openReader(path)
  await expect(reader.run(sql`delete from settings`)).rejects.toThrow('readonly')
  await reader.close()
  await database.close()
})

test('the log that a long reader let grow is shortened after the last reader', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  const size = () => statSync(`${path}-wal`).size
  for (const name of names) await database.run(put(name))
  const rows = database.stream(sql`select name from settings where value = '' order by name`)
  await rows.next()
  await database.run(put('c'))
  shortenLog(path, 0)
  expect(size()).toBeGreaterThan(0)
  await rows.return?.()
  shortenLog(path)
  expect(size()).toBeGreaterThan(0)
  shortenLog(path, 0)
  expect(size()).toBe(0)
  await database.run(put('d'))
  expect(await database.all(sql`select name from settings where value = ''`)).toHaveLength(names.length + 2)
  await database.close()
})

test('a statement that failed half-way can be asked again', async ({ directory }) => {
  const { database } = await openAcademyFile(join(directory, 'academy.db'), now)
  const json = (text: string) => database.run(sql`update users set profile = ${text}`)
  const ask = () => Array.fromAsync(database.stream(sql`select profile ->> 'firstName' from users`))
  await json('{')
  await expect(ask()).rejects.toThrow('malformed JSON')
  await json('{"firstName":"Ada"}')
  expect(await ask()).toEqual([[['Ada']]])
  await database.close()
})

test('reads of one turn share a view, in which a write of this program is seen at once and one of another in the next turn', async ({
  directory,
}) => {
  const path = join(directory, 'academy.db')
  const { database } = await openAcademyFile(path, now)
  const other = new DatabaseSync(path)
  const read = () =>
    database.read((view) => view.all(sql`select name from settings where name like 'a%' order by name`))
  expect(await read()).toEqual([])
  other.exec(`insert into settings (name, value) values ('a1', '')`)
  await new Promise(setImmediate)
  expect(await read()).toEqual([{ name: 'a1' }])
  const seen = await Promise.all([
    database.run(put('a2')),
    read(),
    database.write((transaction) => transaction.run(put('a3'))).then(read),
  ])
  expect(seen).toEqual([
    1,
    [{ name: 'a1' }, { name: 'a2' }],
    [{ name: 'a1' }, { name: 'a2' }, { name: 'a3' }],
  ])
  // No open connection keeps another program from the file.
  await new Promise(setImmediate)
  other.exec('pragma wal_checkpoint(truncate); begin exclusive; rollback')
  other.close()
  await read()
  await database.close()
})

test('a damaged page fails the reads that need it, shows when asked, and no more', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  damagePage(path, 'settings')
  const { database } = await openAcademyFile(path, now)
  const read = () => database.all(sql`select * from settings not indexed`)
  const reads = Array.from({ length: 3 }, () => read().catch((error) => error.errcode & 0xff))
  expect(await Promise.all(reads)).toEqual([11, 11, 11])
  expect(await database.all(sql`select email from users`)).toEqual([{ email: 'admin@academy.local' }])
  expect(() => database.requireFiles?.()).toThrow('is damaged, or part of it is missing')
  await database.close()
})

test('a backup of a damaged academy names the academy, not the copy', async ({ directory }) => {
  const path = join(directory, 'academy.db')
  await (await openAcademyFile(path, now)).database.close()
  damagePage(path, 'settings')
  await expect(backUp(path, join(directory, 'copy.db'))).rejects.toMatchObject({
    path,
    message: expect.stringMatching(/^is damaged/),
  })
  expect(existsSync(join(directory, 'copy.db'))).toBe(false)
})
