import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { newCredential } from '../../../src/server/access/secret.ts'
import { day, hour, minute, type Person } from '../../helpers/academy.ts'
import { givePassword, openFlow, password, register, type Tokens, test } from './flow.ts'

test('an access token acts as its owner, within its scopes', async ({ academy, flow, instructor }) => {
  const { access_token } = await flow.tokens(instructor, { scope: 'read' })
  const bearer = academy.bearer(`Bearer ${access_token}`)
  const profile = await bearer.get('/v1/user/profile')
  expect(profile.body).toMatchObject({ id: instructor.id, scopes: ['read'], authMethod: 'oauth' })
  expect(await bearer.post('/v1/courses', { title: 'Logic' })).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope', scope: 'write' },
  })
  expect(academy.logged.at(-1)).toMatchObject({
    userId: instructor.id,
    credential: expect.stringMatching(/^gnt_/),
    code: 'insufficient_scope',
  })
})

test('an access token is good for an hour, then expired', async ({ academy, admin, clock, flow }) => {
  const bearer = academy.bearer(`Bearer ${(await flow.tokens(admin)).access_token}`)
  clock.advance(hour - 1)
  expect((await bearer.get('/v1/courses')).status).toBe(200)
  clock.advance(1)
  const late = await bearer.get('/v1/courses')
  expect(late).toMatchObject({ status: 401, body: { code: 'token_expired' } })
  expect(late.headers.get('www-authenticate')).toMatch(/^Bearer realm="learnctl", error="invalid_token", /)
})

test('an access token never issued is 401, and counts as failed', async ({ academy, admin, flow }) => {
  const { access_token } = await flow.tokens(admin)
  for (const token of [newCredential('accessToken'), access_token.slice(0, -1), `${access_token}a`]) {
    const answer = await academy.bearer(`Bearer ${token}`).get('/v1/courses')
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  }
  const stranger = academy.bearer(`Bearer ${newCredential('accessToken')}`)
  for (let count = 3; count < 20; count += 1) expect((await stranger.get('/v1/courses')).status).toBe(401)
  expect((await stranger.get('/v1/courses')).status).toBe(429)
  expect((await academy.bearer(`Bearer ${access_token}`).get('/v1/courses')).status).toBe(200)
})

test('an access token in the query is none', async ({ academy, admin, flow }) => {
  const { access_token } = await flow.tokens(admin)
  const answer = await academy.bearer(undefined).get(`/v1/courses?access_token=${access_token}`)
  expect(answer).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
})

test('a token does what the role may do at each request', async ({ academy, admin, flow, instructor }) => {
  const { access_token } = await flow.tokens(instructor, { scope: 'read write' })
  const bearer = academy.bearer(`Bearer ${access_token}`)
  await admin.put(`/v1/users/${instructor.id}`, { role: 'analyst' })
  expect((await bearer.get('/v1/user/profile')).body.scopes).toEqual(['read'])
  expect((await bearer.post('/v1/courses', { title: 'Logic' })).status).toBe(403)
})

test('when a grant was last used is kept, to the minute', async ({ academy, admin, clock, flow }) => {
  const { access_token, refresh_token } = await flow.tokens(admin)
  const lastUsed = async () => (await admin.get('/v1/grants')).body.data[0].lastUsedAt
  const bearer = academy.bearer(`Bearer ${access_token}`)
  expect(await lastUsed()).toBeNull()
  await bearer.get('/v1/courses')
  expect(await lastUsed()).toBe('2026-03-01T12:00:00.000Z')
  clock.advance(59_000)
  await bearer.get('/v1/courses')
  expect(await lastUsed()).toBe('2026-03-01T12:00:00.000Z')
  clock.advance(minute)
  await bearer.get('/v1/courses')
  expect(await lastUsed()).toBe('2026-03-01T12:01:59.000Z')
  clock.advance(minute)
  await flow.refresh(refresh_token)
  expect(await lastUsed()).toBe('2026-03-01T12:02:59.000Z')
})

test('a grant is listed until its newest refresh token ends', async ({ admin, clock, flow }) => {
  const first = await flow.tokens(admin)
  const expiresAt = async () => (await admin.get('/v1/grants')).body.data[0]?.expiresAt
  expect(await expiresAt()).toBe('2026-03-31T12:00:00.000Z')
  clock.advance(10 * day)
  await flow.refresh(first.refresh_token)
  expect(await expiresAt()).toBe('2026-04-10T12:00:00.000Z')
  clock.advance(30 * day)
  expect(await expiresAt()).toBeUndefined()
})

