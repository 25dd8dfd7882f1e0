import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test as withCli } from '../../helpers/cli.ts'

/** The program, signed in to an academy with 150 learners who have made progress. */
const test = withCli.extend('school', async ({ remote, admin }) => {
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
  const numbers = Array.from({ length: 150 }, (_, index) => index)
  const users = numbers.map((n) => ({ email: `l${n}@school.example`, externalId: `S-${n}` }))
  await admin.post('/v1/users/batch', { items: users })
  const items = numbers.map((n) => ({
    learnerId: `ext:S-${n}`,
    courseId: 'ext:sea',
    completionPercentage: n === 0 ? 100 : 10,
    lastAccessed: n < 100 ? '2026-01-01T10:00:00Z' : '2026-01-02T10:00:00Z',
  }))
  await admin.post('/v1/progress/batch', { items })
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('each statement is a line, and the same in each export', { tags: ['slow'] }, async ({ school }) => {
  const { code, stdout, stderr } = await school.run('analytics statements')
  expect([code, stderr]).toEqual([0, 'Exported 151 rows\n'])
  const statements = linesOf(stdout)
  expect(statements).toHaveLength(151)
  expect(statements[0]).toMatchObject({
    actor: { account: { homePage: 'http://localhost', name: expect.stringMatching(/^usr_/) } },
  })
  expect(stdout).not.toContain('school.example')
  expect((await school.run('analytics statements')).stdout).toBe(stdout)
})

test('-o json, and a file that ends in .json, have one array', { tags: ['slow'] }, async ({ school }) => {
  expect(JSON.parse((await school.run('analytics statements -o json')).stdout)).toHaveLength(151)
  await school.run('analytics statements --file s.json')
  expect(JSON.parse(readFileSync(join(school.cwd, 's.json'), 'utf8'))).toHaveLength(151)
  const { code, stderr } = await school.run('analytics statements -o csv')
  expect([code, stderr]).toEqual([
    2,
    'error: --output csv is not supported: statements are JSON\n  hint: Use -o jsonl for a statement per line, or -o json for one array\n',
  ])
})

test('version, actor, home page and period come from flags', { tags: ['slow'] }, async ({ school }) => {
  const flags =
    '--xapi-version 2.0.0 --actor email --home-page https://school.example --start-date 2026-01-02 --course ext:sea'
  const statements = linesOf((await school.run(`analytics statements ${flags}`)).stdout)
  expect(statements).toHaveLength(50)
  expect(statements[0]).toMatchObject({
    version: '2.0.0',
    actor: { mbox: expect.stringMatching(/^mailto:l\d+@school\.example$/) },
    object: { id: expect.stringMatching(/^https:\/\/school\.example\/v1\/courses\/crs_/) },
  })
  expect(await school.run('analytics statements --actor name')).toMatchObject({ code: 2 })
})
