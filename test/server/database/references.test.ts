import { expect } from 'vitest'
import { test } from '../../helpers/academy.ts'

test('wherever an id is accepted, the school’s own is too, and the response has ours', {
  tags: ['slow'],
}, async ({ admin }) => {
  const course = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'C 1/ä' })).body
  const user = (await admin.post('/v1/users', { email: 'ada+x@b.example', externalId: 'S:1' })).body
  const lesson = (await admin.post('/v1/lessons', { courseId: 'ext:C 1/ä', title: 'One', externalId: 'L1' }))
    .body
  expect(lesson.courseId).toBe(course.id)
  const [ofCourse, ofUser] = [encodeURIComponent('ext:C 1/ä'), 'ext:S%3A1']
  const address = encodeURIComponent('email:ADA+x@b.example')

  expect((await admin.get(`/v1/courses/${ofCourse}`)).body.id).toBe(course.id)
  expect((await admin.put(`/v1/courses/${ofCourse}`, { tags: ['a'] })).body.id).toBe(course.id)
  expect((await admin.get(`/v1/courses/${ofCourse}/versions`)).body.data[0].courseId).toBe(course.id)
  expect((await admin.get(`/v1/lessons/ext:L1`)).body.id).toBe(lesson.id)
  expect((await admin.get(`/v1/lessons?course_id=${ofCourse}`)).body.data[0].id).toBe(lesson.id)
  const enrollment = (await admin.post('/v1/enrollments', { courseId: 'ext:C 1/ä', userId: 'ext:S:1' })).body
  expect(enrollment).toMatchObject({ courseId: course.id, userId: user.id })
  for (const learner of [ofUser, address]) {
    const record = { courseId: 'ext:C 1/ä', completionPercentage: 5 }
    const set = await admin.put(`/v1/learners/${learner}/progress`, record)
    expect(set.body).toMatchObject({ learnerId: user.id, courseId: course.id })
    const query = `?user_id=${learner}&course_id=${ofCourse}`
    expect((await admin.get(`/v1/enrollments${query}`)).body.data[0].id).toBe(enrollment.id)
    expect((await admin.get(`/v1/keys?user_id=${learner}`)).status).toBe(200)
    expect((await admin.get(`/v1/analytics/learners?learner_id=${learner}`)).body.data).toHaveLength(1)
  }
  const key = await admin.post('/v1/keys', { name: 'a', userId: 'email:ada+X@b.example' })
  expect(key.body.userId).toBe(user.id)
  expect((await admin.delete(`/v1/users/${address}`)).status).toBe(204)
})

test('a reference without a prefix is an id, else an external id, else the e-mail address of a user', {
  tags: ['slow'],
}, async ({ admin }) => {
  const course = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-101' })).body
  const other = (await admin.post('/v1/courses', { title: 'Ethics', externalId: course.id })).body
  const user = (await admin.post('/v1/users', { email: 'ada@b.example', externalId: '11391' })).body
  const named = (await admin.post('/v1/users', { email: 'b@b.example', externalId: 'ada@b.example' })).body
  expect((await admin.get('/v1/courses/BIO-101')).body.id).toBe(course.id)
  expect((await admin.get(`/v1/courses/${course.id}`)).body.id).toBe(course.id)
  expect((await admin.get(`/v1/courses/ext:${course.id}`)).body.id).toBe(other.id)
  expect((await admin.get('/v1/users/11391')).body.id).toBe(user.id)
  expect((await admin.get('/v1/users/B@b.example')).body.id).toBe(named.id)
  expect((await admin.get('/v1/users/ada@b.example')).body.id).toBe(named.id)
  expect((await admin.get('/v1/users/email:ada@b.example')).body.id).toBe(user.id)
  const enrolled = await admin.post('/v1/enrollments', { courseId: 'BIO-101', userId: '11391' })
  expect(enrolled.body).toMatchObject({ courseId: course.id, userId: user.id })
  expect((await admin.get('/v1/enrollments?user_id=11391')).body.data).toHaveLength(1)
  for (const completionPercentage of [10, 20]) {
    const set = await admin.put('/v1/learners/11391/progress', { courseId: 'BIO-101', completionPercentage })
    expect(set).toMatchObject({ status: 200, body: { learnerId: user.id, completionPercentage } })
  }
})

test('a record without an external id can be named by its id in place of one', { tags: ['slow'] }, async ({
  admin,
}) => {
  const course = (await admin.post('/v1/courses', { title: 'Logic' })).body
  const user = (await admin.post('/v1/users', { email: 'ada@b.example' })).body
  expect((await admin.get(`/v1/courses/ext:${course.id}`)).body.id).toBe(course.id)
  expect((await admin.get(`/v1/users/ext:${user.id}`)).body.id).toBe(user.id)
  expect((await admin.get(`/v1/lessons/ext:${course.id}`)).status).toBe(404)
})

test.for([
  'crs_none',
  'ext:',
  'ext:none',
  'email:a@b.example',
  '%00',
  'ext:%00',
  "'%20or%201=1--",
  '%F0%9F%98%80',
  '..%2f..',
])('there is no course %s', async (name, { admin }) => {
  await admin.post('/v1/courses', { title: 'Logic' })
  expect(await admin.get(`/v1/courses/${name}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect((await admin.delete(`/v1/courses/${name}?force=true`)).status).toBe(404)
  expect((await admin.get('/v1/courses?include_total=true')).body.total).toBe(1)
})

test.for([
  ['/v1/courses?external_id=', 'too_short'],
  ['/v1/courses?tag=', 'too_short'],
  ['/v1/courses?managed_by=', 'too_short'],
  ['/v1/users?email=', 'too_short'],
  ['/v1/users?external_id=', 'too_short'],
  ['/v1/lessons?module_id=', 'too_short'],
  ['/v1/lessons?course_id=', 'invalid_reference'],
  ['/v1/enrollments?user_id=', 'invalid_reference'],
  ['/v1/analytics/learners?learner_id=', 'invalid_reference'],
])('%s picks nothing out, and is 400 rather than everything', async ([path = '', code], { admin }) => {
  expect(await admin.get(path)).toMatchObject({ status: 400, body: { errors: [{ code }] } })
})

test.for(['/v1/courses?external_id=a%00', '/v1/users?email=a%00@b.example', '/v1/enrollments?user_id=%00'])(
  '%s is 400: no text has U+0000',
  async (path, { admin }) => {
    expect(await admin.get(path)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', errors: [{ code: 'invalid_string' }] },
    })
  },
)
