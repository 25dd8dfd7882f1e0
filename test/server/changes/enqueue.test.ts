import { expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

interface Sent {
  readonly type: string
  readonly subject: string
  readonly data: Record<string, unknown>
}

/** Makes an endpoint for some events; returns a function for its queue, oldest first. */
async function subscribed(admin: Person, events?: readonly string[]): Promise<() => Promise<Sent[]>> {
  const { body } = await admin.post('/v1/webhooks/endpoints', {
    url: 'https://lms.example/hooks',
    ...(events && { events }),
  })
  return async () => {
    const { data } = (await admin.get(`/v1/webhooks/messages?endpoint_id=${body.id}&limit=100`)).body
    const all: Sent[] = []
    for (const { id, subject } of data.toReversed()) {
      const { type, data } = JSON.parse((await admin.get(`/v1/webhooks/messages/${id}`)).body.body)
      all.push({ type, subject, data })
    }
    return all
  }
}

test('an event is queued for its subscribers, with ids and short fields', async ({ admin, clock }) => {
  const queued = await subscribed(admin)
  const course = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG-1' })).body
  clock.advance(1000)
  await admin.put(`/v1/courses/${course.id}`, { status: 'published', title: 'Logic I' })
  const { body: user } = await admin.post('/v1/users', { email: 'ada@school.example', externalId: 'S-1' })
  const progress = { courseId: course.id, completionPercentage: 100 }
  await admin.put(`/v1/learners/${user.id}/progress`, progress)
  clock.advance(1000)
  await admin.put(`/v1/learners/${user.id}/progress`, progress)
  await admin.put('/v1/grades', { learnerId: user.id, courseId: course.id, scoreGiven: 80 })

  const all = await queued()
  expect(all.map(({ type }) => type)).toEqual([
    'course.created',
    'course.updated',
    'course.published',
    'user.created',
    'enrollment.created',
    'enrollment.completed',
    'progress.updated',
    'progress.completed',
    'progress.updated',
    'grade.updated',
  ])
  expect(all[2]).toEqual({
    type: 'course.published',
    subject: course.id,
    data: {
      id: course.id,
      externalId: 'LOG-1',
      title: 'Logic I',
      status: 'published',
      version: 2,
      updatedAt: clock.now().toISOString().replace('02.', '01.'),
    },
  })
  expect(all[7]).toMatchObject({
    subject: user.id,
    data: {
      learnerId: user.id,
      userExternalId: 'S-1',
      courseId: course.id,
      courseExternalId: 'LOG-1',
      completionPercentage: 100,
      status: 'completed',
    },
  })
  expect(all.slice(4).every(({ subject }) => subject === user.id)).toBe(true)
})

test('no endpoint gets an event that it did not subscribe to, or the same event twice', async ({ admin }) => {
  const courses = await subscribed(admin, ['course.*', 'course.created', '*'])
  const grades = await subscribed(admin, ['grade.*'])
  const { body } = await admin.post('/v1/courses', { title: 'Logic' })
  expect(await courses()).toMatchObject([{ type: 'course.created', data: { id: body.id } }])
  expect(await grades()).toEqual([])
})

test('a rolled back change queues nothing, and a batch queues an event for each item', async ({ admin }) => {
  const queued = await subscribed(admin, ['user.created'])
  const items = [{ email: 'a@school.example' }, { email: 'none' }, { email: 'b@school.example' }]
  await admin.post('/v1/users/batch', { items })
  expect(await queued()).toMatchObject([
    { data: { email: 'a@school.example' } },
    { data: { email: 'b@school.example' } },
  ])
})

test('messages about a user are deleted when the user is erased', async ({ admin }) => {
  const queued = await subscribed(admin, ['user.*'])
  const { body } = await admin.post('/v1/users', { email: 'ada@school.example', externalId: 'S-1' })
  await admin.delete(`/v1/users/${body.id}?erase=true`)
  expect(await queued()).toEqual([{ type: 'user.erased', subject: body.id, data: { id: body.id } }])
})

test('the longest texts make a body of less than 20 kB', async ({ admin }) => {
  const queued = await subscribed(admin, ['grade.updated'])
  const long = (length: number) => '\u{1F600}'.repeat(length / 2)
  const course = await admin.post('/v1/courses', { title: long(254), externalId: long(254) })
  await admin.put(`/v1/courses/${course.body.id}`, { status: 'published' })
  const { body: user } = await admin.post('/v1/users', {
    email: 'ada@school.example',
    externalId: '"'.repeat(255),
  })
  await admin.post('/v1/enrollments', { courseId: course.body.id, userId: user.id })
  const grade = {
    ...{ learnerId: user.id, courseId: course.body.id, scoreGiven: 1 / 3, itemId: '\\'.repeat(255) },
    ...{ source: '\u0001'.repeat(100), label: '\u0001'.repeat(255) },
  }
  expect(await admin.put('/v1/grades', grade)).toMatchObject({ status: 200 })
  expect(await queued()).toHaveLength(1)
  expect(Buffer.byteLength(JSON.stringify(await queued()))).toBeLessThan(20_000)
})
