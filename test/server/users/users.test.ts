import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { hour, onPostgres, start, test } from '../../helpers/academy.ts'

test('a user needs an e-mail address only', async ({ admin }) => {
  const made = await admin.post('/v1/users', { email: ' Ada@School.example ' })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^usr_/),
    externalId: null,
    email: 'Ada@School.example',
    username: null,
    role: 'learner',
    status: 'active',
    profile: {
      firstName: null,
      lastName: null,
      displayName: null,
      timezone: null,
      locale: null,
      avatarUrl: null,
      bio: null,
      learningPreferences: {
        languages: [],
        preferredDifficulty: null,
        pace: null,
        contentFormats: [],
        weeklyGoalMinutes: null,
        audio: null,
        captions: null,
        deliverySpeed: null,
        accessibility: { highContrast: false, screenReader: false, reducedMotion: false },
        notifications: { email: true, push: false },
      },
    },
    managedBy: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
})

test.for([
  ['teacher', 'instructor'],
  ['student', 'learner'],
  ['observer', 'analyst'],
])('the role %s is taken for %s', async ([alias, role], { admin }) => {
  expect((await admin.post('/v1/users', { email: 'a@b.example', role: alias })).body.role).toBe(role)
})

test.for(['ada', 'a@b', 'a b@c.example', '@b.example', 'a@b@c.example', `${'a'.repeat(250)}@b.example`])(
  'the e-mail address %j is 422',
  async (email, { admin }) => {
    const answer = await admin.post('/v1/users', { email })
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/email' }] } })
  },
)

test('e-mail addresses, in any case, external ids and usernames are unique', async ({ admin }) => {
  const { id } = (await admin.post('/v1/users', { email: 'Müller@School.example' })).body
  expect(await admin.post('/v1/users', { email: 'mÜLLER@school.EXAMPLE' })).toMatchObject({
    status: 409,
    body: {
      code: 'duplicate',
      id,
      existingStatus: 'active',
      errors: [{ pointer: '#/email', code: 'duplicate' }],
    },
  })
  const other = (await admin.post('/v1/users', { email: 'b@school.example' })).body
  expect((await admin.put(`/v1/users/${other.id}`, { email: 'müller@school.example' })).status).toBe(409)
  expect((await admin.put(`/v1/users/${id}`, { email: 'müller@school.example' })).body.version).toBe(2)
  await admin.post('/v1/users', { email: 'a@b.example', externalId: 'S1', username: 'ada' })
  for (const field of [{ externalId: 'S1' }, { username: 'ada' }]) {
    const answer = await admin.post('/v1/users', { email: 'c@d.example', ...field })
    expect(answer).toMatchObject({
      status: 409,
      body: { errors: [{ pointer: `#/${Object.keys(field)[0]}`, code: 'duplicate' }] },
    })
  }
})

test('a user is named by id, external id or e-mail address', async ({ admin }) => {
  const { id } = (await admin.post('/v1/users', { email: 'Ada+1@b.example', externalId: 'S1' })).body
  for (const name of [id, 'ext:S1', 'email:ada%2B1@B.example']) {
    expect((await admin.get(`/v1/users/${name}`)).body.id, name).toBe(id)
  }
  expect((await admin.get('/v1/users/email:nobody@b.example')).status).toBe(404)
})

test('a deleted user stays taken, is skipped, and is revived by status active', async ({ admin }) => {
  const { id } = (await admin.post('/v1/users', { email: 'ada@b.example', externalId: 'S1' })).body
  expect((await admin.delete(`/v1/users/${id}`)).status).toBe(204)
  expect((await admin.get(`/v1/users/${id}`)).body).toMatchObject({ status: 'deleted', version: 2 })
  expect((await admin.get('/v1/users/email:ada@b.example')).status).toBe(404)
  expect((await admin.get('/v1/users?q=ada')).body.data).toEqual([])
  expect((await admin.get('/v1/users?q=ada&include_deleted=true')).body.data).toHaveLength(1)
  expect((await admin.get('/v1/users?q=ada&status=deleted')).body.data).toHaveLength(1)
  expect(await admin.post('/v1/users', { email: 'ADA@b.example' })).toMatchObject({
    status: 409,
    body: { code: 'duplicate', id, existingStatus: 'deleted' },
  })
  await admin.delete(`/v1/users/${id}`)
  expect((await admin.put(`/v1/users/${id}`, { status: 'active' })).body).toMatchObject({
    status: 'active',
    email: 'ada@b.example',
    version: 3,
  })
  const answer = await admin.post('/v1/users', { email: 'a@b.example', status: 'deleted' })
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/status' }] } })
})

