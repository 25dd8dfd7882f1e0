import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { isCredential } from '../../../src/codec/credential-text.ts'
import { hour, second } from '../../helpers/academy.ts'
import { callback, challengeFor, register, test, verifier } from './flow.ts'

test('a code is exchanged for an access and a refresh token, uncached', async ({ admin, flow }) => {
  const answer = await flow.exchange(await flow.code(admin))
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.any(String),
    scope: 'read write',
  })
  expect(isCredential('accessToken', answer.body.access_token)).toBe(true)
  expect(isCredential('refreshToken', answer.body.refresh_token)).toBe(true)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('pragma')).toBe('no-cache')
})

test('a code is good for a minute', async ({ admin, clock, flow }) => {
  const inTime = await flow.code(admin)
  clock.advance(59 * second)
  expect((await flow.exchange(inTime)).status).toBe(200)
  const late = await flow.code(admin)
  clock.advance(61 * second)
  expect(await flow.exchange(late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('a code shown again is refused, and its tokens are dead', async ({ academy, admin, flow }) => {
  const code = await flow.code(admin)
  const { body } = await flow.exchange(code)
  const bearer = academy.bearer(`Bearer ${body.access_token}`)
  expect((await bearer.get('/v1/courses')).status).toBe(200)
  expect(await flow.exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(await bearer.get('/v1/courses')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  expect(await flow.refresh(body.refresh_token)).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })
})

test('so is one shown again after weeks, while tokens live', async ({ admin, clock, flow }) => {
  const code = await flow.code(admin)
  const first = (await flow.exchange(code)).body
  clock.advance(20 * 24 * hour)
  const second = (await flow.refresh(first.refresh_token)).body
  await flow.code(admin)
  expect((await flow.exchange(code, { code_verifier: 'wrong' })).body.error).toBe('invalid_grant')
  expect((await flow.refresh(second.refresh_token)).body.error).toBe('invalid_grant')
})

test('one of several parallel exchanges succeeds, then all is revoked', async ({ academy, admin, flow }) => {
  const code = await flow.code(admin)
  const answers = await Promise.all([flow.exchange(code), flow.exchange(code)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  const { body } = answers.find(({ status }) => status === 200) ?? {}
  expect((await academy.bearer(`Bearer ${body.access_token}`).get('/v1/courses')).status).toBe(401)
  expect(await academy.database.all(sql`select id from grants`)).toHaveLength(1)
})

test.for([
  ['no code', { code: undefined }, 'invalid_request'],
  ['an empty code', { code: '' }, 'invalid_request'],
  ['an unknown code', { code: 'lpc_none' }, 'invalid_grant'],
  ['no redirect URI', { redirect_uri: undefined }, 'invalid_request'],
  ['another redirect URI', { redirect_uri: 'http://127.0.0.1:50124/callback' }, 'invalid_grant'],
  ['no verifier', { code_verifier: undefined }, 'invalid_grant'],
  ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
  ['the challenge for a verifier', { code_verifier: challengeFor(verifier) }, 'invalid_grant'],
  ['a verifier of 42 characters', { code_verifier: verifier.slice(1) }, 'invalid_request'],
  ['a verifier of 129 characters', { code_verifier: 'a'.repeat(129) }, 'invalid_request'],
  ['a verifier with a character of base64', { code_verifier: `+${verifier.slice(1)}` }, 'invalid_request'],
  ['no client', { client_id: undefined }, 'invalid_client'],
  ['an unknown client', { client_id: 'app_none' }, 'invalid_client'],
  ['no grant type', { grant_type: undefined }, 'invalid_request'],
  ['a grant type of the seed of OAuth', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['a grant type that objects have', { grant_type: 'constructor' }, 'unsupported_grant_type'],
] as const)(
  'with %s a code is not exchanged, and stays good for its owner',
  async ([, changes, error], { admin, flow }) => {
    const code = await flow.code(admin)
    const refused = await flow.exchange(code, changes)
    expect(refused.status).toBe(error === 'invalid_client' ? 401 : 400)
    expect(refused.body).toEqual({ error, error_description: expect.stringMatching(/^[ !#-[\]-~]+$/) })
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect((await flow.exchange(code)).status).toBe(200)
  },
)

test.for([43, 128])('a verifier of %i characters is right', async (length, { admin, flow }) => {
  const long = '-._~aB3'.repeat(20).slice(0, length)
  const code = await flow.code(admin, { code_challenge: challengeFor(long) })
  expect((await flow.exchange(code, { code_verifier: long })).status).toBe(200)
})

test('a code is for the client that it was given to', async ({ academy, admin, flow }) => {
  const other = await register(academy, { public: true })
  const code = await flow.code(admin)
  const refused = await flow.exchange(code, { client_id: other.clientId })
  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('a verifier for a code without a challenge is refused', async ({ academy, admin, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const without = { client_id, code_challenge: undefined, code_challenge_method: undefined }
  const code = await flow.code(admin, without)
  const client = { client_id, client_secret: clientSecret ?? '' }
  expect((await flow.exchange(code, client)).body.error).toBe('invalid_grant')
  expect((await flow.exchange(code, { ...client, code_verifier: undefined })).status).toBe(200)
})

test('nor may a client with a secret leave out the verifier', async ({ academy, admin, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const code = await flow.code(admin, { client_id })
  const changes = { client_id, client_secret: clientSecret ?? '', code_verifier: undefined }
  expect((await flow.exchange(code, changes)).body.error).toBe('invalid_grant')
})

test.for(['grant_type', 'code', 'redirect_uri', 'client_id', 'code_verifier'])(
  'the parameter %s may not come twice',
  async (name, { academy, admin, flow }) => {
    const fields = new URLSearchParams({
      grant_type: 'authorization_code',
      code: await flow.code(admin),
      redirect_uri: callback,
      client_id: 'learnctl',
      code_verifier: verifier,
    })
    fields.append(name, fields.get(name) ?? '')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const refused = await academy.bearer(undefined).send('POST', '/oauth/token', `${fields}`, headers)
    expect(refused.body).toMatchObject({
      error: 'invalid_request',
      error_description: `The parameter ${name} must be given only once.`,
    })
  },
)

test('a code whose owner was suspended or got a password is refused', async ({
  academy,
  admin,
  flow,
  learner,
}) => {
  for (const change of [{ status: 'suspended' }, { status: 'active', password: 'another horse battery' }]) {
    const code = await flow.code(learner)
    await admin.put(`/v1/users/${learner.id}`, change)
    expect((await flow.exchange(code)).body.error).toBe('invalid_grant')
    await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  }
  expect(await academy.database.all(sql`select id from grants`)).toEqual([])
})

test('a code of one who lost the role gives what is left', async ({ admin, flow, instructor, learner }) => {
  const code = await flow.code(instructor, { scope: 'read write' })
  await admin.put(`/v1/users/${instructor.id}`, { role: 'analyst' })
  expect((await flow.exchange(code)).body.scope).toBe('read')
  const nothing = await flow.code(learner, { scope: 'write' })
  await admin.put(`/v1/users/${learner.id}`, { role: 'analyst' })
  expect((await flow.exchange(nothing)).body.error).toBe('invalid_scope')
})