const ends: readonly (readonly [string, (admin: Person, own: Person) => Promise<unknown>])[] = [
  ['a new password', (admin, own) => admin.put(`/v1/users/${own.id}`, { password: 'another horse battery' })],
  [
    'a new password of their own',
    (_, own) => own.put('/v1/user/profile', { password: 'another horse battery', currentPassword: password }),
  ],
  ['suspension', (admin, own) => admin.put(`/v1/users/${own.id}`, { status: 'suspended' })],
  ['deletion', (admin, own) => admin.delete(`/v1/users/${own.id}`)],
  ['erasure', (admin, own) => admin.delete(`/v1/users/${own.id}?erase=true`)],
]

test.for(ends)(
  '%s ends tokens, codes and browser sessions at once, and for good',
  async ([, end], { academy, admin, flow, instructor, learner }) => {
    const other = await openFlow(academy).tokens(instructor)
    const tokens = await flow.tokens(learner)
    const code = await flow.code(learner)
    const page = await flow.consent(learner)
    const bearer = academy.bearer(`Bearer ${tokens.access_token}`)
    expect((await bearer.get('/v1/courses')).status).toBe(200)
    await end(admin, learner)
    const dead = async () => {
      expect(await bearer.get('/v1/courses')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
      expect((await flow.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
      expect((await flow.exchange(code)).body.error).toBe('invalid_grant')
      const answered = await flow.browser.submit(page, {}, 'Allow')
      expect(answered.leadsTo).toBeNull()
      expect(answered.text).toContain('E-mail address or username')
    }
    await dead()
    await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
    await dead()
    expect((await admin.get(`/v1/grants?user_id=${learner.id}`)).body.data).toEqual([])
    expect((await academy.bearer(`Bearer ${other.access_token}`).get('/v1/courses')).status).toBe(200)
  },
)

test('deleting an application ends its tokens and codes at once', async ({ academy, admin, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const client_secret = clientSecret ?? ''
  const other = await flow.tokens(admin)
  const tokens = await flow.tokens(admin, { client_id, client_secret })
  const code = await flow.code(admin, { client_id })
  const device = await flow.send('/oauth/device_authorization', { client_id, client_secret })
  expect(device.status).toBe(200)
  expect((await admin.delete(`/v1/apps/${client_id}`)).status).toBe(204)
  const answer = await academy.bearer(`Bearer ${tokens.access_token}`).get('/v1/courses')
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  expect((await flow.refresh(tokens.refresh_token, { client_id, client_secret })).body.error).toBe(
    'invalid_client',
  )
  expect((await flow.exchange(code, { client_id, client_secret })).body.error).toBe('invalid_client')
  expect((await flow.authorize({ client_id })).status).toBe(400)
  expect(
    await academy.database.one(sql`
      select (select count(*) from grants) as grants, (select count(*) from access_tokens) as access,
        (select count(*) from refresh_tokens) as refresh, (select count(*) from authorization_codes) as codes,
        (select count(*) from device_codes) as devices`),
  ).toEqual({ grants: 1, access: 1, refresh: 1, codes: 1, devices: 0 })
  expect((await academy.bearer(`Bearer ${other.access_token}`).get('/v1/courses')).status).toBe(200)
})

test('revoking a grant over the API kills its tokens at once', async ({ academy, flow, learner }) => {
  const tokens: Tokens = await flow.tokens(learner)
  const [grant] = (await learner.get('/v1/grants')).body.data
  expect((await learner.delete(`/v1/grants/${grant.id}`)).status).toBe(204)
  expect((await academy.bearer(`Bearer ${tokens.access_token}`).get('/v1/courses')).status).toBe(401)
  expect((await flow.refresh(tokens.refresh_token)).body.error).toBe('invalid_grant')
})

test('a token may revoke its own grant, and is dead with the answer', async ({ academy, flow, learner }) => {
  const { access_token } = await flow.tokens(learner)
  const bearer = academy.bearer(`Bearer ${access_token}`)
  const [grant] = (await bearer.get('/v1/grants')).body.data
  expect((await bearer.delete(`/v1/grants/${grant.id}`)).status).toBe(204)
  expect((await bearer.get('/v1/grants')).status).toBe(401)
})

test('a new user with the address of an erased one has none of their grants', { tags: ['slow'] }, async ({
  academy,
  admin,
  flow,
  learner,
}) => {
  const { access_token } = await flow.tokens(learner)
  await admin.delete(`/v1/users/${learner.id}?erase=true`)
  const made = await admin.post('/v1/users', { email: learner.email })
  await givePassword(academy, made.body.id)
  expect((await academy.bearer(`Bearer ${access_token}`).get('/v1/user/profile')).status).toBe(401)
})
