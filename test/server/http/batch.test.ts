import { expect } from 'vitest'
import { hour, type Person, test } from '../../helpers/academy.ts'

const codes = (answer: { body: { results: { status: number; code?: string }[] } }) =>
  answer.body.results.map(({ status, code }) => (code ? `${status} ${code}` : `${status}`))

async function courseOf(admin: Person): Promise<string> {
  return (await admin.post('/v1/courses', { title: 'Logic', externalId: 'L1' })).body.id
}

test('each item is judged on its own, with results in order', async ({ admin }) => {
  const taken = (await admin.post('/v1/users', { email: 'taken@b.example' })).body
  const answer = await admin.post('/v1/users/batch', {
    items: [
      { email: 'one@b.example' },
      { email: 'bad', rol: 'learner', username: 'a b' },
      { email: 'TAKEN@b.example' },
      { email: 'one@b.example' },
      null,
      { email: 'two\u0000@b.example', profile: { bio: '\ud800' } },
      { email: 'three@b.example' },
    ],
  })
  expect(answer.status).toBe(200)
  expect(answer.body.results).toEqual([
    { index: 0, status: 201, id: expect.stringMatching(/^usr_/) },
    {
      index: 1,
      status: 422,
      code: 'validation_failed',
      detail: expect.any(String),
      errors: [
        expect.objectContaining({ pointer: '#/email' }),
        expect.objectContaining({ pointer: '#/username' }),
        { pointer: '#/rol', code: 'unknown_field', detail: 'is not a known field; did you mean role?' },
      ],
    },
    expect.objectContaining({ index: 2, status: 409, code: 'duplicate', id: taken.id }),
    expect.objectContaining({ index: 3, status: 409, code: 'duplicate' }),
    expect.objectContaining({ index: 4, status: 422, code: 'validation_failed' }),
    expect.objectContaining({
      index: 5,
      status: 422,
      errors: expect.arrayContaining([
        expect.objectContaining({ pointer: '#/email', code: 'invalid_string' }),
        expect.objectContaining({ pointer: '#/profile/bio', code: 'invalid_string' }),
      ]),
    }),
    expect.objectContaining({ index: 6, status: 201 }),
  ])
  expect((await admin.get('/v1/users?q=b.example&include_total=true')).body.total).toBe(3)
})

test('an existing record is refused, changed or skipped, as onExists says', async ({ admin }) => {
  const items = [{ externalId: 'S1', email: 'one@b.example', profile: { firstName: 'Ada' } }]
  const send = async (onExists: string, sent: unknown = items) =>
    codes(await admin.post('/v1/users/batch', { items: sent, onExists }))
  expect(await send('update')).toEqual(['201'])
  expect(await send('fail')).toEqual(['409 duplicate'])
  expect(await send('skip')).toEqual(['200 skipped'])
  expect(await send('update')).toEqual(['200 unchanged'])
  expect(await send('update', [{ externalId: 'S1', email: 'new@b.example' }])).toEqual(['200'])
  expect(await send('update', [{ email: 'NEW@b.example', username: 'ada' }])).toEqual(['200'])
  expect((await admin.get('/v1/users/ext:S1')).body).toMatchObject({
    email: 'NEW@b.example',
    username: 'ada',
    profile: { firstName: 'Ada' },
    version: 3,
  })
})

test('a user of another external id is another user, whose e-mail address is taken', async ({ admin }) => {
  const user = (await admin.post('/v1/users', { email: 'one@b.example', externalId: '1' })).body
  const plain = (await admin.post('/v1/users', { email: 'two@b.example' })).body
  const items = [
    { email: 'one@b.example', externalId: '2' },
    { email: 'two@b.example', externalId: '3' },
  ]
  const { results } = (await admin.post('/v1/users/batch', { onExists: 'update', items })).body
  expect(results).toMatchObject([
    { status: 409, code: 'duplicate', id: user.id },
    { status: 200, id: plain.id },
  ])
  expect((await admin.get(`/v1/users/${user.id}`)).body.externalId).toBe('1')
})

test('an item that says active leaves a completed enrolment completed', async ({ admin, learner }) => {
  const course = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
  const item = { courseId: course.id, userId: learner.id, status: 'active' }
  await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage: 100 })
  const { results } = (await admin.post('/v1/enrollments/batch', { onExists: 'update', items: [item] })).body
  expect(results).toMatchObject([{ status: 200, code: 'unchanged' }])
  expect((await admin.get(`/v1/enrollments/${results[0].id}`)).body.status).toBe('completed')
})

