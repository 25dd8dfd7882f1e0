import { expect } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/server/password.ts'
import { test } from '../helpers/academy.ts'

const first = 'correct horse battery'
const second = 'staple of the second'

test('everybody is told who they are and what their credential may do', async ({ academy, learner }) => {
  expect((await learner.get('/v1/user/profile')).body).toMatchObject({
    id: learner.id,
    role: 'learner',
    scopes: ['read', 'write'],
    authMethod: 'api_key',
    profile: { firstName: null },
  })
  const reader = await academy.person('analyst')
  expect((await reader.get('/v1/user/profile')).body).toMatchObject({ role: 'analyst', scopes: ['read'] })
})

test('everybody changes their own profile and username, merged', async ({ learner }) => {
  await learner.put('/v1/user/profile', { profile: { firstName: 'Ada', bio: 'Hello' } })
  const answer = await learner.put('/v1/user/profile', {
    username: 'ada',
    profile: { bio: null, learningPreferences: { pace: 'fast' } },
  })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      username: 'ada',
      version: 3,
      profile: { firstName: 'Ada', bio: null, learningPreferences: { pace: 'fast', languages: [] } },
    },
  })
  expect((await learner.put('/v1/user/profile', answer.body)).body.version).toBe(3)
})

test('nobody changes their own role, status, address or external id', async ({ learner }) => {
  const answer = await learner.put('/v1/user/profile', {
    role: 'admin',
    status: 'suspended',
    email: 'me@b.example',
    externalId: 'x',
    managedBy: 'me',
  })
  expect(answer).toMatchObject({ status: 422, body: { code: 'read_only' } })
  expect(answer.body.errors).toHaveLength(5)
  expect((await learner.get('/v1/user/profile')).body).toMatchObject({ role: 'learner', version: 1 })
})

test('a new password takes the current one', async ({ academy, admin, learner }) => {
  const change = (body: object) => learner.put('/v1/user/profile', body)
  const wrong = { status: 422, body: { errors: [{ pointer: '#/currentPassword', code: 'wrong_password' }] } }
  expect(await change({ password: first, currentPassword: first })).toMatchObject(wrong)
  await admin.put(`/v1/users/${learner.id}`, { password: first })
  expect(await change({ password: second })).toMatchObject(wrong)
  expect(await change({ password: second, currentPassword: second })).toMatchObject(wrong)
  const changed = await change({ password: second, currentPassword: first })
  expect(changed).toMatchObject({ status: 200, body: { version: 3 } })
  expect(changed.text).not.toMatch(/password/i)
  expect(await change({ password: first, currentPassword: first })).toMatchObject(wrong)
  expect(academy.logged.every((entry) => !JSON.stringify(entry).includes('staple'))).toBe(true)
})

test('a username that is taken is 409', async ({ admin, learner }) => {
  await admin.put('/v1/user/profile', { username: 'root' })
  expect(await learner.put('/v1/user/profile', { username: 'root' })).toMatchObject({
    status: 409,
    body: { code: 'duplicate', errors: [{ pointer: '#/username' }] },
  })
})

test('a password is kept as scrypt with a salt, and read however it is composed', async () => {
  const stored = await hashPassword('Passwort für Åsa')
  expect(stored).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  expect(await verifyPassword('Passwort für Åsa'.normalize('NFD'), stored)).toBe(true)
})
