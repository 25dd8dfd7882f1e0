import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import { type TestCli, test as withCli } from '../helpers/cli.ts'

const learners = Array.from({ length: 12 }, (_, index) => ({
  email: `learner-${index}@school.example`,
  externalId: `MATR-${index}`,
}))

/**
 * An export as CSV, and later data sets under the same key and another one: in between a learner has progressed, one was deleted, and
 * one was added.
 */
const test = withCli.extend('files', async ({ remote, admin, clock }): Promise<TestCli> => {
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
  await admin.post('/v1/users/batch', { items: learners })
  const items = learners.map(({ externalId }, index) => ({
    learnerId: `ext:${externalId}`,
    courseId: 'ext:sea',
    completionPercentage: index * 5,
    lastAccessed: '2026-01-05T10:00:00.000Z',
  }))
  await admin.post('/v1/progress/batch', { items })
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  for (const key of ['study', 'other']) await remote.run(`analytics pseudonym-key --file ${key}.key`)
  const run = async (command: string, key: string) => {
    const { code } = await remote.run(`${command} --pseudonymise --pseudonym-key ${key}.key`)
    expect([command, code]).toEqual([command, 0])
  }
  await run('analytics export --file early.csv', 'study')
  clock.advance(24 * 60 * 60 * 1000)
  await admin.put('/v1/learners/ext:MATR-3/progress', { courseId: 'ext:sea', completionPercentage: 99 })
  await admin.delete('/v1/users/ext:MATR-4')
  await admin.post('/v1/users', { email: 'late@school.example', externalId: 'LATE' })
  for (const key of ['study', 'other']) await run(`analytics dataset ${key} -o parquet`, key)
  return remote
})

/** Returns the file of the first run of a table. */
function tableIn({ cwd }: TestCli, folder: string, table: string): string {
  const path = join(cwd, folder, 'tables', table, 'run-000001.parquet')
  expect(existsSync(path)).toBe(true)
  return path
}

test('DuckDB joins an export as CSV with a later data set as Parquet, under one key only', async ({
  files,
}) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const joined = async (key: string) => {
    const early = `read_csv('${join(files.cwd, 'early.csv')}', header = true, all_varchar = true)`
    const users = `read_parquet('${tableIn(files, key, 'users')}')`
    const progress = `read_parquet('${tableIn(files, key, 'progress')}')`
    const result = await connection.runAndReadAll(
      `select (select count(*) from ${early} e join ${users} u on u.id = e."learnerId") as people,
        (select count(*) from ${early} e join ${users} u on u.id = e."learnerId" and u."externalId" = e."externalId") as same,
        (select count(*) from ${early} e join ${progress} p on p."learnerId" = e."learnerId" and p."courseId" = e."courseId") as steps,
        (select count(*) from ${early} e join ${progress} p on p."learnerId" = e."learnerId" and p."courseId" = e."courseId"
          where p.version = 1 and p."completionPercentage" = cast(e."completionPercentage" as double)) as unchanged`,
    )
    return result.getRowObjectsJson()[0]
  }
  try {
    // Of 12 learners one was deleted; one has two steps, the first of which the export has.
    expect(await joined('study')).toEqual({ people: '11', same: '11', steps: '12', unchanged: '11' })
    expect(await joined('other')).toEqual({ people: '0', same: '0', steps: '0', unchanged: '0' })
  } finally {
    connection.closeSync()
  }
})
