import { expect } from 'vitest'
import { hour, second, start } from '../../helpers/academy.ts'
import { issuer, register, test } from './flow.ts'

const place = '/oauth/introspect'
const own = { client_id: 'learnctl' }
const epochSeconds = Date.parse(start) / second

test('a client learns what its tokens allow, and until when', async ({ admin, flow }) => {
  const { access_token, refresh_token } = await flow.tokens(admin, { scope: 'read write' })
  const token = { active: true, scope: 'read write', client_id: 'learnctl', sub: admin.id, iss: issuer }
  const access = await flow.send(place, { ...own, token: access_token, token_type_hint: 'refresh_token' })
  expect(access).toMatchObject({ status: 200 })
  expect(access.body).toEqual({ ...token, token_type: 'Bearer', exp: epochSeconds + 3600 })
  expect(access.headers.get('cache-control')).toBe('no-store')
  const refresh = await flow.send(place, { ...own, token: refresh_token })
  expect(refresh.body).toEqual({ ...token, exp: epochSeconds + 30 * 24 * 3600 })
})

test('a token says what the role of its owner allows now', async ({ academy, flow }) => {
  const other = await academy.person('instructor')
  const boss = await academy.person('admin')
  const { access_token } = await flow.tokens(other, { scope: 'read write' })
  await boss.put(`/v1/users/${other.id}`, { role: 'analyst' })
  expect((await flow.send(place, { ...own, token: access_token })).body.scope).toBe('read')
  await boss.put(`/v1/users/${other.id}`, { status: 'suspended' })
  expect((await flow.send(place, { ...own, token: access_token })).body).toEqual({ active: false })
})

test('any other token is only reported as inactive', async ({ academy, admin, clock, flow }) => {
  const { clientId, clientSecret } = await register(academy)
  const other = { client_id: clientId, client_secret: clientSecret ?? '' }
  const first = await flow.tokens(admin)
  const second = (await flow.refresh(first.refresh_token)).body
  const ask = async (who: object, token: string) => (await flow.send(place, { ...who, token })).body
  for (const [who, token] of [
    [other, second.access_token],
    [other, second.refresh_token],
    [own, first.refresh_token],
    [own, admin.key],
    [own, 'lpa_none'],
    [own, 'x'.repeat(8000)],
  ] as const) {
    expect(await ask(who, token)).toEqual({ active: false })
  }
  clock.advance(hour)
  expect(await ask(own, second.access_token)).toEqual({ active: false })
  expect(await ask(own, second.refresh_token)).toMatchObject({ active: true })
  await flow.send('/oauth/revoke', { ...own, token: second.refresh_token })
  expect(await ask(own, second.refresh_token)).toEqual({ active: false })
})

test('only a client may ask, and it must name a token', async ({ academy, admin, flow }) => {
  const { clientId: client_id } = await register(academy)
  const { access_token: token } = await flow.tokens(admin)
  for (const who of [{}, { client_id }, { client_id, client_secret: 'wrong' }, { client_id: 'app_none' }]) {
    expect(await flow.send(place, { ...who, token })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  }
  expect(await flow.send(place, own)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})
