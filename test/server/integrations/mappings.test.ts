import { expect } from 'vitest'
import { type Person, start, test } from '../../helpers/academy.ts'

const path = '/v1/integrations/canvas/mappings'
const map = (admin: Person, noun: string, externalKey: string, reference: string) =>
  admin.put(path, { noun, externalKey, reference })

test('a mapping is made by its key, and changed by the same key', async ({ admin, learner }) => {
  const one = (await admin.post('/v1/courses', { title: 'One', externalId: 'BIO-101' })).body.id
  const other = (await admin.post('/v1/courses', { title: 'Other' })).body.id
  const made = await map(admin, 'course', '21070000000000565', 'ext:BIO-101')
  expect(made).toMatchObject({
    status: 200,
    body: {
      lmsKind: 'canvas',
      noun: 'course',
      externalKey: '21070000000000565',
      reference: one,
      name: 'One',
      targetStatus: 'active',
      version: 1,
      createdAt: start,
    },
  })
  expect((await map(admin, 'course', '21070000000000565', 'BIO-101')).body).toEqual(made.body)
  const moved = await map(admin, 'course', '21070000000000565', other)
  expect(moved.body).toMatchObject({ id: made.body.id, reference: other, name: 'Other', version: 2 })
  await map(admin, 'user', '21070000000000565', learner.email)
  expect((await admin.get(path)).body.data).toHaveLength(2)
  expect((await admin.get('/v1/integrations/moodle/mappings')).body.data).toEqual([])
  expect((await admin.get(`${path}/${made.body.id}`)).body).toEqual(moved.body)
  expect((await admin.get(`/v1/integrations/moodle/mappings/${made.body.id}`)).status).toBe(404)
  expect((await admin.delete(`${path}/${made.body.id}`, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.delete(`${path}/${made.body.id}`)).status).toBe(204)
  expect((await admin.delete(`${path}/${made.body.id}`)).status).toBe(404)
})

test('mappings are listed by noun, key and what they lead to', async ({ admin, learner, analyst }) => {
  const course = (await admin.post('/v1/courses', { title: 'One' })).body.id
  await map(admin, 'course', '1', course)
  await map(admin, 'course', '2', course)
  await map(admin, 'user', '1', learner.id)
  await map(admin, 'user', '3', analyst.id)
  const keys = async (query: string) =>
    (await admin.get(`${path}?${query}`)).body.data
      .map(({ noun, externalKey }: { noun: string; externalKey: string }) => `${noun} ${externalKey}`)
      .sort()
  expect(await keys('noun=course')).toEqual(['course 1', 'course 2'])
  expect(await keys('external_key=1')).toEqual(['course 1', 'user 1'])
  expect(await keys(`course_id=${course}`)).toEqual(['course 1', 'course 2'])
  expect(await keys(`user_id=${learner.email}`)).toEqual(['user 1'])
  expect(await keys('limit=100')).toHaveLength(4)
  const pages = await admin.get(`${path}?limit=3`)
  expect((await admin.get(`${path}?limit=3&cursor=${pages.body.nextCursor}`)).body.data).toHaveLength(1)
})

test('the target of a mapping may be deleted: the mapping says so, and leads there again after a restore', async ({
  admin,
  learner,
}) => {
  const course = (await admin.post('/v1/courses', { title: 'One' })).body.id
  await map(admin, 'course', '1', course)
  await map(admin, 'user', '2', learner.id)
  await admin.delete(`/v1/courses/${course}`)
  await admin.delete(`/v1/users/${learner.id}`)
  const seen = async () =>
    Object.fromEntries(
      (await admin.get(path)).body.data.map((one: Record<string, string>) => [
        one['externalKey'],
        [one['name'], one['targetStatus']],
      ]),
    )
  expect(await seen()).toEqual({ 1: ['One', 'deleted'], 2: [learner.email, 'deleted'] })
  await admin.post(`/v1/deleted-courses/${course}/restore`)
  await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  expect(await seen()).toEqual({ 1: ['One', 'active'], 2: [learner.email, 'active'] })
  await admin.delete(`/v1/courses/${course}?erase=true`)
  expect((await seen())[1]).toEqual([null, 'deleted'])
})

test('the mappings of a user are erased with the user', async ({ admin, learner }) => {
  await map(admin, 'user', '2', learner.id)
  await admin.delete(`/v1/users/${learner.id}?erase=true`)
  expect((await admin.get(path)).body.data).toEqual([])
})

test('a missing record cannot be mapped', async ({ admin, learner }) => {
  const unknown = await map(admin, 'course', '1', 'ext:none')
  expect(unknown).toMatchObject({
    status: 404,
    body: { errors: [{ pointer: '#/reference', code: 'not_found' }] },
  })
  expect((await map(admin, 'course', '1', learner.id)).status).toBe(404)
  await admin.delete(`/v1/users/${learner.id}`)
  expect((await map(admin, 'user', '1', learner.id)).status).toBe(404)
  expect((await map(admin, 'lesson', '1', 'ext:none')).status).toBe(422)
  expect((await map(admin, 'course', '', 'ext:none')).status).toBe(422)
})

test('many are mapped at once, each judged by itself', async ({ admin, learner }) => {
  const course = (await admin.post('/v1/courses', { title: 'One' })).body.id
  await map(admin, 'course', '1', course)
  const items = [
    { noun: 'course', externalKey: '1', reference: course },
    { noun: 'course', externalKey: '2', reference: course },
    { noun: 'user', externalKey: '3', reference: 'email:nobody@school.example' },
    { noun: 'user', externalKey: '4', reference: learner.email },
    { noun: 'user' },
  ]
  const { body } = await admin.post(`${path}/batch`, { items })
  expect(body.results.map(({ status, code }: { status: number; code?: string }) => [status, code])).toEqual([
    [200, 'unchanged'],
    [201, undefined],
    [404, 'not_found'],
    [201, undefined],
    [422, 'validation_failed'],
  ])
  const again = await admin.post(`${path}/batch`, { items: items.slice(0, 1), onExists: 'fail' })
  const detail = expect.stringMatching(/^A mapping of course 1 to One already exists: map_\w+\.$/)
  expect(again.body.results).toMatchObject([{ status: 409, code: 'duplicate', detail }])
})
