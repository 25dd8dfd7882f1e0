import { expect } from 'vitest'
import { test } from '../oauth/flow.ts'

const password = 'correct horse battery'

test('instructors create learners, and change no users, not by a batch either', async ({
  admin,
  analyst,
  instructor,
}) => {
  expect((await instructor.post('/v1/users', { email: 'a@b.example' })).status).toBe(201)
  for (const role of ['analyst', 'instructor', 'teacher']) {
    expect(await instructor.post('/v1/users', { email: 'c@b.example', role })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
  }
  for (const more of [{ role: 'admin' }, { password }]) {
    expect(await instructor.post('/v1/users', { email: 'c@b.example', ...more })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
  }
  expect((await instructor.put(`/v1/users/${analyst.id}`, { role: 'learner' })).status).toBe(403)
  const { email, version } = (await admin.get(`/v1/users/${admin.id}`)).body
  const { body: course } = await instructor.post('/v1/courses', { title: 'Logic' })
  await admin.post('/v1/enrollments', { courseId: course.id, userId: admin.id })
  const answer = await instructor.post('/v1/users/batch', {
    onExists: 'update',
    items: [
      { email, status: 'suspended' },
      { email: 'new@b.example' },
      { email: 'dean@b.example', role: 'analyst' },
    ],
  })
  expect(answer.body.results).toMatchObject([
    { index: 0, status: 403, code: 'forbidden', detail: `Role instructor cannot change user ${email}.` },
    { index: 1, status: 201 },
    { index: 2, status: 403, code: 'forbidden' },
  ])
  expect((await admin.get(`/v1/users/${admin.id}`)).body.version).toBe(version)
})

test('an admin without the scope admin changes learners alone', async ({ academy, admin, analyst }) => {
  const writer = await academy.person('admin', ['read', 'write'])
  const path = `/v1/users/${analyst.id}`
  expect((await writer.put(path, { role: 'instructor', username: 'dean' })).status).toBe(200)
  for (const answer of [
    await writer.put(path, { role: 'admin' }),
    await writer.put(path, { password }),
    ...(await Promise.all(
      [
        { role: 'learner' },
        { status: 'suspended' },
        { status: 'deleted' },
        { email: 'thief@b.example' },
        { username: 'thief' },
        { password },
      ].map((change) => writer.put(`/v1/users/${admin.id}`, change)),
    )),
    await writer.delete(`/v1/users/${admin.id}`),
    await writer.post('/v1/users', { email: 'a@b.example', role: 'admin' }),
    await writer.post('/v1/users', { email: 'a@b.example', password }),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope', scope: 'admin' } })
  }
})

test.for(['deleted and restored', 'made deleted and restored'])(
  'who is %s has none of the keys and grants from before',
  async (way, { academy, admin, flow }) => {
    const other = await academy.person('admin')
    const path = `/v1/users/${other.id}`
    const { access_token, refresh_token } = await flow.tokens(other)
    expect((await other.get('/v1/courses')).status).toBe(200)
    const answer = await (way.startsWith('made')
      ? admin.put(path, { status: 'deleted' })
      : admin.delete(path))
    expect(answer.status).toBeLessThan(300)
    expect((await admin.put(path, { status: 'active' })).status).toBe(200)
    for (const credential of [other.key, access_token]) {
      const refused = await academy.bearer(`Bearer ${credential}`).get('/v1/courses')
      expect(refused).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    }
    expect((await flow.refresh(refresh_token)).body.error).toBe('invalid_grant')
  },
)

test('a key of a suspended user works again when the user does', async ({ admin, analyst }) => {
  await admin.put(`/v1/users/${analyst.id}`, { status: 'suspended' })
  expect((await analyst.get('/v1/courses')).status).toBe(401)
  await admin.put(`/v1/users/${analyst.id}`, { status: 'active' })
  expect((await analyst.get('/v1/courses')).status).toBe(200)
})

test('learners see themselves only, analysts everybody', async ({ admin, analyst, learner }) => {
  expect((await learner.get('/v1/users')).body.data).toMatchObject([{ id: learner.id }])
  expect((await learner.get('/v1/users?role=admin')).body.data).toEqual([])
  expect((await learner.get(`/v1/users/${learner.id}`)).status).toBe(200)
  for (const name of [admin.id, `email:${admin.email}`, 'usr_none']) {
    expect(await learner.get(`/v1/users/${name}`)).toMatchObject({
      status: 404,
      body: { detail: `User ${name} not found.` },
    })
  }
  expect((await analyst.get(`/v1/users/${learner.id}`)).status).toBe(200)
  expect((await analyst.get('/v1/users?include_total=true')).body.total).toBe(4)
})

test('a password is never shown to anyone, and has twelve characters', async ({ academy, admin }) => {
  const made = await admin.post('/v1/users', { email: 'a@b.example', password })
  const path = `/v1/users/${made.body.id}`
  const answers = [
    made,
    await admin.put(path, { password: `${password} 2` }),
    await admin.get(path),
    await admin.get('/v1/users'),
    await admin.get('/v1/openapi.json'),
  ]
  for (const { text } of answers) {
    expect(text).not.toContain(password)
    expect(text).not.toContain('scrypt$')
  }
  for (const answer of answers.slice(0, 4)) expect(answer.text).not.toContain('password')
  expect(JSON.stringify(academy.logged)).not.toContain(password)
  for (const short of ['', 'short', 'eleven char']) {
    const answer = await admin.post('/v1/users', { email: 'a@b.example', password: short })
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/password', code: 'too_short' }] },
    })
    expect(answer.text).not.toContain('eleven')
  }
})
