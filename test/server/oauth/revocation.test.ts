import { expect } from 'vitest'
import { register, type Tokens, test } from './flow.ts'

const own = { client_id: 'learnctl' }

test('a revoked refresh token takes its whole grant along', async ({ academy, admin, flow }) => {
  const first = await flow.tokens(admin)
  const second: Tokens = (await flow.refresh(first.refresh_token)).body
  const answer = await flow.send('/oauth/revoke', { ...own, token: second.refresh_token })
  expect(answer).toMatchObject({ status: 200, body: {} })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  for (const { access_token } of [first, second]) {
    expect((await academy.bearer(`Bearer ${access_token}`).get('/v1/courses')).status).toBe(401)
  }
  expect((await flow.refresh(second.refresh_token)).body.error).toBe('invalid_grant')
})

test('a refresh token that was used already revokes its grant, too', async ({ academy, admin, flow }) => {
  const first = await flow.tokens(admin)
  const second: Tokens = (await flow.refresh(first.refresh_token)).body
  await flow.send('/oauth/revoke', { ...own, token: first.refresh_token })
  expect((await academy.bearer(`Bearer ${second.access_token}`).get('/v1/courses')).status).toBe(401)
})

test('a revoked access token is dead alone', async ({ academy, admin, flow }) => {
  const first = await flow.tokens(admin)
  const second: Tokens = (await flow.refresh(first.refresh_token)).body
  expect((await flow.send('/oauth/revoke', { ...own, token: first.access_token })).status).toBe(200)
  const answers = [first, second].map(({ access_token }) =>
    academy.bearer(`Bearer ${access_token}`).get('/v1/courses'),
  )
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 200])
  expect((await flow.refresh(second.refresh_token)).status).toBe(200)
  const entries = await admin.get('/v1/audit?action=grant.allowed,grant.created,grant.token_revoked&sort=at')
  const grant = expect.stringMatching(/^gnt_/)
  expect(entries.body.data).toMatchObject([
    { action: 'grant.allowed', userId: admin.id, credential: 'browser', subjectId: 'learnctl' },
    { action: 'grant.created', userId: admin.id, credential: 'learnctl', subjectId: grant },
    { action: 'grant.token_revoked', userId: admin.id, credential: 'learnctl', subjectId: grant },
  ])
})

test('a hint is a hint, right or wrong', async ({ admin, flow }) => {
  for (const token_type_hint of ['access_token', 'refresh_token', 'id_token']) {
    const { refresh_token } = await flow.tokens(admin)
    const answer = await flow.send('/oauth/revoke', { ...own, token: refresh_token, token_type_hint })
    expect(answer.status).toBe(200)
    expect((await flow.refresh(refresh_token)).body.error).toBe('invalid_grant')
  }
})

test('an unknown token is revoked already: 200', async ({ admin, flow }) => {
  const { refresh_token } = await flow.tokens(admin)
  const revoke = (token: string) => flow.send('/oauth/revoke', { ...own, token })
  for (const token of ['lpr_none', 'anything', refresh_token, refresh_token, admin.key]) {
    expect((await revoke(token)).status).toBe(200)
  }
  expect((await admin.get('/v1/courses')).status).toBe(200)
})

test('without a token there is nothing to revoke: 400', async ({ flow }) => {
  const answer = await flow.send('/oauth/revoke', own)
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test('no client revokes the tokens of another (RFC 7009 §2.1)', async ({ academy, admin, flow }) => {
  const { clientId, clientSecret } = await register(academy)
  const other = { client_id: clientId, client_secret: clientSecret ?? '' }
  const tokens = await flow.tokens(admin)
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    const refused = await flow.send('/oauth/revoke', { ...other, token })
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  }
  expect((await academy.bearer(`Bearer ${tokens.access_token}`).get('/v1/courses')).status).toBe(200)
  expect((await flow.refresh(tokens.refresh_token)).status).toBe(200)
})
