import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'

test('the fields of a table have type, unit, meaning, and what null means', async ({ cli }) => {
  const ran = await cli.run('analytics fields learners -o json')
  expect(ran.code).toBe(0)
  const fields = JSON.parse(ran.stdout)
  expect(fields).toHaveLength(19)
  expect(fields.find(({ name }: { name: string }) => name === 'completedAt')).toEqual({
    table: 'learners',
    name: 'completedAt',
    type: 'timestamp',
    unit: 'UTC',
    meaning: 'When the learner first reached the completion threshold',
    nullMeans: 'before that',
    privacy: 'time',
    operation: 'analytics.learners',
  })
})

test('all tables are shown without a name, several by their names, in any format', async ({ cli }) => {
  const all = (await cli.run('analytics fields --columns table,name -o csv')).stdout.split('\r\n')
  expect(all).toEqual(
    expect.arrayContaining(['learners,email', 'at-risk,reasons', 'users,bio', 'courses,tags']),
  )
  const some = await cli.run('analytics fields terms groups --columns table,privacy -o jsonl')
  expect(
    new Set(
      some.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).table),
    ),
  ).toEqual(new Set(['terms', 'groups']))
  expect((await cli.run('analytics fields -o parquet')).stdout.slice(0, 4)).toBe('PAR1')
  expect((await cli.run('analytics fields learners -q')).stdout.split('\n')[0]).toBe('learnerId')
})

test('an unknown table is refused with the known ones', async ({ cli }) => {
  const ran = await cli.run('analytics fields learner')
  expect([ran.code, ran.stdout]).toEqual([2, ''])
  expect(ran.stderr).toContain('error: No table "learner"\n  Tables: courses, ')
  expect(ran.stderr).toContain('Did you mean learners?')
})
