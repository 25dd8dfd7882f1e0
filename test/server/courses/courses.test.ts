import { expect } from 'vitest'
import { hour, type Person, start, test } from '../../helpers/academy.ts'

test('a course needs a title only; everything else has a default', async ({ instructor }) => {
  const made = await instructor.post('/v1/courses', { title: '  Logic  ' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/v1/courses/${made.body.id}`)
  expect(made.headers.get('etag')).toBe('"1"')
  expect(made.body).toEqual({
    id: expect.stringMatching(/^crs_[0-9a-z]+$/),
    externalId: null,
    title: 'Logic',
    description: '',
    difficulty: 'beginner',
    learningObjectives: [],
    modules: [],
    assessmentCriteria: { passingScore: 70, moveOn: 'Completed', weights: [] },
    adaptiveDifficulty: {
      enabled: false,
      minLevel: null,
      maxLevel: null,
      raiseAtScore: 85,
      lowerAtScore: 50,
      window: 3,
    },
    progressTracking: { enabled: true, completionThreshold: 100 },
    tags: [],
    language: null,
    durationMinutes: null,
    termId: null,
    managedBy: null,
    status: 'draft',
    termName: null,
    termExternalId: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
    publishedAt: null,
    archivedAt: null,
    createdBy: instructor.id,
  })
  expect((await instructor.get(`/v1/courses/${made.body.id}`)).body).toEqual(made.body)
})

test('an update merges objects, replaces arrays, and null is the default', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', {
    title: 'Logic',
    description: 'Old',
    difficulty: 'expert',
    tags: ['a', 'b'],
    assessmentCriteria: { passingScore: 50, moveOn: 'Passed' },
  })
  const update = await admin.put(`/v1/courses/${course.id}`, {
    description: null,
    tags: ['c'],
    assessmentCriteria: { passingScore: null, weights: [{ name: 'Exam', weight: 100 }] },
  })
  expect(update.body).toMatchObject({
    id: course.id,
    version: 2,
    previousVersion: 1,
    modifiedAttributes: ['description', 'assessmentCriteria', 'tags'],
    course: {
      title: 'Logic',
      description: '',
      difficulty: 'expert',
      tags: ['c'],
      assessmentCriteria: { passingScore: 70, moveOn: 'Passed', weights: [{ name: 'Exam', weight: 100 }] },
    },
  })
})

test.for([
  ['PUT', 'application/merge-patch+json'],
  ['PATCH', 'application/merge-patch+json'],
  ['PATCH', 'application/json'],
] as const)('%s of %s says the same; null on a required field is 422', async ([method, type], { admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const patch = (body: string) =>
    admin.send(method, `/v1/courses/${course.id}`, body, { 'content-type': type })
  expect((await patch('{"difficulty":"advanced"}')).body.course.difficulty).toBe('advanced')
  expect(await patch('{"title":null}')).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/title', code: 'required' }] },
  })
})

test('PATCH obeys If-Match, and rights, as PUT does', async ({ admin, analyst }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const patch = (person: Person, tag: string) =>
    person.send('PATCH', `/v1/courses/${course.id}`, '{"title":"Rhetoric"}', {
      'content-type': 'application/merge-patch+json',
      'if-match': tag,
    })
  expect((await patch(admin, '"7"')).status).toBe(412)
  expect((await patch(analyst, '"1"')).status).toBe(403)
  expect(await patch(admin, '"1"')).toMatchObject({ status: 200, body: { version: 2 } })
  const type = { 'content-type': 'application/merge-patch+json' }
  expect((await admin.send('POST', '/v1/courses', '{"title":"Logic"}', type)).status).toBe(415)
})

test('a read-only field sent back equal is ignored, different is 422 read_only', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const path = `/v1/courses/${course.id}`
  expect((await admin.put(path, { ...course, title: 'Rhetoric' })).body.version).toBe(2)
  const answer = await admin.put(path, { version: 7, createdAt: course.createdAt, id: 'crs_other' })
  expect(answer).toMatchObject({ status: 422, body: { code: 'read_only' } })
  expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/version', '#/id'])
})

test('modules have ids and places; those sent back keep theirs', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', {
    title: 'Logic',
    modules: [
      { title: 'Second', order: 2 },
      { title: 'First', order: 1 },
    ],
  })
  expect(course.modules.map(({ title }: { title: string }) => title)).toEqual(['First', 'Second'])
  const [, second] = course.modules
  const path = `/v1/courses/${course.id}`
  const { body } = await admin.put(path, {
    modules: [{ id: second.id, title: 'Second' }, { title: 'Third' }],
  })
  expect(body.course.modules).toEqual([
    { id: second.id, title: 'Second', description: '', order: 1 },
    { id: expect.stringMatching(/^mod_/), title: 'Third', description: '', order: 2 },
  ])
  const twice = { id: second.id, title: 'Twice' }
  const other = { id: 'mod_other', title: 'Other' }
  expect(await admin.put(path, { modules: [other, twice, twice] })).toMatchObject({
    status: 422,
    body: {
      errors: [
        { pointer: '#/modules/0/id', code: 'unknown_id' },
        { pointer: '#/modules/2/id', code: 'unknown_id' },
      ],
    },
  })
})

test('a removed module comes back with its id, but not to another course', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', modules: [{ title: 'First' }] })
  const path = `/v1/courses/${course.id}`
  await admin.put(path, { modules: [{ title: 'Second' }] })
  await admin.put(path, { title: 'Rhetoric', description: `"id":"${course.modules[0].id}"` })
  expect((await admin.put(path, { modules: course.modules })).body.course.modules).toEqual(course.modules)
  const { body: another } = await admin.post('/v1/courses', {
    title: 'Logic',
    description: `"id":"${course.modules[0].id}"`,
  })
  expect(await admin.put(`/v1/courses/${another.id}`, { modules: course.modules })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/modules/0/id', code: 'unknown_id' }] },
  })
})

test('an external id is unique among courses, and a way to name the course', async ({ admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', externalId: 'SIS/é 1' })
  expect((await admin.get(`/v1/courses/ext:${encodeURIComponent('SIS/é 1')}`)).body.id).toBe(course.id)
  expect(await admin.post('/v1/courses', { title: 'Other', externalId: 'SIS/é 1' })).toMatchObject({
    status: 409,
    body: {
      code: 'duplicate',
      id: course.id,
      existingStatus: 'draft',
      errors: [{ pointer: '#/externalId', code: 'duplicate' }],
    },
  })
  const other = (await admin.post('/v1/courses', { title: 'Other' })).body
  expect((await admin.put(`/v1/courses/${other.id}`, { externalId: 'SIS/é 1' })).status).toBe(409)
})

test('courses are found by status, level, text, tag, id, owner and change', async ({ admin, clock }) => {
  await admin.post('/v1/courses', { title: 'Über Logik', tags: ['a', 'b'], managedBy: 'sis' })
  clock.advance(hour)
  await admin.post('/v1/courses', {
    title: 'Two',
    description: 'ÜBERALL 100%',
    status: 'published',
    externalId: 'x',
  })
  await admin.post('/v1/courses', { title: 'Three', difficulty: 'expert' })
  const found = async (query: string) => {
    const { body } = await admin.get(`/v1/courses?sort=title&${query}`)
    return body.data.map(({ title }: { title: string }) => title)
  }
  expect(await found('status=published')).toEqual(['Two'])
  expect(await found('status=draft,published&difficulty=beginner')).toEqual(['Two', 'Über Logik'])
  expect(await found('difficulty=expert,advanced')).toEqual(['Three'])
  // Generated clients write a list this way.
  expect(await found('status=draft&status=published&difficulty=beginner')).toEqual(['Two', 'Über Logik'])
  expect(await found('q=über')).toEqual(['Two', 'Über Logik'])
  expect(await found('q=100%25')).toEqual(['Two'])
  expect(await found('q=_')).toEqual([])
  expect(await found('tag=b')).toEqual(['Über Logik'])
  expect(await found('external_id=x')).toEqual(['Two'])
  expect(await found('managed_by=sis')).toEqual(['Über Logik'])
  expect(await found('updated_since=2026-03-01T14:00:00%2B01:00')).toEqual(['Three', 'Two'])
})

test('learners see published courses only; a draft is not there for them', async ({ admin, learner }) => {
  const [draft, published] = await Promise.all(
    ['draft', 'published'].map(async (status) => {
      const { body } = await admin.post('/v1/courses', { title: 'Logic', status })
      return `/v1/courses/${body.id}`
    }),
  )
  expect((await learner.get('/v1/courses?status=draft,published')).body.data).toHaveLength(1)
  expect((await learner.get(published ?? '')).status).toBe(200)
  expect(await learner.get(draft ?? '')).toMatchObject({ status: 404, body: { code: 'not_found' } })
})

test('a course whose texts look like JSON is got and listed as it was', async ({ instructor }) => {
  const text = 'A ,"managedBy": in \\",\\"managedBy\\": and {}'
  const { body: made } = await instructor.post('/v1/courses', {
    title: text,
    description: text,
    externalId: text,
    managedBy: text,
    tags: [text],
  })
  const got = await instructor.get(`/v1/courses/${made.id}`)
  expect(got.body).toEqual(made)
  expect(Object.keys(got.body)).toEqual(Object.keys(made))
  expect((await instructor.get('/v1/courses')).body.data).toContainEqual(made)
})
