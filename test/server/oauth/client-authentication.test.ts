import { expect } from 'vitest'
import { minute } from '../../helpers/academy.ts'
import { register, test } from './flow.ts'

const none = { client_id: undefined, client_secret: undefined }

/** RFC 6749 §2.3.1 */
function basic(id: string, secret: string): { authorization: string } {
  const text = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

test('a client with a secret sends it in the header or in the form', async ({ academy, admin, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const client_secret = clientSecret ?? ''
  const first = await flow.tokens(admin, { client_id, client_secret })
  const send = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
  const header = await flow.send('/oauth/token', send, basic(client_id, client_secret))
  expect(header.status).toBe(200)
  const both = { ...send, refresh_token: header.body.refresh_token, client_id }
  expect((await flow.send('/oauth/token', both, basic(client_id, client_secret))).status).toBe(200)
})

test('credentials in the header are form-encoded first', async ({ academy, admin, flow }) => {
  const { clientId: client_id, clientSecret: client_secret } = await register(academy)
  const { refresh_token } = await flow.tokens(admin, { client_id, client_secret: client_secret ?? '' })
  const text = `%61${client_id.slice(1)}:%6c${client_secret?.slice(1)}`
  const headers = { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
  const answer = await flow.send('/oauth/token', { grant_type: 'refresh_token', refresh_token }, headers)
  expect(answer.status).toBe(200)
})

test('a public client may send its name in the header, without secret', async ({ admin, flow }) => {
  const code = await flow.code(admin)
  const headers = basic('learnctl', '')
  const form = { grant_type: 'authorization_code', code, redirect_uri: 'http://127.0.0.1:50123/callback' }
  const verifier = { code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }
  expect((await flow.send('/oauth/token', { ...form, ...verifier }, headers)).status).toBe(200)
})

for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/device_authorization']) {
  test(`${path} challenges a client that failed by header, and no other (RFC 6749 §5.2)`, async ({
    academy,
    flow,
  }) => {
    const { clientId: client_id } = await register(academy)
    const refused = { status: 401, body: { error: 'invalid_client' } }
    for (const authorization of [
      basic(client_id, 'lps_wrong').authorization,
      basic('app_none', 'lps_wrong').authorization,
      basic(client_id, '').authorization,
      'Basic',
      'Basic !',
      `Basic ${Buffer.from('no colon').toString('base64')}`,
      `Basic ${Buffer.from('%ff:a').toString('base64')}`,
      'Bearer lpa_none',
    ]) {
      const answer = await flow.send(path, { token: 'a' }, { authorization })
      expect(answer, authorization).toMatchObject(refused)
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="learnctl"')
    }
    for (const fields of [
      none,
      { client_id },
      { client_id, client_secret: '' },
      { client_id, client_secret: 'lps_wrong' },
      { client_id: 'learnctl', client_secret: 'lps_wrong' },
      { client_secret: 'lps_wrong' },
    ]) {
      const answer = await flow.send(path, { token: 'a', ...fields })
      expect(answer).toMatchObject(refused)
      expect(answer.headers.get('www-authenticate')).toBeNull()
    }
  })
}

test('a client may not authenticate in two ways at once (RFC 6749 §2.3)', async ({ academy, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const client_secret = clientSecret ?? ''
  const headers = basic(client_id, client_secret)
  for (const fields of [{ client_id, client_secret }, { client_secret }, { client_id: 'learnctl' }]) {
    const answer = await flow.send('/oauth/token', { grant_type: 'refresh_token', ...fields }, headers)
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  }
})

test('after twenty failures an address is 429, valid ones are not', async ({ academy, clock, flow }) => {
  const { clientId: client_id, clientSecret } = await register(academy)
  const revoke = (client_secret: string) =>
    flow.send('/oauth/revoke', { client_id, client_secret, token: 'a' })
  for (let count = 0; count < 20; count += 1) expect((await revoke('lps_guess')).status).toBe(401)
  const refused = await revoke('lps_guess')
  expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('3')
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect((await revoke(clientSecret ?? '')).status).toBe(200)
  clock.advance(minute)
  expect((await revoke('lps_guess')).status).toBe(401)
})

test.for([
  ['JSON', 'application/json', '{"grant_type":"refresh_token"}', 415],
  ['a form of parts', 'multipart/form-data; boundary=a', '--a--', 415],
  ['a form that is too long', 'application/x-www-form-urlencoded', 'a'.repeat(1024 * 1024 + 1), 413],
] as const)('%s is refused in the form of OAuth', async ([, type, body, status], { academy }) => {
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/device_authorization']) {
    const refused = await academy.bearer(undefined).send('POST', path, body, { 'content-type': type })
    expect(refused.status).toBe(status)
    expect(refused.body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('content-type')).toBe('application/json')
  }
})

test('a content type with a quotation mark does not get out of the description', async ({ academy }) => {
  const headers = { 'content-type': 'text/"\\é' }
  const refused = await academy.bearer(undefined).send('POST', '/oauth/token', 'a=b', headers)
  expect(refused.body.error_description).toMatch(/^[ !#-[\]-~]+$/)
})

test('a form may name its charset', async ({ flow }) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
  const answer = await flow.send('/oauth/revoke', { client_id: 'learnctl', token: 'a' }, headers)
  expect(answer.status).toBe(200)
})

const limited = test.extend('perMinute', 5)

limited('requests are counted by address, and told in the form of OAuth', async ({ flow }) => {
  const ask = () => flow.send('/oauth/revoke', { client_id: 'learnctl', token: 'a' })
  for (let count = 0; count < 5; count += 1) expect((await ask()).status).toBe(200)
  const refused = await ask()
  expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('12')
  expect((await flow.authorize()).status).toBe(429)
})
