import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import { newCredential } from '../../../src/server/access/secret.ts'
import { day, minute, second, start, test } from '../../helpers/academy.ts'

test('a key is lpk_, thirty characters of chance and six that check them', () => {
  const keys = Array.from({ length: 500 }, () => newCredential('apiKey'))
  for (const key of keys) {
    expect(key).toMatch(/^lpk_[0-9A-Za-z]{36}$/)
    expect(isCredential('apiKey', key)).toBe(true)
  }
  expect(new Set(keys).size).toBe(500)
})

test('the check characters are the CRC-32 of the thirty in base 62', () => {
  expect(isCredential('apiKey', 'lpk_qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakP')).toBe(true)
  expect(isCredential('apiKey', 'lpk_qkJaB6MffYVzZXWqmcoF49yrUxP3wg0LsakP')).toBe(false)
  expect(isCredential('apiKey', 'lpk_qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakQ')).toBe(false)
  expect(isCredential('apiKey', 'lpa_qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakP')).toBe(false)
})

test('a new key is shown once, reads only, lasts a year, acts as its owner', async ({ academy, admin }) => {
  const made = await admin.post('/v1/keys', { name: ' export ' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/v1/keys/${made.body.id}`)
  const { key, ...shown } = made.body
  expect(isCredential('apiKey', key)).toBe(true)
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_/),
    userId: admin.id,
    userEmail: admin.email,
    name: 'export',
    prefix: 'lpk_',
    last4: key.slice(-4),
    scopes: ['read'],
    expiresAt: start.replace('2026', '2027'),
    createdAt: start,
    lastUsedAt: null,
    revokedAt: null,
  })
  const listed = await admin.get(`/v1/keys?user_id=${admin.id}`)
  expect(listed.body.data).toContainEqual(shown)
  expect(listed.text).not.toContain(key)
  const profile = await academy.bearer(`Bearer ${key}`).get('/v1/user/profile')
  expect(profile.body).toMatchObject({ id: admin.id, scopes: ['read'], authMethod: 'api_key' })
})

test('null makes a key that does not expire', async ({ admin }) => {
  const { body } = await admin.post('/v1/keys', { name: 'export', expiresAt: null })
  expect(body).toMatchObject({ expiresAt: null })
})

test('a key may be made for another user, within their role', async ({ academy, admin, learner }) => {
  const key = { name: 'tablet', userId: learner.id, scopes: ['read', 'write'] }
  const made = await admin.post('/v1/keys', key)
  expect(made).toMatchObject({ status: 201, body: { userId: learner.id, scopes: ['read', 'write'] } })
  const profile = await academy.bearer(`Bearer ${made.body.key}`).get('/v1/user/profile')
  expect(profile.body).toMatchObject({ id: learner.id, role: 'learner' })
  expect(await admin.post('/v1/keys', { ...key, scopes: ['admin'] })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/scopes', code: 'invalid_choice' }] },
  })
})

test('no key carries more than the one that makes it', async ({ academy }) => {
  const narrow = await academy.person('admin', ['admin'])
  expect((await narrow.post('/v1/keys', { name: 'a', scopes: ['admin'] })).status).toBe(201)
  expect(await narrow.post('/v1/keys', { name: 'a', scopes: ['read', 'admin'] })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/scopes' }] },
  })
})

test('a key whose time is over is 403 expired_key', async ({ academy, admin, clock }) => {
  const expiresAt = '2026-03-02T14:00:00+02:00'
  const { body } = await admin.post('/v1/keys', { name: 'a day', expiresAt })
  expect(body.expiresAt).toBe('2026-03-02T12:00:00.000Z')
  const owner = academy.bearer(`Bearer ${body.key}`)
  clock.advance(day - second)
  expect((await owner.get('/v1/courses')).status).toBe(200)
  clock.advance(second)
  expect(await owner.get('/v1/courses')).toMatchObject({ status: 403, body: { code: 'expired_key' } })
})

test('an expired key is reported before its scope or role is checked', async ({ academy, admin, clock }) => {
  const { body } = await admin.post('/v1/keys', { name: 'a', expiresAt: '2026-03-01T13:00:00Z' })
  clock.advance(day)
  expect((await academy.bearer(`Bearer ${body.key}`).post('/v1/keys')).body.code).toBe('expired_key')
})

test('a key cannot expire in the past', async ({ admin }) => {
  expect(await admin.post('/v1/keys', { name: 'late', expiresAt: start })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/expiresAt', code: 'in_past' }] },
  })
})

test('a revoked key is 401 from then on, and stays on the list', async ({ academy, admin, clock }) => {
  const { body } = await admin.post('/v1/keys', { name: 'lost' })
  const finder = academy.bearer(`Bearer ${body.key}`)
  expect((await finder.get('/v1/courses')).status).toBe(200)
  clock.advance(minute)
  expect((await admin.delete(`/v1/keys/${body.id}`)).status).toBe(204)
  expect(await finder.get('/v1/courses')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  const revokedAt = '2026-03-01T12:01:00.000Z'
  clock.advance(minute)
  await admin.delete(`/v1/keys/${body.id}`)
  expect((await admin.get('/v1/keys')).body.data).toContainEqual(
    expect.objectContaining({ id: body.id, revokedAt, lastUsedAt: start }),
  )
  expect((await admin.delete('/v1/keys/key_none')).status).toBe(404)
})

test('the time of last use is kept to the minute', async ({ admin, clock }) => {
  const lastUsedAt = async () => (await admin.get(`/v1/keys?user_id=${admin.id}`)).body.data[0].lastUsedAt
  expect(await lastUsedAt()).toBeNull()
  clock.advance(59 * second)
  expect(await lastUsedAt()).toBe(start)
  clock.advance(second)
  await lastUsedAt()
  expect(await lastUsedAt()).toBe('2026-03-01T12:01:00.000Z')
})

test.for([
  'lpk_qkJaB6MffYVzZXWqmcoF49yrUxP3wf0LsakP',
  'lpk_',
  'Bearer',
  'Basic YWRtaW46YWRtaW4=',
  'Bearer ',
  'Bearer a b',
  "Bearer ' or 1=1 --",
])('the Authorization %j is 401 with a challenge', async (authorization, { academy }) => {
  const answer = await academy.bearer(authorization).get('/v1/courses')
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="learnctl", error="invalid_token", /)
})

test('Bearer may be in any case, and a key is not taken from the query', async ({ academy, admin }) => {
  expect((await academy.bearer(`bearer  ${admin.key}`).get('/v1/courses')).status).toBe(200)
  expect((await academy.bearer(undefined).get(`/v1/courses?access_token=${admin.key}`)).status).toBe(401)
})

test('a key of a user who is not active cannot be made', async ({ admin, learner }) => {
  await admin.delete(`/v1/users/${learner.id}`)
  expect(await admin.post('/v1/keys', { name: 'a', userId: learner.id })).toMatchObject({
    status: 409,
    body: { code: 'user_inactive' },
  })
  expect(await admin.post('/v1/keys', { name: 'a', userId: 'usr_none' })).toMatchObject({
    status: 404,
    body: { errors: [{ pointer: '#/userId', code: 'not_found' }] },
  })
})

test('only a digest of a key is kept', async ({ academy, admin }) => {
  expect(JSON.stringify(await academy.database.all(sql`select * from api_keys`))).not.toContain(
    admin.key.slice(4, -4),
  )
})

test('a user has at most 50 keys that are live', { tags: ['slow'] }, async ({ admin, clock, instructor }) => {
  const make = (expiresAt?: string | null) =>
    admin.post('/v1/keys', {
      name: 'ci',
      userId: instructor.id,
      ...(expiresAt !== undefined && { expiresAt }),
    })
  const soon = new Date(clock.now().getTime() + minute).toISOString()
  // The academy starts with a key.
  const made = [await make(soon), await make(null)]
  for (let count = 3; count < 50; count += 1) made.push(await make())
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  expect(await make()).toMatchObject({
    status: 409,
    body: {
      code: 'limit_reached',
      detail: `A user can have at most 50 active API keys; revoke one of ${instructor.email} first.`,
    },
  })
  expect((await admin.post('/v1/keys', { name: 'own' })).status).toBe(201)
  await admin.delete(`/v1/keys/${made[1]?.body.id}`)
  expect((await make()).status).toBe(201)
  expect((await make()).status).toBe(409)
  clock.advance(2 * minute)
  expect((await make()).status).toBe(201)
  expect((await make()).status).toBe(409)
})
