import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { expect } from 'vitest'
import { dataTableNames, dataTables } from '../../src/contract/data-tables.ts'
import { test as withCli } from '../helpers/cli.ts'
import { makeDatabase, withoutPostgres } from '../helpers/postgres.ts'
import { programOnPath } from '../helpers/process.ts'
import { expectedRows } from '../server/analytics/data-set.ts'
import { anyWrite, initialWrites, sendWrite } from '../server/any-write.ts'

/** Runs load.sql of a data set as `duckdb < load.sql` does in its folder; returns the rows of each view. */
async function loadByDuckdb(folder: string): Promise<Record<string, string[]>> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const script = readFileSync(join(folder, 'load.sql'), 'utf8').replaceAll(
    /'(tables\/[^']+)'/g,
    (_, path) => `'${join(folder, path)}'`,
  )
  await connection.run("set timezone = 'UTC'")
  const statements = await connection.extractStatements(script)
  for (let index = 0; index < statements.count; index += 1) await (await statements.prepare(index)).run()
  const found: Record<string, string[]> = {}
  for (const table of dataTableNames) {
    const names = Object.keys(dataTables[table].fields)
    const shown = names.map((name) =>
      /At$|^lastAccessed$/.test(name)
        ? `strftime("${name}", '%Y-%m-%dT%H:%M:%S.%gZ') as "${name}"`
        : `"${name}"`,
    )
    const result = await connection.runAndReadAll(`select ${shown.join(', ')} from "${table}"`)
    found[table] = result
      .getRows()
      .map((row) => JSON.stringify(row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell))))
      .sort()
  }
  connection.closeSync()
  return found
}

const test = withCli.extend('school', async ({ remote, admin }) => {
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

for (const format of ['parquet', 'csv', 'jsonl']) {
  test(`DuckDB has the rows of the academy after each run of ${format}`, async ({
    school,
    admin,
    academy,
  }) => {
    for (const one of initialWrites) await sendWrite(academy, admin, one)
    const titles = [
      'Sea, "deep"',
      "O'Hara; drop table users",
      '=1+1',
      '007',
      '漢字\nline',
      ' ',
      '\\N',
      'NULL',
      '\u{1f600}',
    ]
    for (const title of titles)
      await admin.post('/v1/courses', { title: title.trim() || 'x', externalId: `ext-${title}` })
    await school.run(`analytics dataset set -o ${format}`)
    await fc.assert(
      fc.asyncProperty(fc.array(anyWrite, { minLength: 10, maxLength: 15 }), async (writes) => {
        for (const one of writes) await sendWrite(academy, admin, one)
        expect(await school.run('analytics dataset set')).toMatchObject({ code: 0 })
        expect(await loadByDuckdb(join(school.cwd, 'set'))).toEqual(await expectedRows(academy.database))
      }),
      { numRuns: 4, endOnFailure: true },
    )
  })
}

const psql = programOnPath('psql')

/** Runs load.postgresql.sql of a data set; returns the rows of each view. */
function loadByPsql(folder: string, url: string): Record<string, string[]> {
  const run = (...args: readonly string[]) =>
    execFileSync(psql ?? 'psql', ['-X', '-q', '-A', '-t', ...args, url], { cwd: folder, encoding: 'utf8' })
  run('-f', 'load.postgresql.sql')
  const found: Record<string, string[]> = {}
  for (const table of dataTableNames) {
    const shown = Object.keys(dataTables[table].fields).map((name) =>
      /At$|^lastAccessed$/.test(name)
        ? `to_char("${name}" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
        : `"${name}"`,
    )
    const rows = run('-c', `select json_agg(json_build_array(${shown.join(', ')})) from learnctl."${table}"`)
    found[table] = ((JSON.parse(rows.trim() || '[]') ?? []) as unknown[])
      .map((row) => JSON.stringify(row))
      .sort()
  }
  return found
}

for (const format of ['csv', 'jsonl']) {
  test.skipIf(withoutPostgres || psql === undefined)(
    `PostgreSQL has the rows of the academy after each run of ${format}, loaded once or twice`,
    async ({ school, admin, academy }) => {
      const database = await makeDatabase()
      try {
        for (const one of initialWrites) await sendWrite(academy, admin, one)
        await admin.post('/v1/courses', { title: 'Sea, "deep"; \\. \n\\N', externalId: '007' })
        await school.run(`analytics dataset set -o ${format}`)
        await fc.assert(
          fc.asyncProperty(fc.array(anyWrite, { minLength: 10, maxLength: 15 }), async (writes) => {
            for (const one of writes) await sendWrite(academy, admin, one)
            expect(await school.run('analytics dataset set')).toMatchObject({ code: 0 })
            const expected = await expectedRows(academy.database)
            const folder = join(school.cwd, 'set')
            expect(loadByPsql(folder, database.url)).toEqual(expected)
            expect(loadByPsql(folder, database.url)).toEqual(expected)
          }),
          { numRuns: 2, endOnFailure: true },
        )
      } finally {
        await database.remove()
      }
    },
  )
}

test.skipIf(withoutPostgres || psql === undefined)(
  'PostgreSQL does not compare each row of a view with each user',
  async ({ school, admin }) => {
    const database = await makeDatabase()
    try {
      await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
      for (let page = 0; page < 3; page += 1) {
        const items = Array.from({ length: 500 }, (_, index) => ({
          email: `${page}-${index}@school.example`,
        }))
        await admin.post('/v1/users/batch', { items })
        const enrolled = items.map(({ email }) => ({ userId: `email:${email}`, courseId: 'ext:sea' }))
        await admin.post('/v1/enrollments/batch', { items: enrolled })
      }
      await school.run('analytics dataset set -o csv')
      const folder = join(school.cwd, 'set')
      expect(loadByPsql(folder, database.url)['enrollments']).toHaveLength(1500)
      const plan = execFileSync(
        psql ?? 'psql',
        ['-X', '-A', '-t', '-c', 'explain select count(*) from learnctl.enrollments', database.url],
        { encoding: 'utf8' },
      )
      expect(plan).not.toMatch(/Join Filter: .*"userId"/)
    } finally {
      await database.remove()
    }
  },
)