test('a batch around its items is judged as a whole', async ({ admin }) => {
  for (const [body, pointer, code] of [
    [{}, '#/items', 'required'],
    [{ items: {} }, '#/items', 'invalid_type'],
    [{ items: Array(1001).fill({}) }, '#/items', 'too_long'],
    [{ items: [], onExists: 'updat' }, '#/onExists', 'invalid_choice'],
    [{ items: [], onExist: 'update' }, '#/onExist', 'unknown_field'],
  ] as const) {
    const answer = await admin.post('/v1/users/batch', body)
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } })
  }
  expect((await admin.post('/v1/users/batch', { items: [] })).body).toEqual({ results: [] })
})

test('enrolments come in batches, by whatever name of course and user', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  const items = [
    { courseId: 'ext:L1', userId: learner.id },
    { courseId, userId: `email:${learner.email}` },
    { courseId, userId: 'ext:none' },
    { courseId: 'crs_none', userId: learner.id },
  ]
  const send = async (onExists: string) =>
    codes(await admin.post('/v1/enrollments/batch', { items, onExists }))
  expect(await send('fail')).toEqual(['201', '409 duplicate', '404 not_found', '404 not_found'])
  expect(await send('skip')).toEqual(['200 skipped', '200 skipped', '404 not_found', '404 not_found'])
  expect(await send('update')).toEqual(['200 unchanged', '200 unchanged', '404 not_found', '404 not_found'])
  const [{ id }] = (await admin.get('/v1/enrollments')).body.data
  await admin.delete(`/v1/enrollments/${id}`)
  expect((await send('update')).slice(0, 2)).toEqual(['201', '200 unchanged'])
})

test('enrolments in one batch name users by external ids, known or unknown, and by ids as these', async ({
  admin,
  learner,
}) => {
  const courseId = await courseOf(admin)
  const users = [{ email: 'ada@b.example', externalId: 'S1' }]
  expect(codes(await admin.post('/v1/users/batch', { items: users }))).toEqual(['201'])
  const named = ['ext:S1', 'ext:none', `ext:${learner.id}`, 'ext:\0', 'ext:S1']
  const items = named.map((userId) => ({ courseId, userId }))
  const outcomes = ['201', '404 not_found', '201', '422 validation_failed', '409 duplicate']
  expect(codes(await admin.post('/v1/enrollments/batch', { items }))).toEqual(outcomes)
  const { data } = (await admin.get('/v1/enrollments')).body
  expect(data.map(({ userEmail }: { userEmail: string }) => userEmail).sort()).toEqual(
    ['ada@b.example', learner.email].sort(),
  )
})

test('progress comes in batches, an older record never in place of a newer one', async ({
  admin,
  learner,
  clock,
}) => {
  const courseId = await courseOf(admin)
  const at = (completionPercentage: number, time: string) => ({
    learnerId: `email:${learner.email}`,
    courseId: 'ext:L1',
    completionPercentage,
    lastAccessed: `2026-03-01T${time}:00Z`,
  })
  const items = [at(10, '10:00'), at(30, '11:00'), at(20, '10:30'), at(101, '11:30'), at(30, '11:00')]
  const send = async (more: object = {}) => codes(await admin.post('/v1/progress/batch', { items, ...more }))
  expect(await send()).toEqual(['201', '200', '409 stale_progress', '422 validation_failed', '200 unchanged'])
  clock.advance(hour)
  expect(await send({ onExists: 'skip' })).toEqual(Array(5).fill('200 skipped'))
  expect(await send({ onExists: 'fail' })).toEqual(Array(5).fill('409 duplicate'))
  expect((await admin.get(`/v1/learners/${learner.id}/progress`)).body.data).toMatchObject([
    { courseId, completionPercentage: 30, version: 2 },
  ])
})

test('an item that is refused leaves nothing behind', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  const late = {
    learnerId: learner.id,
    courseId,
    completionPercentage: 1,
    lastAccessed: '2026-03-02T00:00:00Z',
  }
  expect(codes(await admin.post('/v1/progress/batch', { items: [late] }))).toEqual(['422 validation_failed'])
  expect((await admin.get('/v1/enrollments')).body.data).toEqual([])
})
