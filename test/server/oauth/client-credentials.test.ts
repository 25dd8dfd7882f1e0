import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { hour, minute } from '../../helpers/academy.ts'
import { register, test } from './flow.ts'

const grant = { grant_type: 'client_credentials' }
const base = 'https://purl.imsglobal.org/spec/or/v1p2/scope/'

function basic({ clientId, clientSecret }: { clientId: string; clientSecret: string | null }) {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` }
}

test('an application with machine scopes gets a token of its own', async ({ academy, admin, flow }) => {
  const app = await register(academy, { redirectUris: [], machineScopes: ['roster.readonly'] })
  const answer = await flow.send('/oauth/token', grant, basic(app))
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    access_token: expect.stringMatching(/^lpa_/),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'roster.readonly',
  })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const { data } = (await admin.get('/v1/audit?action=app.authorized')).body
  expect(data).toMatchObject([{ userId: null, credential: app.clientId, subjectId: app.clientId }])
  expect(JSON.stringify(data)).not.toContain(answer.body.access_token)
})

test('its scopes are those it asks for by OneRoster URI and has', async ({ academy, flow }) => {
  const app = await register(academy, { machineScopes: ['roster.readonly', 'gradebook.delete'] })
  const scope = async (text: string) =>
    (await flow.send('/oauth/token', { ...grant, scope: text }, basic(app))).body
  expect(await scope(`${base}roster.readonly ${base}gradebook.createput`)).toMatchObject({
    scope: `${base}roster.readonly`,
  })
  const core = 'https://purl.imsglobal.org/spec/or/v1p1/scope/roster-core.readonly'
  expect(await scope(core)).toMatchObject({ scope: core })
  expect(await scope('gradebook.delete')).toMatchObject({ scope: 'gradebook.delete' })
  for (const none of [
    'read',
    'admin',
    `${base}gradebook.createput`,
    'https://other.example/roster.readonly',
  ]) {
    expect(await scope(none), none).toMatchObject({ error: 'invalid_scope' })
  }
})

test('its token does nothing on the API itself', async ({ academy, flow }) => {
  const app = await register(academy, { machineScopes: ['roster.readonly'] })
  const { access_token } = (await flow.send('/oauth/token', grant, basic(app))).body
  const caller = academy.bearer(`Bearer ${access_token}`)
  expect(await caller.get('/v1/users')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
})

describe('no token is issued', () => {
  test('to an application that acts only for users', async ({ academy, flow }) => {
    const app = await register(academy)
    expect(await flow.send('/oauth/token', grant, basic(app))).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    })
    expect(await flow.send('/oauth/token', { ...grant, client_id: 'learnctl' })).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    })
  })

  test('with a wrong secret', async ({ academy, flow }) => {
    const { clientId } = await register(academy, { machineScopes: ['roster.readonly'] })
    expect(
      await flow.send('/oauth/token', grant, basic({ clientId, clientSecret: 'lps_guess' })),
    ).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  })
})

test('machine scopes are for no public application; without any, a URI is needed', async ({ admin }) => {
  const refused = await admin.post('/v1/apps', {
    ...{
      name: 'A',
      public: true,
      redirectUris: ['https://a.example/cb'],
      machineScopes: ['roster.readonly'],
    },
  })
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/machineScopes' }] } })
  expect(await admin.post('/v1/apps', { name: 'A', machineScopes: [] })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/redirectUris', code: 'required' }] },
  })
  expect(await admin.post('/v1/apps', { name: 'A', machineScopes: ['roster.readonly'] })).toMatchObject({
    status: 201,
    body: { redirectUris: [], clientSecret: expect.stringMatching(/^lps_/) },
  })
})

test('a token is introspected and revoked by its owner alone', async ({ academy, admin, clock, flow }) => {
  const [one, other] = [
    await register(academy, { machineScopes: ['roster.readonly'] }),
    await register(academy, { machineScopes: ['roster.readonly'] }),
  ]
  const token = async () => (await flow.send('/oauth/token', grant, basic(one))).body.access_token
  const first = await token()
  const shown = async (app: typeof one) =>
    (await flow.send('/oauth/introspect', { token: first }, basic(app))).body
  expect(await shown(one)).toMatchObject({ active: true, scope: 'roster.readonly', sub: one.clientId })
  expect(await shown(other)).toEqual({ active: false })
  expect((await flow.send('/oauth/revoke', { token: first }, basic(other))).status).toBe(200)
  expect(await shown(one)).toMatchObject({ active: true })
  expect((await flow.send('/oauth/revoke', { token: first }, basic(one))).status).toBe(200)
  expect(await shown(one)).toEqual({ active: false })
  await token()
  clock.advance(hour)
  expect(await shown(one)).toEqual({ active: false })
  await admin.delete(`/v1/apps/${one.clientId}`)
  expect(await academy.database.all(sql`select hash from client_tokens`)).toEqual([])
})

test('an application has at most a hundred tokens', { tags: ['slow'] }, async ({ academy, clock, flow }) => {
  const app = await register(academy, { machineScopes: ['roster.readonly'] })
  const tokens: string[] = []
  for (let count = 0; count < 102; count += 1) {
    clock.advance(1000)
    tokens.push((await flow.send('/oauth/token', grant, basic(app))).body.access_token)
  }
  clock.advance(minute)
  const isActive = async (token: string | undefined) =>
    (await flow.send('/oauth/introspect', { token }, basic(app))).body.active
  expect([await isActive(tokens[0]), await isActive(tokens[1]), await isActive(tokens[2])]).toEqual([
    false,
    false,
    true,
  ])
})
