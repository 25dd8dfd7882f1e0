import { expect } from 'vitest'
import { type Person, second, test } from '../../helpers/academy.ts'
import { readPages } from '../../helpers/pages.ts'

const titles = (page: { body: { data: { title: string }[] } }) => page.body.data.map(({ title }) => title)

async function make(admin: Person, ...names: readonly string[]): Promise<void> {
  for (const title of names) await admin.post('/v1/courses', { title })
}

test('a list gives 20 at a time, newest first, and the way to the next', async ({ admin, clock }) => {
  for (let index = 1; index <= 21; index += 1) {
    await make(admin, `Course ${index}`)
    clock.advance(second)
  }
  const first = await admin.get('/v1/courses')
  expect(titles(first)).toHaveLength(20)
  expect(titles(first)[0]).toBe('Course 21')
  expect(first.body).not.toHaveProperty('total')
  const [, link = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? []
  expect(link).toBe(`/v1/courses?cursor=${first.body.nextCursor}`)
  const last = await admin.get(link)
  expect(titles(last)).toEqual(['Course 1'])
  expect(last.body.nextCursor).toBeNull()
  expect(last.headers.get('link')).toBeNull()
})

test('the next page keeps filters and order, whatever characters they have', { tags: ['slow'] }, async ({
  admin,
}) => {
  await make(admin, 'What & why? 1', 'What & why? 2', 'Other')
  const first = await admin.get('/v1/courses?q=what%20%26%20why%3F&sort=title&limit=1')
  expect(titles(first)).toEqual(['What & why? 1'])
  const [, link = ''] = /^<([^>]+)>/.exec(first.headers.get('link') ?? '') ?? []
  const next = await admin.get(link)
  expect(titles(next)).toEqual(['What & why? 2'])
  expect(next.body.nextCursor).toBeNull()
})

test('pages shift by nothing when rows come and go meanwhile', async ({ admin, clock }) => {
  for (const title of ['A', 'B', 'C', 'D', 'E']) {
    await make(admin, title)
    clock.advance(second)
  }
  const first = await admin.get('/v1/courses?limit=2')
  expect(titles(first)).toEqual(['E', 'D'])
  await make(admin, 'F', 'G')
  await admin.delete(`/v1/courses/${first.body.data[0].id}`)
  const second_ = await admin.get(`/v1/courses?limit=2&cursor=${first.body.nextCursor}`)
  expect(titles(second_)).toEqual(['C', 'B'])
  const third = await admin.get(`/v1/courses?limit=2&cursor=${second_.body.nextCursor}`)
  expect(titles(third)).toEqual(['A'])
})

test('rows of the same moment are told apart by id: none is lost, none comes twice', async ({ admin }) => {
  await make(admin, ...Array.from({ length: 25 }, (_, index) => `Course ${index}`))
  const seen = (await readPages<{ title: string }>(admin, '/v1/courses', 4)).map(({ title }) => title)
  expect(seen).toHaveLength(25)
  expect(new Set(seen).size).toBe(25)
})

test.for([
  ['title', ['apple', 'Banana', 'Ça va', 'éclair']],
  ['-title', ['éclair', 'Ça va', 'Banana', 'apple']],
  ['createdAt', ['éclair', 'Banana', 'apple', 'Ça va']],
] as const)('sort=%s holds over pages', async ([sort, expected], { admin, clock }) => {
  for (const title of ['éclair', 'Banana', 'apple', 'Ça va']) {
    await make(admin, title)
    clock.advance(second)
  }
  const first = await admin.get(`/v1/courses?sort=${sort}&limit=2`)
  const next = await admin.get(`/v1/courses?sort=${sort}&limit=2&cursor=${first.body.nextCursor}`)
  expect([...titles(first), ...titles(next)]).toEqual(expected)
})

test('courses sort by level, not by the name of the level', async ({ admin }) => {
  for (const difficulty of ['expert', 'advanced', 'beginner', 'intermediate']) {
    await admin.post('/v1/courses', { title: difficulty, difficulty })
  }
  const first = await admin.get('/v1/courses?sort=difficulty&limit=3')
  expect(titles(first)).toEqual(['beginner', 'intermediate', 'advanced'])
  const next = await admin.get(`/v1/courses?sort=difficulty&limit=3&cursor=${first.body.nextCursor}`)
  expect(titles(next)).toEqual(['expert'])
})

test('a list counts when it is asked to, the filtered rows only', async ({ admin }) => {
  await make(admin, 'A', 'B', 'Bee')
  expect((await admin.get('/v1/courses?q=B&limit=1&include_total=true')).body.total).toBe(2)
})

test.for(['0', '101', '-1', '1.5', 'ten', ''])('limit=%s is 400, not trimmed', async (limit, { admin }) => {
  expect(await admin.get(`/v1/courses?limit=${limit}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter', errors: [{ parameter: 'limit' }] },
  })
})

test('limit=100 is the most', async ({ admin }) => {
  expect((await admin.get('/v1/courses?limit=100')).status).toBe(200)
})

const madeUp = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.for([
  'abc',
  '%00',
  '',
  madeUp(null),
  madeUp({ sort: '-createdAt' }),
  madeUp(['-createdAt']),
  madeUp(['-createdAt', '2026', 7]),
  madeUp(['-createdAt', { $gt: '' }, 'crs_1']),
  madeUp(['-createdAt', null, 'crs_1']),
  madeUp(['-createdAt', '\0', 'crs_1']),
  madeUp(['-createdAt', '2026', 'crs_\0']),
])('the cursor %j, made up, is 400 invalid_cursor', async (cursor, { admin }) => {
  expect(await admin.get(`/v1/courses?cursor=${cursor}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_cursor', errors: [{ parameter: 'cursor', code: 'invalid_cursor' }] },
  })
})

test.for([
  ['/v1/courses', 'difficulty', 'a'],
  ['/v1/courses', '-difficulty', '1.5'],
  ['/v1/courses', 'createdAt', 7],
  ['/v1/learners/email:admin@academy.local/progress', '-completionPercentage', 'a'],
  ['/v1/learners/email:admin@academy.local/progress', '-completionPercentage', 1e300],
  ['/v1/courses', 'difficulty', 1e300],
  ['/v1/courses', 'difficulty', 3e9],
] as const)('%s in the order %s goes on behind %j, or refuses to', async ([path, sort, value], { admin }) => {
  const { status } = await admin.get(`${path}?sort=${sort}&cursor=${madeUp([sort, value, 'crs_1'])}`)
  expect([200, 400]).toContain(status)
})

test('a cursor of learner data, made up, is 400 invalid_cursor', async ({ admin }) => {
  for (const parts of [
    [],
    [7, '', '', ''],
    ['', 7, '', ''],
    ['', '', 1e300, ''],
    ['', '', '', null],
    ['', '', '', '', ''],
    ['', '', '', '\0'],
  ]) {
    for (const filter of ['', '&learner_id=email:admin@academy.local', '&end_date=2026-01-01']) {
      const path = `/v1/analytics/learners?cursor=${madeUp(['learners', ...parts])}${filter}`
      expect(await admin.get(path), JSON.stringify(parts)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      })
    }
  }
})

test('a cursor of one order is not one of another', async ({ admin }) => {
  await make(admin, 'A', 'B')
  const { nextCursor } = (await admin.get('/v1/courses?limit=1')).body
  expect(await admin.get(`/v1/courses?limit=1&sort=title&cursor=${nextCursor}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_cursor' },
  })
  expect(await admin.get(`/v1/analytics/learners?cursor=${nextCursor}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_cursor' },
  })
})

test('an unknown order is 400 with a near miss', async ({ admin }) => {
  expect((await admin.get('/v1/courses?sort=titel')).body.errors[0].detail).toContain('did you mean title?')
})
