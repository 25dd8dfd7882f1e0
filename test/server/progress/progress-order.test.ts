import { expect } from 'vitest'
import { minute, second, test } from '../../helpers/academy.ts'
import { makeCourse, progressSetter } from './setter.ts'

test('a time may be in any zone, and goes out in UTC to the millisecond', async ({ admin, learner }) => {
  const record = { courseId: await makeCourse(admin), completionPercentage: 1 }
  for (const [sent, kept] of [
    ['2026-03-01T00:30:00.5+02:00', '2026-02-28T22:30:00.500Z'],
    ['2026-03-01T10:00:00.123456789Z', '2026-03-01T10:00:00.123Z'],
    ['2026-03-01T06:00:00-05:30', '2026-03-01T11:30:00.000Z'],
  ]) {
    const { body } = await admin.put(`/v1/learners/${learner.id}/progress`, { ...record, lastAccessed: sent })
    expect(body.lastAccessed).toBe(kept)
  }
})

test('up to five minutes ahead is a wrong clock, more is the future', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin)
  const set = progressSetter(admin, learner, courseId)
  expect((await set(1, '12:05')).status).toBe(200)
  expect(await set(2, '12:06')).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/lastAccessed', code: 'in_future' }] },
  })
})

test('an older record never replaces a newer one', async ({ admin, learner }) => {
  const set = progressSetter(admin, learner, await makeCourse(admin))
  const { body: current } = await set(60, '11:00')
  const stale = await set(90, '10:59')
  expect(stale).toMatchObject({ status: 409, body: { code: 'stale_progress' } })
  expect(stale.body.current).toEqual(current)
  expect((await admin.get(`/v1/learners/${learner.id}/progress`)).body.data).toEqual([current])
})

test('a time that is only presumed gives way, and never sets one back', async ({ admin, learner }) => {
  const set = progressSetter(admin, learner, await makeCourse(admin))
  const lenient = { prefer: 'respond-async, handling=lenient' }
  await set(60, '11:00')
  expect(await set(70, '10:00', lenient)).toMatchObject({
    status: 200,
    body: { completionPercentage: 70, lastAccessed: '2026-03-01T11:00:00.000Z' },
  })
  expect((await set(80, '13:00', lenient)).body).toMatchObject({
    completionPercentage: 80,
    lastAccessed: '2026-03-01T12:00:00.000Z',
  })
  expect((await set(80, '13:00', { prefer: 'handling=strict' })).status).toBe(422)
})

test('a record without a time is the newest, whatever other clocks said', async ({ admin, learner }) => {
  const set = progressSetter(admin, learner, await makeCourse(admin))
  await set(60, '12:04')
  expect(await set(70)).toMatchObject({
    status: 200,
    body: { completionPercentage: 70, lastAccessed: '2026-03-01T12:04:00.000Z' },
  })
})

test('an equally old record replaces; a repetition does nothing', async ({ admin, learner, clock }) => {
  const set = progressSetter(admin, learner, await makeCourse(admin))
  const { body: first } = await set(60, '11:00')
  clock.advance(minute)
  expect((await set(60, '11:00')).body).toEqual(first)
  expect((await set(70, '11:00')).body).toMatchObject({ completionPercentage: 70, version: 2 })
})

test('records that arrive in any order end as the newest of them', async ({ admin, learner }) => {
  const courseId = await makeCourse(admin)
  const set = progressSetter(admin, learner, courseId)
  const records: readonly (readonly [number, string])[] = [
    [30, '09:30'],
    [10, '09:10'],
    [50, '09:50'],
    [20, '09:20'],
  ]
  await Promise.all(records.map(([percentage, time]) => set(percentage, time)))
  expect((await admin.get(`/v1/learners/${learner.id}/progress`)).body.data).toMatchObject([
    { completionPercentage: 50 },
  ])
})

test('every accepted step is in the history, newest first', async ({ admin, learner, clock }) => {
  const courseId = await makeCourse(admin)
  const set = progressSetter(admin, learner, courseId)
  await set(10, '08:00')
  clock.advance(second)
  await set(50, '09:00')
  await set(40, '08:30')
  const path = `/v1/learners/${learner.id}/progress/history?course_id=${courseId}`
  expect((await admin.get(path)).body).toEqual({
    data: [
      {
        learnerId: learner.id,
        userEmail: learner.email,
        userExternalId: null,
        courseId,
        courseTitle: 'Logic',
        courseExternalId: null,
        version: 2,
        completionPercentage: 50,
        status: 'in_progress',
        lastAccessed: '2026-03-01T09:00:00.000Z',
        recordedAt: '2026-03-01T12:00:01.000Z',
      },
      expect.objectContaining({ version: 1, completionPercentage: 10 }),
    ],
    nextCursor: null,
  })
  const first = await admin.get(`${path}&limit=1`)
  expect((await admin.get(`${path}&limit=1&cursor=${first.body.nextCursor}`)).body.data[0].version).toBe(1)
  const without = await admin.get(`/v1/learners/${learner.id}/progress/history`)
  expect(without).toMatchObject({
    status: 400,
    body: { errors: [{ parameter: 'course_id', code: 'required' }] },
  })
})

test('the list of progress is by course, last accessed first', async ({ admin, learner }) => {
  const [one, two] = [await makeCourse(admin), await makeCourse(admin, { externalId: 'L2' })]
  await progressSetter(admin, learner, one)(10, '08:00')
  await progressSetter(admin, learner, two)(20, '09:00')
  const path = `/v1/learners/${learner.id}/progress`
  const courses = async (query = '') =>
    (await admin.get(path + query)).body.data.map(({ courseId }: { courseId: string }) => courseId)
  expect(await courses()).toEqual([two, one])
  expect(await courses('?course_id=ext:L2')).toEqual([two])
})
