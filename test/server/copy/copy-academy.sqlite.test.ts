import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { copiedTables } from '../../../src/server/copy/copied-table.ts'
import { type CopyOptions, copyAcademy } from '../../../src/server/copy/copy-academy.ts'
import { requireFitTexts } from '../../../src/server/copy/copy-checks.ts'
import { openCopyEnds } from '../../../src/server/copy/copy-ends.ts'
import type { Database, Store } from '../../../src/server/database/database.ts'
import { fillSearchIndex } from '../../../src/server/database/search.ts'
import { copyToTrash } from '../../../src/server/database/trash.ts'
import { freshDirectory, start, stoppedClock, test } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { authorizePath, givePassword, issuer, password } from '../oauth/flow.ts'
import { appOn } from './copied.ts'

const { now } = stoppedClock()
const signal = new AbortController().signal
const manyUsers = 700

/** Adds more than a batch of rows to an academy, with values that a copy could lose. */
async function fill({ database: store }: { database: Store }): Promise<void> {
  await store.write(async (database) => {
    for (let first = 0; first < manyUsers; first += 1) {
      const id = `usr_many${String(first).padStart(5, '0')}`
      await database.run(sql`
      insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at, search_key)
      values (${id}, ${`${id}@x.example`}, ${`${id}@x.example`}, 'learner', 'active', '{"firstName":"Ünï"}', 3,
        ${start}, ${start}, ${`${id} ünï`})`)
    }
    await database.run(sql`
    insert into courses (id, title, description, difficulty, status, attributes, version, created_at, updated_at)
    values ('crs_one', 'Sea', '', 'beginner', 'published', ${JSON.stringify({ tags: ['a\nb', '"'] })}, 1, ${start}, ${start})`)
    await database.run(sql`
    insert into progress (user_id, course_id, percentage, status, last_accessed, version, updated_at)
    values ('usr_many00001', 'crs_one', ${0.1 + 0.2}, 'in_progress', ${start}, 7, ${start})`)
    const ids = { id: 'crs_one', courseId: 'crs_one', userId: 'usr_many00001' }
    await copyToTrash(database, 'course', { ...ids, now: start })
  })
}

/** Copies this academy's file to a new one and opens it. */
async function openCopy(path: string, to?: string) {
  const { path: directory, remove } = freshDirectory()
  onTestFinished(remove)
  const target = to ?? join(directory, 'copy.db')
  const ends = await openCopyEnds({ name: path }, { name: target }, now)
  onTestFinished(() => ends.close().catch(() => undefined))
  const run = (more: Partial<CopyOptions> = {}) =>
    copyAcademy({ ...ends, signal, onProgress: async () => undefined, ...more })
  return { ...ends, target, run }
}

/** Returns everything in a file except the search index, by table. */
function contentOf(path: string): Record<string, unknown[]> {
  const file = new DatabaseSync(path, { readOnly: true })
  const tables = file.prepare("select name from pragma_table_list where type = 'table' order by name").all()
  const names = tables.map(({ name }) => String(name)).filter((name) => !/^sqlite_|^row_changes$/.test(name))
  const content = names.map((name) => [name, file.prepare(`select * from ${name} order by 1, 2`).all()])
  file.close()
  return Object.fromEntries(content)
}

/** Tables that each academy has for itself. */
const ownTables = ['row_changes']

/** A store that reports each statement of its views, and its result. */
function watched(store: Store, onCells: (rows: readonly unknown[][]) => void): Store {
  return {
    ...store,
    read: (work) =>
      store.read((view) =>
        work({
          ...view,
          cells: async (query) => {
            const rows = await view.cells(query)
            onCells(rows)
            return rows
          },
        }),
      ),
  }
}

test('every table of an academy is copied, after those it needs', async ({
  academy: { database: model },
}) => {
  const copied = copiedTables.map(({ name }) => name)
  const all = await model.all(
    sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite!_%' escape '!'`,
  )
  const index = all
    .map(({ name }) => String(name))
    .filter((name) => /^(users|courses|groups)_search/.test(name))
  expect([...copied, ...index, ...ownTables].sort()).toEqual(all.map(({ name }) => String(name)).sort())
  for (const name of copied) {
    const parents = await model.all(sql`select "table" as parent from pragma_foreign_key_list(${name})`)
    for (const { parent } of parents) {
      expect(copied.indexOf(String(parent)), `${parent} before ${name}`).toBeLessThan(copied.indexOf(name))
    }
  }
})

test('audit entries not yet linked are linked in order', { tags: ['slow'] }, async ({ academy, admin }) => {
  for (const title of ['One', 'Two', 'Three']) await admin.post('/v1/courses', { title })
  const log = sql`select place, id, hash from audit_entries order by id`
  const linked = await academy.database.all(log)
  await academy.database.run(sql`update audit_entries set place = -place, hash = null where place > 1`)
  const { run, to, from } = await openCopy(academy.path)
  await run()
  expect(await to.database.all(log)).toEqual(linked)
  expect(await from.database.all(log)).not.toEqual(linked)
})

test('a copy holds every row as it is, and can be searched', { tags: ['slow'] }, async ({ academy }) => {
  await fill(academy)
  const { run, target, to } = await openCopy(academy.path)
  const { rows, tables } = await run()
  expect(contentOf(target)).toEqual(contentOf(academy.path))
  expect(contentOf(target)).toMatchObject({ deleted_courses: [{ id: 'crs_one' }], deleted_progress: [{}] })
  expect(tables.find(({ name }) => name === 'users')?.rows).toBe(manyUsers + 1)
  expect(rows).toBe(Object.values(contentOf(target)).flat().length)
  await fillSearchIndex(to.database)
  expect(await to.database.one(sql`select count(search_number) as rows from users`)).toEqual({
    rows: manyUsers + 1,
  })
  expect(await to.database.check()).toEqual([])
})

