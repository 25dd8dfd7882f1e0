import { describe, expect, test } from 'vitest'
import type { Fetch, FetchRequest } from '../../src/auth/oauth-exchange.ts'
import { requestRefresh } from '../../src/auth/refresh-tokens.ts'
import type { StoredTokens } from '../../src/config/profiles.ts'
import { storedTokens } from '../helpers/signed-in.ts'

const url = 'https://school.example'
const now = () => Date.parse('2026-03-01T12:59:30.000Z')
const good = { access_token: 'access-2', token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-2' }

/** Refreshes tokens at a server with this response. */
async function refresh(response: Response, given: Partial<StoredTokens> = {}) {
  const sent: (FetchRequest & { readonly url: string })[] = []
  const fetch: Fetch = async (address, request) => {
    sent.push({ ...request, url: address })
    return response
  }
  const result = await requestRefresh(
    { ...storedTokens(url, given), refreshToken: 'refresh-1' },
    { fetch, now },
  ).catch((error: unknown) => error)
  return { result, sent, form: Object.fromEntries(sent[0]?.body ?? []) }
}

describe('a refresh request', () => {
  test('asks the endpoint that was stored, once, and gives all that the next one takes', async () => {
    const elsewhere = { tokenEndpoint: 'https://login.example/token' }
    const { result, sent, form } = await refresh(Response.json({ ...good, scope: 'read' }), elsewhere)
    expect(sent).toMatchObject([{ method: 'POST', url: 'https://login.example/token' }])
    expect(form).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'refresh-1',
      client_id: 'learnctl',
    })
    expect(result).toEqual({
      ...storedTokens(url, elsewhere),
      accessToken: 'access-2',
      refreshToken: 'refresh-2',
      scopes: ['read'],
      expiresAt: '2026-03-01T13:59:30.000Z',
      storedAt: '2026-03-01T12:59:30.000Z',
    })
  })

  test('of a confidential client carries its secret where that belongs', async () => {
    const clientSecret = 'open:sesame'
    const inHeader = await refresh(Response.json(good), { clientId: 'app', clientSecret })
    const pair = Buffer.from('app:open%3Asesame').toString('base64')
    expect(inHeader.sent[0]?.headers).toMatchObject({ authorization: `Basic ${pair}` })
    expect(inHeader.form).not.toHaveProperty('client_secret')
    const inForm = await refresh(Response.json(good), { clientId: 'app', clientSecret, secretPlace: 'form' })
    expect(inForm.form).toMatchObject({ client_id: 'app', client_secret: clientSecret })
    expect(inForm.sent[0]?.headers).not.toHaveProperty('authorization')
  })
})

describe('a refresh that fails', () => {
  const refusal = (status: number, body: object) => Response.json(body, { status })

  test.each<[string, Response, string]>([
    ['the grant is gone', refusal(400, { error: 'invalid_grant', error_description: 'Used.' }), 'signed_out'],
    ['the grant is gone (401)', refusal(401, { error: 'invalid_grant' }), 'signed_out'],
    ['the client is not known', refusal(401, { error: 'invalid_client' }), 'token_refused'],
    ['the client may not', refusal(400, { error: 'unauthorized_client' }), 'token_refused'],
    ['there are too many', refusal(429, { error: 'slow_down' }), 'server_unavailable'],
    ['the server is in trouble', refusal(500, { error: 'invalid_grant' }), 'server_unavailable'],
    ['the server is away', new Response('<h1>Bad Gateway', { status: 502 }), 'server_unavailable'],
    ['a page comes back', new Response('<!doctype html><p>Welcome'), 'answer_unusable'],
    [
      'a redirect comes back',
      new Response(null, { status: 302, headers: { location: '/' } }),
      'answer_unusable',
    ],
    ['JSON is cut off', new Response('{"access_token": "acc'), 'answer_unusable'],
    ['there is no token', Response.json({ token_type: 'Bearer' }), 'answer_unusable'],
    ['the token is none to bear', Response.json({ ...good, token_type: 'DPoP' }), 'answer_unusable'],
    ['the token cannot be sent', Response.json({ ...good, access_token: 'a\r\nb: c' }), 'answer_unusable'],
    ['the end is no number', Response.json({ ...good, expires_in: 'never' }), 'answer_unusable'],
    ['nothing is known about it', refusal(404, {}), 'answer_unusable'],
  ])('says so where %s', async (_, response, code) => {
    const { result, sent } = await refresh(response)
    expect(result).toMatchObject({ name: 'SignInError', code })
    expect(sent).toHaveLength(1)
  })

  test('reports the server’s reason, and when to retry', async () => {
    const gone = await refresh(refusal(400, { error: 'invalid_grant', error_description: 'Used before.' }))
    expect(gone.result).toMatchObject({
      message: 'The session at https://school.example has ended',
      why: ['school.example says: invalid_grant: Used before.'],
    })
    const busy = new Response('', { status: 503, headers: { 'retry-after': '7' } })
    expect((await refresh(busy)).result).toMatchObject({ hint: 'Try again in 7 s' })
  })

  test('never repeats a token', async () => {
    for (const text of [
      '{"access_token":"such-a-secret" "x',
      '{"access_token":"such-a-secret","token_type":7}',
    ]) {
      const { result } = await refresh(new Response(text))
      const told = result instanceof Error ? `${result.stack} ${JSON.stringify(result)} ${result.cause}` : ''
      expect(told).toContain('SignInError')
      expect(told).not.toContain('secret')
    }
  })

  test('leaves a fault of the network as it is', async () => {
    const fault = new Error('no way')
    const fetch = () => Promise.reject(fault)
    const request = requestRefresh({ ...storedTokens(url), refreshToken: 'refresh-1' }, { fetch, now })
    await expect(request).rejects.toBe(fault)
  })
})
