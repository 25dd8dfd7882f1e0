import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { type DataTableName, dataTableNames, dataTables } from '../../../src/contract/data-tables.ts'
import { day } from '../../helpers/academy.ts'
import { type TestCli, test as withCli } from '../../helpers/cli.ts'
import { randomRuns } from '../../helpers/random.ts'
import { expectedRows } from '../../server/analytics/data-set.ts'
import { anyWrite, initialWrites, sendWrite } from '../../server/any-write.ts'

/** The program, signed in to an academy. */
const test = withCli.extend('school', async ({ remote, admin }) => {
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

type Line = Readonly<Record<string, unknown>>

const readJson = (cli: TestCli, path: string) => JSON.parse(readFileSync(join(cli.cwd, path), 'utf8'))

/** Rows of all files of a table that the manifest names. */
function linesOf(cli: TestCli, folder: string, table: DataTableName): Line[] {
  const { runs } = readJson(cli, `${folder}/manifest.json`)
  return runs
    .flatMap(({ files }: { files: { table: string; path: string }[] }) => files)
    .filter((file: { table: string }) => file.table === table)
    .flatMap(({ path }: { path: string }) =>
      readFileSync(join(cli.cwd, folder, path), 'utf8')
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    )
}

/** The current rows of a data set of JSON lines, as its description says that they are found. */
function stateOf(cli: TestCli, folder: string): Record<string, unknown[]> {
  const current = new Map<DataTableName, Line[]>()
  for (const table of dataTableNames) {
    const newest = new Map<string, Line>()
    const { key, references, fields } = dataTables[table]
    for (const line of linesOf(cli, folder, table)) {
      const place = key.map((name) => line[name]).join()
      if (Number(newest.get(place)?.['changeNumber'] ?? 0) < Number(line['changeNumber']))
        newest.set(place, line)
    }
    const isThere = (to: DataTableName, id: unknown) => current.get(to)?.some((row) => row['id'] === id)
    const rows = [...newest.values()].filter(
      (line) =>
        line['changeState'] === 'current' &&
        Object.entries(references).every(([field, to]) => isThere(to, line[field])),
    )
    current.set(
      table,
      rows.map((row) => Object.fromEntries(Object.keys(fields).map((name) => [name, row[name]]))),
    )
  }
  return Object.fromEntries(
    [...current].map(([table, rows]) => [
      table,
      rows.map((row) => JSON.stringify(Object.values(row))).sort(),
    ]),
  )
}

const filesIn = (cli: TestCli, folder: string) =>
  readdirSync(join(cli.cwd, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(cli.cwd, folder, path)).isFile())
    .sort()

test('after any writes, the runs hold the academy', { tags: ['slow'] }, async ({
  school,
  admin,
  academy,
}) => {
  for (const one of initialWrites) await sendWrite(academy, admin, one)
  expect(await school.run('analytics dataset set -o jsonl')).toMatchObject({ code: 0, stdout: '' })
  await fc.assert(
    fc.asyncProperty(fc.array(anyWrite, { minLength: 5, maxLength: 10 }), async (writes) => {
      for (const one of writes) await sendWrite(academy, admin, one)
      expect(await school.run('analytics dataset set')).toMatchObject({ code: 0, stdout: '' })
      expect(stateOf(school, 'set')).toEqual(await expectedRows(academy.database))
    }),
    { numRuns: randomRuns(1, 8), endOnFailure: true },
  )
  await school.run('analytics dataset again -o jsonl')
  expect(stateOf(school, 'again')).toEqual(stateOf(school, 'set'))
})

test('a run adds files with the changed rows, or none', { tags: ['slow'] }, async ({ school, admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Sea, "deep"', externalId: '007' })
  const first = await school.run('analytics dataset set -o csv')
  expect(first.stderr).toMatch(
    /^Wrote \d+ rows to set in run 1: users \d+, courses 1, lessons 0, enrollments 0, progress 0, grades 0\n$/,
  )
  const names = ['load.bigquery.sql', 'load.postgresql.sql', 'load.sql', 'manifest.json', 'schema.json']
  const files = dataTableNames.map((name) => `tables/${name}/run-000001.csv`)
  expect(filesIn(school, 'set')).toEqual([...names, ...files].sort())
  const text = readFileSync(join(school.cwd, 'set/tables/courses/run-000001.csv'), 'utf8')
  expect(text).toMatch(/^id,externalId,title,.*,changeNumber,changeState\r\n\S+,007,"Sea, ""deep""",/)
  expect(statSync(join(school.cwd, 'set/tables/courses/run-000001.csv')).mode & 0o777).toBe(0o600)
  await admin.put(`/v1/courses/${course.id}`, { externalId: null })
  await admin.delete(`/v1/courses/${course.id}`)
  const second = await school.run('analytics dataset set')
  expect(second.stderr).toBe('Added 1 row to set in run 2: courses 1\n')
  const removed = readFileSync(join(school.cwd, 'set/tables/courses/run-000002.csv'), 'utf8')
  expect(removed).toMatch(new RegExp(`\r\n${course.id},{11}\\d+,removed\r\n$`))
  const before = filesIn(school, 'set')
  const third = await school.run('analytics dataset set')
  expect(third).toMatchObject({ code: 0, stderr: 'Nothing has changed since run 2 of set\n' })
  expect(filesIn(school, 'set')).toEqual(before)
})

test('the script for BigQuery loads quoted line breaks and control characters', async ({ school, admin }) => {
  await admin.post('/v1/courses', { title: 'bell \u0007, line\nbreak' })
  await school.run('analytics dataset set -o csv')
  const read = (name: string) => readFileSync(join(school.cwd, 'set', name), 'utf8')
  expect(read('tables/courses/run-000001.csv')).toContain('"bell \u0007, line\nbreak"')
  expect(read('load.bigquery.sql')).toContain(
    'allow_quoted_newlines = true, preserve_ascii_control_characters = true, uris = [',
  )
})

test('schema.json is a data package, with the keys and references of each table', async ({ school }) => {
  await school.run('analytics dataset set')
  const { resources } = readJson(school, 'set/schema.json')
  expect(resources.map(({ name }: { name: string }) => name)).toEqual(dataTableNames)
  expect(resources[4]).toMatchObject({
    path: ['tables/progress/run-000001.parquet'],
    format: 'parquet',
    schema: {
      recordKey: ['learnerId', 'courseId', 'version'],
      foreignKeys: [
        { fields: ['learnerId'], reference: { resource: 'users', fields: ['id'] } },
        { fields: ['courseId'], reference: { resource: 'courses', fields: ['id'] } },
      ],
    },
  })
  expect(resources[4].schema.fields).toContainEqual({
    name: 'recordedAt',
    type: 'datetime',
    description: 'When the step was recorded',
    unit: 'UTC',
  })
  const parquet = readFileSync(join(school.cwd, 'set/tables/users/run-000001.parquet'))
  expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])
})

test('a killed run is made up for by the next', { tags: ['slow'] }, async ({ school, admin, academy }) => {
  await school.run('analytics dataset set -o jsonl')
  const manifest = join(school.cwd, 'set/manifest.json')
  copyFileSync(manifest, join(school.cwd, 'before.json'))
  const { body: course } = await admin.post('/v1/courses', { title: 'Sea' })
  await school.run('analytics dataset set')
  // All files of run 2 are there, but it is not in the manifest; a file of run 3 is half written.
  copyFileSync(join(school.cwd, 'before.json'), manifest)
  writeFileSync(
    join(school.cwd, 'set/tables/grades/run-000002.jsonl.0123456789ab_1_0123456789ab.part'),
    '{"id',
  )
  await admin.put(`/v1/courses/${course.id}`, { title: 'Ocean' })
  await admin.post('/v1/users', { email: 'a@b.example' })
  expect((await school.run('analytics dataset set')).stderr).toBe(
    'Added 2 rows to set in run 2: users 1, courses 1\n',
  )
  expect(stateOf(school, 'set')).toEqual(await expectedRows(academy.database))
  expect(linesOf(school, 'set', 'courses')).toEqual([expect.objectContaining({ title: 'Ocean' })])
  expect(filesIn(school, 'set').filter((path) => path.endsWith('.part'))).toEqual([])
})

test('a run that a platform refuses adds nothing', { tags: ['slow'] }, async ({ school, admin, academy }) => {
  await school.run('analytics dataset set -o jsonl')
  const before = filesIn(school, 'set')
  await admin.post('/v1/courses', { title: 'Sea' })
  await academy.database.run(sql`alter table courses rename to hidden_courses`)
  const failed = await school.run('analytics dataset set --retries 0')
  expect(failed.code).not.toBe(0)
  expect(filesIn(school, 'set')).toEqual(before)
  await academy.database.run(sql`alter table hidden_courses rename to courses`)
  expect((await school.run('analytics dataset set')).code).toBe(0)
  expect(stateOf(school, 'set')).toEqual(await expectedRows(academy.database))
})

test('a data set of another place or too long ago is not continued, but begun again with --full', {
  tags: ['slow'],
}, async ({ school, academy, admin, clock }) => {
  await school.run('analytics dataset set -o jsonl')
  await admin.post('/v1/courses', { title: 'Sea' })
  await academy.database.run(
    sql`delete from row_changes where commit_order < (select max(commit_order) from row_changes)`,
  )
  clock.advance(day)
  const { code, stdout, stderr } = await school.run('analytics dataset set')
  expect([code, stdout]).toEqual([6, ''])
  expect(stderr).toBe(
    'error: Cannot add to set: what has changed is not known\n  The platform is another one, was restored from a backup, or the last run was more than 180 days ago\n  hint: Begin again with: learnctl analytics dataset set --full\n',
  )
  expect((await school.run('analytics dataset set --full')).stderr).toMatch(
    /^Wrote \d+ rows to set in run 2: /,
  )
  expect(filesIn(school, 'set').filter((path) => path.includes('run-000001'))).toEqual([])
  expect(stateOf(school, 'set')).toEqual(await expectedRows(academy.database))
  const load = readFileSync(join(school.cwd, 'set/load.sql'), 'utf8')
  const named = [...load.matchAll(/'(tables\/[^']+)'/g)].map(([, path = '']) => path)
  expect(named).toHaveLength(6)
  expect(named.every((path) => existsSync(join(school.cwd, 'set', path)))).toBe(true)
})

test('a folder with other files, another format and standard output are refused', async ({ school }) => {
  writeFileSync(join(school.cwd, 'notes.txt'), '')
  const other = await school.run('analytics dataset .')
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining('. is not a data set: it has no manifest.json'),
  ])
  await school.run('analytics dataset set -o csv')
  const format = await school.run('analytics dataset set -o jsonl')
  expect([format.code, format.stderr]).toEqual([2, expect.stringContaining('set has csv files, not jsonl')])
  expect((await school.run('analytics dataset other -o yaml')).stderr).toBe(
    'error: --output yaml is not supported: a data set has files for databases\n  hint: Use -o parquet, csv or jsonl\n',
  )
  expect(existsSync(join(school.cwd, 'other'))).toBe(false)
  expect((await school.run('analytics dataset -')).code).toBe(2)
  writeFileSync(join(school.cwd, 'set/manifest.json'), '{}')
  expect((await school.run('analytics dataset set')).stderr).toContain('set/manifest.json is damaged')
})

test('a data set with a missing file is not continued', { tags: ['slow'] }, async ({ school }) => {
  expect(await school.run('analytics dataset warehouse -o csv')).toMatchObject({ code: 0 })
  rmSync(join(school.cwd, 'warehouse/tables/users/run-000001.csv'))
  expect(await school.run('analytics dataset warehouse')).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'error: warehouse is incomplete: tables/users/run-000001.csv is missing\n' +
      '  hint: Put it back, or begin again with: learnctl analytics dataset warehouse --full\n',
  })
  expect(await school.run('analytics dataset warehouse --full')).toMatchObject({ code: 0 })
  writeFileSync(join(school.cwd, 'rows.csv'), '')
  expect(await school.run('analytics dataset rows.csv')).toMatchObject({
    code: 2,
    stderr: 'error: rows.csv is a file, not a folder\n  hint: Name a new or empty folder\n',
  })
})
