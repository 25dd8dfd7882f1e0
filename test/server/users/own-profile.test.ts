import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { hashPassword, verifyPassword } from '../../../src/server/access/password-hash.ts'
import { type Caller, onPostgres, passwordCost, test } from '../../helpers/academy.ts'
import { givePassword, password } from '../oauth/flow.ts'

const first = password
const second = 'staple of the second'

test('every user can see who they are and what their credential may do', async ({ academy, learner }) => {
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

test('everybody changes their own profile and username, if it is free', async ({ admin, learner }) => {
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
  await admin.put('/v1/user/profile', { username: 'root' })
  expect(await learner.put('/v1/user/profile', { username: 'root' })).toMatchObject({
    status: 409,
    body: { code: 'duplicate', errors: [{ pointer: '#/username' }] },
  })
})

test('users cannot change their own role, status, address or external id', async ({ learner }) => {
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

test('the current password can be guessed five times, then slowly', async ({ academy, admin, learner }) => {
  await givePassword(academy, learner.id)
  const other = await admin.post('/v1/keys', { name: 'other', userId: learner.id, scopes: ['write'] })
  const change = (currentPassword: string, password: string, person: Caller = learner) =>
    person.put('/v1/user/profile', { password, currentPassword })
  for (let tries = 0; tries < 5; tries += 1) {
    expect((await change('not the right one', second)).status).toBe(422)
  }
  expect(await change(first, second)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  // The thief of a key cannot prevent its owner from changing the password.
  expect((await change(first, second, academy.bearer(`Bearer ${other.body.key}`))).status).toBe(200)
  academy.clock.advance(1000)
  expect((await change(second, first)).status).toBe(200)
})

// On PostgreSQL the attempt may have ended by then.
test.skipIf(onPostgres)(
  'a password that was changed while it was being proven stays as it is',
  async ({ academy, admin, learner }) => {
    const meanwhile = await hashPassword('the one of meanwhile', passwordCost)
    await admin.put(`/v1/users/${learner.id}`, { password: first })
    const attempt = learner.put('/v1/user/profile', { password: second, currentPassword: first })
    // When this is answered, the attempt is hashing.
    await learner.get('/v1/user/profile')
    await academy.database.run(sql`update users set password_hash = ${meanwhile} where id = ${learner.id}`)
    expect(await attempt).toMatchObject({ status: 422, body: { errors: [{ code: 'wrong_password' }] } })
    expect(await academy.database.one(sql`select password_hash from users where id = ${learner.id}`)).toEqual(
      {
        password_hash: meanwhile,
      },
    )
  },
)

test('a password is kept as scrypt with a salt, however composed', { tags: ['slow'] }, async () => {
  const stored = await hashPassword('Passwort für Åsa')
  expect(stored).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  expect(await verifyPassword('Passwort für Åsa'.normalize('NFD'), stored)).toBe(true)
})
