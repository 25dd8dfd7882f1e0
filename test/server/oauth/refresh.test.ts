import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { sweep } from '../../../src/server/database/sweep.ts'
import { type Answer, type Clock, day, hour, minute, second } from '../../helpers/academy.ts'
import { type Flow, register, test } from './flow.ts'

test('a refresh gives new tokens; the old access token lives on', async ({ academy, admin, clock, flow }) => {
  const first = await flow.tokens(admin)
  clock.advance(30 * minute)
  const answer = await flow.refresh(first.refresh_token)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    access_token: expect.stringMatching(/^lpa_/),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^lpr_/),
    scope: 'read write',
  })
  expect(answer.body.access_token).not.toBe(first.access_token)
  expect(answer.body.refresh_token).not.toBe(first.refresh_token)
  for (const token of [first.access_token, answer.body.access_token]) {
    expect((await academy.bearer(`Bearer ${token}`).get('/v1/courses')).status).toBe(200)
  }
})

test('a refresh token that is shown again ends the whole grant', async ({ academy, admin, flow }) => {
  const first = await flow.tokens(admin)
  const second = (await flow.refresh(first.refresh_token)).body
  const third = (await flow.refresh(second.refresh_token)).body
  const again = await flow.refresh(first.refresh_token)
  expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await flow.refresh(third.refresh_token)).body.error).toBe('invalid_grant')
  for (const { access_token } of [first, second, third]) {
    const answer = await academy.bearer(`Bearer ${access_token}`).get('/v1/courses')
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  }
})

test('the end of one grant is not that of another', async ({ academy, admin, flow, learner }) => {
  const others = [await flow.tokens(admin), await flow.tokens(learner)]
  const { refresh_token } = await flow.tokens(admin)
  for (const _ of [1, 2, 3]) await flow.refresh(refresh_token)
  for (const { access_token } of others) {
    expect((await academy.bearer(`Bearer ${access_token}`).get('/v1/courses')).status).toBe(200)
  }
})

test('a client that lost the response may soon ask again', async ({ academy, admin, clock, flow }) => {
  const { refresh_token } = await flow.tokens(admin)
  const lost = (await flow.refresh(refresh_token)).body
  clock.advance(10 * second - 1)
  const again = await flow.refresh(refresh_token)
  expect(again.status).toBe(200)
  const next = await flow.refresh(again.body.refresh_token)
  expect(next.status).toBe(200)
  expect((await academy.bearer(`Bearer ${next.body.access_token}`).get('/v1/courses')).status).toBe(200)
  // The lost token is invalid: a client that has it would not have asked again.
  expect((await flow.refresh(lost.refresh_token)).body.error).toBe('invalid_grant')
  expect((await flow.refresh(next.body.refresh_token)).body.error).toBe('invalid_grant')
})

test.for<[what: string, use: (flow: Flow, token: string, clock: Clock, other: string) => Promise<Answer>]>([
  [
    'ten seconds later',
    async (flow, token, clock) => {
      clock.advance(10 * second)
      return flow.refresh(token)
    },
  ],
  [
    'a second time',
    async (flow, token) => {
      await flow.refresh(token)
      return flow.refresh(token)
    },
  ],
  ['by another client', (flow, token, _, other) => flow.refresh(token, { client_id: other })],
])(
  'a refresh token that is used again %s ends the grant',
  async ([, use], { academy, admin, clock, flow }) => {
    const other = await register(academy, { public: true })
    const { refresh_token } = await flow.tokens(admin)
    const { body } = await flow.refresh(refresh_token)
    expect((await use(flow, refresh_token, clock, other.clientId)).body.error).toBe('invalid_grant')
    expect((await flow.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await academy.bearer(`Bearer ${body.access_token}`).get('/v1/courses')).status).toBe(401)
  },
)

