import { expect } from 'vitest'
import { test } from '../../helpers/academy.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

/** A course with this many unknown fields. */
const courseWith = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, value]))

test.for(
  slowRows([
    ['values', 1],
    ['nulls', null],
  ]),
)('of 999 unknown fields with %s, 100 are told and the rest are counted', async ([, value], { admin }) => {
  const { status, body, text } = await admin.post('/v1/courses', {
    title: 'Logic',
    ...courseWith(999, value),
  })
  expect(status).toBe(422)
  expect(body.errors).toHaveLength(100)
  expect(body.moreErrors).toBe(899)
  expect(body.detail).toMatch(/^999 problems found: x0, .*, x9 and 989 more places\.$/)
  expect(text.length).toBeLessThan(16_000)
})

test('an object inside a body is counted before its fields are judged', { tags: ['slow'] }, async ({
  admin,
}) => {
  const { status, body } = await admin.post('/v1/courses', {
    title: 'Logic',
    adaptiveDifficulty: courseWith(1001),
  })
  expect(status).toBe(422)
  expect(body.errors).toEqual([
    { pointer: '#/adaptiveDifficulty', code: 'too_many', detail: 'must not have more than 1000 fields' },
  ])
})

test('names as long as a body do not come back whole', async ({ admin }) => {
  const long = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`${index}${'é'.repeat(4000)}`, 1]),
  )
  const { body, text } = await admin.post('/v1/courses', { title: 'Logic', ...long })
  expect(body.errors).toHaveLength(100)
  // The client reads up to 64 KiB of an error.
  expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024)
  const deep = (depth: number): object =>
    depth === 0 ? courseWith(100) : { ['n'.repeat(5000)]: deep(depth - 1) }
  const nested = await admin.post('/v1/courses', deep(20))
  expect(Buffer.byteLength(nested.text)).toBeLessThan(64 * 1024)
})

test('the faults in all items of a batch together are reported up to a thousand', { tags: ['slow'] }, async ({
  admin,
}) => {
  const items = Array.from({ length: 300 }, () => ({ email: 'a@b.example', ...courseWith(40) }))
  const { status, body } = await admin.post('/v1/users/batch', { items })
  expect(status).toBe(200)
  const reported = body.results.map(({ errors = [] }: { errors?: unknown[] }) => errors.length)
  expect(reported.reduce((sum: number, count: number) => sum + count)).toBe(1000)
  expect(body.results.at(-1)).toMatchObject({
    status: 422,
    code: 'validation_failed',
    detail: expect.stringMatching(/^40 problems found: /),
  })
})

test('an unknown field with null is refused like any other, in objects too', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const wrong = { titel: null, adaptiveDifficulty: { windw: null }, version: null }
  for (const answer of [
    await admin.post('/v1/courses', { title: 'Logic', ...wrong }),
    await admin.put(`/v1/courses/${course.id}`, wrong),
  ]) {
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toEqual([
      {
        pointer: '#/adaptiveDifficulty/windw',
        code: 'unknown_field',
        detail: 'is not a known field; did you mean window?',
      },
      { pointer: '#/titel', code: 'unknown_field', detail: 'is not a known field; did you mean title?' },
      { pointer: '#/version', code: 'read_only', detail: 'is read-only' },
    ])
  }
  const reset = await admin.put(`/v1/courses/${course.id}`, { difficulty: null, publishedAt: null })
  expect(reset).toMatchObject({ status: 200, body: { version: 1 } })
})
