import { expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../../helpers/foreign-platforms/platform.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

/** A platform with courses of these fields, in this order. */
function having(field: string, values: readonly unknown[]): ForeignPlatform {
  const platform = expressPlatform()
  const courses = values.map((value, index) => ({
    id: index,
    ...(value !== undefined && { [field]: value }),
  }))
  platform.intercept(() => json(200, courses))
  return platform
}

const ignored = { code: 0, stderr: 'note: express.example ignored --sort; the rows are in its own order\n' }
const obeyed = { code: 0, stderr: '' }

test.for([
  ['title', 'title', ['b', 'a'], ignored],
  ['-title', 'title', ['a', 'b', 'c'], ignored],
  ['title', 'title', ['Unit 1', 'Unit 10', 'Unit 2'], obeyed],
  ['title', 'title', ['Unit 1', 'Unit 2', 'Unit 10'], obeyed],
  ['title', 'title', ['Unit 2', 'unit 10', 'Unit 1'], ignored],
  ['title', 'title', ['B', 'a', 'c'], obeyed],
  ['title', 'title', ['a', 'B', 'c'], obeyed],
  ['title', 'title', ['C', 'a', 'B'], ignored],
  ['title', 'title', ['zebra', 'Äpfel', 'zoo'], obeyed],
  ['-updatedAt', 'updated_at', ['2026-03-02T00:00:00Z', '2026-03-01T00:00:00Z'], obeyed],
  ['-updatedAt', 'updated_at', ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'], ignored],
  ['updatedAt', 'updated_at', [9, 10, null, 11], obeyed],
  ['updatedAt', 'updated_at', ['10', '9'], ignored],
  ['difficulty', 'difficulty', ['beginner', 'intermediate', 'advanced', 'expert'], obeyed],
  ['difficulty', 'difficulty', ['advanced', 'beginner', 'intermediate'], obeyed],
  ['difficulty', 'difficulty', ['expert', 'advanced', 'intermediate', 'beginner'], ignored],
] as const)('--sort %s of %s %j', async ([sort, field, values, outcome], { run }) => {
  expect(await run(having(field, values), `courses list --sort ${sort}`)).toMatchObject(outcome)
})

test('rows that were cut from a list in another order are not the first ones', async ({ run }) => {
  const ran = await run(having('title', ['a', 'b', 'c']), 'courses list --sort -title --limit 1 -q')
  expect(ran).toEqual({
    code: 1,
    stdout: '0\n',
    stderr:
      'error: express.example ignored --sort: these may not be the first 1\n  hint: Use --all to get all rows, in the order of the platform\n',
  })
})

test('rows without the field cannot be checked', async ({ run }) => {
  expect(await run(having('title', ['a', undefined]), 'courses list --sort title')).toMatchObject({
    code: 0,
    stderr: 'note: Cannot check --sort: express.example sent rows without title\n',
  })
})
