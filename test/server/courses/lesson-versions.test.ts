import { expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

/** Creates three versions of a lesson; returns its path. */
async function history(admin: Person): Promise<{ path: string; courseId: string }> {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', modules: [{ title: 'Terms' }] })
  const { body } = await admin.post('/v1/lessons', {
    courseId: course.id,
    moduleId: course.modules[0].id,
    title: 'Syllogisms',
    externalId: 'S1',
    contentBlocks: [{ type: 'markdown', body: '# Syllogisms' }],
  })
  const path = `/v1/lessons/${body.id}`
  await admin.put(path, { contentBlocks: [], description: 'Three lines' })
  await admin.put(path, { title: 'All syllogisms', status: 'draft', externalId: 'S2' })
  return { path, courseId: course.id }
}

test('a lesson has versions as a course has: each as it was, and what differs', async ({ admin }) => {
  const { path, courseId } = await history(admin)
  expect((await admin.get(`${path}/versions`)).body.data).toMatchObject([
    { version: 3, modifiedAttributes: ['externalId', 'title', 'status'] },
    { version: 2, modifiedAttributes: ['description', 'contentBlocks'] },
    { lessonId: path.split('/').at(-1), version: 1, userId: admin.id, modifiedAttributes: [] },
  ])
  const { attributes } = (await admin.get(`${path}/versions/1`)).body
  expect(attributes).toMatchObject({ courseId, title: 'Syllogisms', order: 1, status: 'published' })
  expect(attributes).not.toHaveProperty('version')
  expect((await admin.get(`${path}/versions/2/diff`)).body.changes).toEqual([
    { pointer: '/externalId', from: 'S1', to: 'S2' },
    { pointer: '/title', from: 'Syllogisms', to: 'All syllogisms' },
    { pointer: '/status', from: 'published', to: 'draft' },
  ])
  expect((await admin.get(`${path}/versions/4`)).status).toBe(404)
})

test('restoring brings a lesson back as a new version, never its identity', async ({ admin }) => {
  const { path, courseId } = await history(admin)
  const { body: first } = await admin.get(`${path}/versions/1`)
  const answer = await admin.post(`${path}/versions/1/restore`)
  expect(answer.status).toBe(201)
  expect(answer.headers.get('location')).toBe(`${path}/versions/4`)
  expect(answer.body).toMatchObject({
    version: 4,
    title: 'Syllogisms',
    description: '',
    externalId: 'S2',
    status: 'draft',
    moduleId: first.attributes.moduleId,
    contentBlocks: first.attributes.contentBlocks,
  })
  const { body: other } = await admin.post('/v1/courses', { title: 'Rhetoric' })
  await admin.put(path, { courseId: other.id, moduleId: null, order: 7 })
  expect((await admin.post(`${path}/versions/2/restore`)).body).toMatchObject({
    courseId: other.id,
    moduleId: null,
    order: 7,
    description: 'Three lines',
  })
  await admin.put(path, { courseId })
  await admin.put(`/v1/courses/${courseId}`, { modules: [] })
  expect((await admin.post(`${path}/versions/1/restore`)).body).toMatchObject({ moduleId: null, order: 1 })
  const stale = await admin.post(`${path}/versions/1/restore`, undefined, { 'if-match': '"2"' })
  expect(stale.status).toBe(412)
})

test('an indirect change is a version, too', async ({ admin }) => {
  const { path, courseId } = await history(admin)
  await admin.post('/v1/lessons', { courseId, title: 'Before it', order: 1 })
  await admin.put(`/v1/courses/${courseId}`, { modules: [] })
  const { data } = (await admin.get(`${path}/versions?limit=2`)).body
  expect(data).toMatchObject([
    { version: 5, modifiedAttributes: ['moduleId'] },
    { version: 4, modifiedAttributes: ['order'] },
  ])
  expect((await admin.get(`${path}/versions/3/diff`)).body.changes).toEqual([
    { pointer: '/moduleId', from: expect.stringMatching(/^mod_/), to: null },
    { pointer: '/order', from: 1, to: 2 },
  ])
  expect((await admin.post(`${path}/versions/3/restore`)).body).toMatchObject({ order: 1, version: 6 })
})