test('erasing permanently removes what identifies the user; the id stays', async ({ academy, admin }) => {
  const secret = { email: 'ada@b.example', externalId: 'S-4711', username: 'countess' }
  const { body: user } = await admin.post(
    '/v1/users',
    { ...secret, profile: { firstName: 'Augusta' }, password: 'correct horse battery' },
    { 'idempotency-key': '"made"' },
  )
  await admin.post('/v1/users', { email: 'ADA@b.example' }, { 'idempotency-key': '"twice"' })
  await admin.post('/v1/courses', { title: 'Sea' }, { 'idempotency-key': '"for ADA@b.example"' })
  const { key } = (await admin.post('/v1/keys', { name: 'Augusta’s tablet', userId: user.id })).body
  expect((await admin.delete(`/v1/users/${user.id}?erase=true`)).status).toBe(204)
  const { body } = await admin.get(`/v1/users/${user.id}`)
  expect(body).toMatchObject({ id: user.id, externalId: null, username: null, status: 'deleted' })
  expect(body.email).toMatch(/@erased\.invalid$/)
  expect((await academy.bearer(`Bearer ${key}`).get('/v1/courses')).status).toBe(401)
  const tables = await academy.database.all<{ name: string }>(
    onPostgres
      ? sql`select tablename as name from pg_tables where schemaname = 'public'`
      : // A full-text index cannot be read, but the tables behind it can.
        sql`select name from sqlite_schema where type = 'table' and sql not like 'create virtual %'`,
  )
  expect(tables).not.toEqual([])
  for (const { name } of tables) {
    const rows = JSON.stringify(await academy.database.all(sql`select * from ${raw(name)}`))
    expect(rows, name).not.toMatch(/ada@b|S-4711|countess|Augusta/i)
  }
  expect((await admin.post('/v1/users', secret)).status).toBe(201)
})

test('the last active admin is neither demoted, suspended, deleted nor erased', async ({ admin }) => {
  const owner = (await admin.get('/v1/users/email:admin@academy.local')).body
  await admin.put(`/v1/users/${owner.id}`, { status: 'suspended' })
  const own = `/v1/users/${admin.id}`
  for (const answer of [
    await admin.put(own, { role: 'instructor' }),
    await admin.put(own, { status: 'suspended' }),
    await admin.put(own, { status: 'deleted' }),
    await admin.delete(own),
    await admin.delete(`${own}?erase=true`),
  ]) {
    expect(answer).toMatchObject({ status: 409, body: { code: 'last_admin' } })
  }
  await admin.put(`/v1/users/${owner.id}`, { status: 'active' })
  expect((await admin.delete(own)).status).toBe(204)
})

test('one of two admins who delete each other at once is left', async ({ admin }) => {
  const owner = (await admin.get('/v1/users/email:admin@academy.local')).body
  const answers = await Promise.all([
    admin.delete(`/v1/users/${owner.id}`),
    admin.put(`/v1/users/${admin.id}`, { role: 'learner' }),
  ])
  // The second one may have lost the right, or would be the last admin.
  const refused = answers.filter(({ status }) => status >= 400).map(({ status }) => status)
  expect(refused).toHaveLength(1)
  expect([403, 409]).toContain(refused[0])
})

test('users are found by role, status, text, address, ids and time of change', async ({ admin, clock }) => {
  await admin.post('/v1/users', { email: 'zoe@b.example', role: 'analyst', profile: { lastName: 'Łukasz' } })
  clock.advance(hour)
  await admin.post('/v1/users', {
    email: 'yan@b.example',
    username: 'Janus',
    externalId: 'S1',
    managedBy: 'sis',
  })
  await admin.post('/v1/users', {
    email: 'xi@b.example',
    status: 'suspended',
    profile: { displayName: 'Yan Xi' },
  })
  const found = async (query: string) => {
    const { body } = await admin.get(`/v1/users?sort=email&${query}`)
    return body.data.map(({ email }: { email: string }) => email.split('@')[0])
  }
  expect(await found('role=analyst,instructor')).toEqual(['zoe'])
  expect(await found('status=suspended')).toEqual(['xi'])
  expect(await found('q=łUKASZ')).toEqual(['zoe'])
  expect(await found('q=janus')).toEqual(['yan'])
  expect(await found('q=yan')).toEqual(['xi', 'yan'])
  expect(await found('email=ZOE@b.example')).toEqual(['zoe'])
  expect(await found('external_id=S1')).toEqual(['yan'])
  expect(await found('managed_by=sis')).toEqual(['yan'])
  expect(await found('updated_since=2026-03-01T13:00:00Z')).toEqual(['xi', 'yan'])
})

test('a profile takes known things only, each checked', async ({ admin }) => {
  const { body } = await admin.post('/v1/users', {
    email: 'a@b.example',
    profile: {
      timezone: 'Europe/Atlantis',
      locale: 'no tongue',
      avatarUrl: 'ftp://b.example/a.png',
      phone: '1',
      learningPreferences: { deliverySpeed: 9, notifications: { mail: true }, contentFormats: ['smell'] },
    },
  })
  expect(body.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`).sort()).toEqual(
    [
      '#/profile/avatarUrl invalid_url',
      '#/profile/learningPreferences/contentFormats/0 invalid_choice',
      '#/profile/learningPreferences/deliverySpeed out_of_range',
      '#/profile/learningPreferences/notifications/mail unknown_field',
      '#/profile/locale invalid_language',
      '#/profile/phone unknown_field',
      '#/profile/timezone invalid_timezone',
    ],
  )
})

test('an update that finds the user as requested says so in a header', async ({ admin }) => {
  const { id } = (await admin.post('/v1/users', { email: 'ada@school.example' })).body
  const suspend = () => admin.put(`/v1/users/${id}`, { status: 'suspended' })
  const first = await suspend()
  expect(first.headers.get('unchanged')).toBe(null)
  const second = await suspend()
  expect(second).toMatchObject({ status: 200, body: first.body })
  expect(second.headers.get('unchanged')).toBe('true')
  expect(second.headers.get('etag')).toBe('"2"')
})
