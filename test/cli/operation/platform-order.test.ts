import { expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../../helpers/foreign-platforms/platform.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

/** A platform with courses that have these fields, in this order. */
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
  ['title', 'title', ['zebra', 'Äpfel', 'zoo'], ignored],
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

test('the one row of a list that was cut is not known to be the first one', async ({ run }) => {
  const courses = ['b', 'a', 'c'].map((title, id) => ({ id, title }))
  const platform = expressPlatform()
  platform.intercept(({ query }) => json(200, courses.slice(0, Number(query.get('limit') ?? 20))))
  const ignoring = await run(platform, 'courses list --sort -title --limit 1 -q')
  // A page with one course, which is all that the platform claims to have.
  expect(ignoring).toMatchObject({ code: 0, stdout: '0\n' })
  platform.intercept(({ query }) => {
    const limit = Number(query.get('limit') ?? 20)
    return json(200, {
      data: courses.slice(0, limit),
      total: courses.length,
      has_more: limit < courses.length,
    })
  })
  const cut = await run(platform, 'courses list --sort -title --limit 1 -q')
  expect(cut).toMatchObject({ code: 1, stdout: '0\n' })
  expect(cut.stderr).toContain('error: express.example ignored --sort: these may not be the first 1\n')
  platform.intercept(({ query }) => {
    const limit = Number(query.get('limit') ?? 20)
    const sorted = courses.toSorted((one, two) => one.title.localeCompare(two.title))
    if (query.get('sort') === '-title') sorted.reverse()
    return json(200, {
      data: sorted.slice(0, limit),
      total: courses.length,
      has_more: limit < courses.length,
    })
  })
  const obeying = await run(platform, 'courses list --sort -title --limit 1 -q')
  expect(obeying).toMatchObject({ code: 0, stdout: '2\n' })
})

test.for([
  ['without the field', 'title', [undefined, undefined]],
  ['of which some lack the field', 'title', ['a', undefined]],
  ['in another language', 'title', ['Ω', 'Äpfel']],
  ['with days and months that may be either', 'updatedAt', ['03/02/2024', '01/05/2024']],
] as const)('rows %s are told apart by the opposite order', async ([, field, values], { run }) => {
  const platform = having(field, values)
  expect(await run(platform, `courses list --sort ${field}`)).toMatchObject(ignored)
  const rows = values.map((value, id) => ({ id, ...(value !== undefined && { [field]: value }) }))
  platform.intercept(({ query }) => json(200, query.get('sort') === field ? rows : rows.toReversed()))
  expect(await run(platform, `courses list --sort ${field}`)).toMatchObject(obeyed)
})

test('rows without the field, on a platform that refuses the opposite order, cannot be checked', async ({
  run,
}) => {
  const platform = having('title', ['a', undefined])
  platform.intercept(({ query }) =>
    query.get('sort') === '-title'
      ? json(400, { error: 'sort' })
      : json(200, [{ id: 1, title: 'a' }, { id: 2 }]),
  )
  expect(await run(platform, 'courses list --sort title')).toMatchObject({
    code: 0,
    stderr: 'note: Cannot check --sort: express.example sent rows without title\n',
  })
})