test('at most two of fifty parallel refreshes succeed; then all end', async ({ admin, flow }) => {
  const { refresh_token } = await flow.tokens(admin)
  const answers = await Promise.all(Array.from({ length: 50 }, () => flow.refresh(refresh_token)))
  const right = answers.filter(({ status }) => status === 200)
  expect(right).toHaveLength(2)
  expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(48)
  for (const { body } of right) {
    expect((await flow.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
  }
})

test('a refresh token that is not used for thirty days ends', async ({ admin, clock, flow }) => {
  const { refresh_token } = await flow.tokens(admin)
  clock.advance(30 * day - 1)
  const next = await flow.refresh(refresh_token)
  expect(next.status).toBe(200)
  clock.advance(30 * day)
  const late = await flow.refresh(next.body.refresh_token)
  expect(late).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('a grant ends after ninety days, with its access tokens', async ({ academy, admin, clock, flow }) => {
  let tokens = await flow.tokens(admin)
  for (let week = 1; week <= 12; week += 1) {
    clock.advance(7 * day)
    tokens = (await flow.refresh(tokens.refresh_token)).body
    expect(tokens.expires_in).toBe(3600)
  }
  clock.advance(6 * day - 10 * minute)
  const last = (await flow.refresh(tokens.refresh_token)).body
  expect(last.expires_in).toBe(600)
  clock.advance(10 * minute)
  expect((await flow.refresh(last.refresh_token)).body.error).toBe('invalid_grant')
  const answer = await academy.bearer(`Bearer ${last.access_token}`).get('/v1/courses')
  expect(answer).toMatchObject({ status: 401, body: { code: 'token_expired' } })
})

test('a refresh may narrow the scope of a token, never widen it', async ({ academy, admin, flow }) => {
  const first = await flow.tokens(admin, { scope: 'read write' })
  const narrow = (await flow.refresh(first.refresh_token, { scope: 'read' })).body
  expect(narrow.scope).toBe('read')
  const posted = await academy.bearer(`Bearer ${narrow.access_token}`).post('/v1/courses', { title: 'Logic' })
  expect(posted).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
  const wide = await flow.refresh(narrow.refresh_token, { scope: 'read admin' })
  expect(wide).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
  // A refused request uses nothing up.
  expect((await flow.refresh(narrow.refresh_token)).body.scope).toBe('read write')
})

test('a refresh gives what the role may have at that time', async ({ admin, flow, instructor, learner }) => {
  const first = await flow.tokens(instructor, { scope: 'read write' })
  await admin.put(`/v1/users/${instructor.id}`, { role: 'analyst' })
  const second = (await flow.refresh(first.refresh_token)).body
  expect(second.scope).toBe('read')
  await admin.put(`/v1/users/${instructor.id}`, { role: 'instructor' })
  expect((await flow.refresh(second.refresh_token)).body.scope).toBe('read write')
  const writer = await flow.tokens(learner, { scope: 'write' })
  await admin.put(`/v1/users/${learner.id}`, { role: 'analyst' })
  expect((await flow.refresh(writer.refresh_token)).body.error).toBe('invalid_scope')
})

test('a refresh token is for the client that it was given to', async ({ academy, admin, flow }) => {
  const other = await register(academy, { public: true })
  const { refresh_token } = await flow.tokens(admin)
  const refused = await flow.refresh(refresh_token, { client_id: other.clientId })
  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await flow.refresh(refresh_token)).status).toBe(200)
})

test.for([
  ['no refresh token', { refresh_token: undefined }, 'invalid_request'],
  ['an unknown one', { refresh_token: 'lpr_none' }, 'invalid_grant'],
  ['a scope that is none of ours', { scope: 'openid' }, 'invalid_scope'],
] as const)('%s is refused', async ([, changes, error], { admin, flow }) => {
  const { refresh_token } = await flow.tokens(admin)
  expect(await flow.refresh(refresh_token, changes)).toMatchObject({ status: 400, body: { error } })
})

test('access and refresh tokens do not stand in for each other', async ({ academy, admin, flow }) => {
  const { access_token, refresh_token } = await flow.tokens(admin)
  expect((await flow.refresh(access_token)).body.error).toBe('invalid_grant')
  const answer = await academy.bearer(`Bearer ${refresh_token}`).get('/v1/courses')
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
})

test('grants that ended more than a day ago are swept', async ({ academy, admin, clock, flow }) => {
  const rows = () =>
    academy.database.one(sql`
      select (select count(*) from grants) as grants, (select count(*) from refresh_tokens) as refresh,
        (select count(*) from access_tokens) as access, (select count(*) from authorization_codes) as codes`)
  const { refresh_token } = await flow.tokens(admin)
  clock.advance(20 * hour)
  await flow.refresh(refresh_token)
  await sweep(academy.database, clock.now())
  expect(await rows()).toEqual({ grants: 1, refresh: 2, access: 2, codes: 1 })
  clock.advance(32 * day)
  await flow.tokens(admin)
  await sweep(academy.database, clock.now())
  expect(await rows()).toEqual({ grants: 1, refresh: 1, access: 1, codes: 1 })
})