test('API keys, browser sessions and replays stay valid', { tags: ['slow'] }, async ({ academy, admin }) => {
  const headers = { 'idempotency-key': 'once' }
  const made = await admin.post('/v1/courses', { title: 'Sea' }, headers)
  await givePassword(academy, admin.id)
  const browser = plainBrowser(academy.fetch, issuer)
  await browser.signIn(await browser.open(authorizePath()), admin.email, password)
  const { run, target, close } = await openCopy(academy.path)
  await run()
  await close()
  const copy = await appOn(target, academy.clock.now)
  const again = await copy.request('POST', '/v1/courses', {
    headers: { ...headers, authorization: `Bearer ${admin.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Sea' }),
  })
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  expect(await again.json()).toEqual(made.body)
  const page = await copy.request('GET', '/dashboard', { headers: { cookie: browser.cookie() } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(admin.email)])
})

test('an interrupted copy leaves the target, and is made again', { tags: ['slow'] }, async ({ academy }) => {
  await fill(academy)
  const { run, target, to } = await openCopy(academy.path)
  const before = contentOf(target)
  for (const phase of ['copy', 'compare']) {
    const onProgress: CopyOptions['onProgress'] = async (progress) => {
      if (progress.phase === phase && progress.rows > 500) throw new Error('cut')
    }
    await expect(run({ onProgress })).rejects.toThrow('cut')
    expect(contentOf(target)).toEqual(before)
  }
  await expect(run({ signal: AbortSignal.abort(new Error('cut')) })).rejects.toThrow('cut')
  await run()
  expect(contentOf(target)).toEqual(contentOf(academy.path))
  expect(await to.database.check()).toEqual([])
})

test.for([
  [
    'a user',
    sql`insert into users (id, email, email_key, role, status, profile, version, created_at, updated_at)
    values ('usr_other', 'o', 'o', 'learner', 'active', '{}', 1, '', '')`,
    'it holds 2 users',
  ],
  ['a password', sql`update users set password_hash = 'x'`, 'it holds a first user who has been changed'],
] as const)('an academy that holds %s is no place for a copy', async ([_, statement, told], { academy }) => {
  const { run, to } = await openCopy(academy.path)
  await to.database.run(statement)
  await expect(run()).rejects.toMatchObject({ code: 'not_empty', message: expect.stringContaining(told) })
})

test.for([
  [
    'another value',
    sql`update users set profile = '{}' where id = 'usr_many00600'`,
    'usr_many00600 has another profile',
  ],
  ['a missing row', sql`delete from progress`, 'usr_many00001, crs_one is missing'],
  [
    'a row too many',
    sql`insert into course_tags (tag, course_id) values ('zzz', 'crs_one')`,
    'zzz, crs_one is not in the original',
  ],
  [
    'a number that is not quite the same',
    sql`update progress set percentage = 0.3`,
    'has another percentage',
  ],
] as const)('the comparison finds %s', async ([_, statement, told], { academy }) => {
  await fill(academy)
  const { run, to } = await openCopy(academy.path)
  let changed = false
  let copy: Database | undefined
  const onProgress: CopyOptions['onProgress'] = async ({ phase }) => {
    if (phase === 'compare' && !changed) {
      changed = true
      await copy?.run(statement)
    }
  }
  const write: Store['write'] = (work) =>
    to.database.write((transaction) => {
      copy = transaction
      return work(transaction)
    })
  const refused = { code: 'copy_differs', message: expect.stringContaining(told) }
  await expect(run({ onProgress, to: { ...to, database: { ...to.database, write } } })).rejects.toMatchObject(
    refused,
  )
})

test('few rows are in memory, fewer where they are long', { tags: ['slow'] }, async ({ academy }) => {
  await fill(academy)
  const long = 'x'.repeat(200_000)
  for (let version = 1; version <= 120; version += 1) {
    await academy.database.run(sql`
      insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
      values ('crs_one', ${version}, ${long}, '[]', 'usr_many00001', ${start})`)
  }
  const { run, from } = await openCopy(academy.path)
  const batches: { rows: number; length: number }[] = []
  const database = watched(from.database, (rows) =>
    batches.push({ rows: rows.length, length: JSON.stringify(rows).length }),
  )
  await run({ from: { ...from, database } })
  expect(Math.max(...batches.map(({ rows }) => rows))).toBe(500)
  const longOnes = batches.filter(({ length }) => length > 1_000_000)
  expect(longOnes.length).toBeGreaterThan(10)
  // The first batch of a table cannot know the length of its rows.
  expect(longOnes.filter(({ rows }) => rows > 10)).toHaveLength(2)
})

test('texts that PostgreSQL cannot hold are found before anything is copied', async ({ academy }) => {
  await fill(academy)
  const problem = (database: Database) => requireFitTexts(database, copiedTables)
  // An escaped backslash before the letter u is not an escape.
  const harmless = JSON.stringify({ firstName: '\\u0000' })
  await academy.database.run(sql`update users set profile = ${harmless} where id = 'usr_many00001'`)
  await problem(academy.database)
  await academy.database.run(sql`update users set email = 'a' || char(0) || 'b' where id = 'usr_many00002'`)
  const escaped = JSON.stringify({ firstName: '\u0000' })
  await academy.database.run(sql`update courses set attributes = ${escaped}`)
  await expect(problem(academy.database)).rejects.toMatchObject({
    code: 'text_refused',
    message: 'PostgreSQL cannot hold the character U+0000, which is in: users usr_many00002; courses crs_one',
  })
})
