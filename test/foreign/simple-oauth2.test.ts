import { AuthorizationCode, type ModuleOptions } from 'simple-oauth2'
import { expect } from 'vitest'
import type { NewApp } from '../../src/contract/apps.ts'
import { test as base, callback } from './person.ts'

const test = base.extend('settings', async ({ served }): Promise<ModuleOptions> => {
  const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
  const app = { name: 'Gradebook', redirectUris: [callback] }
  const made = await served.fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify(app) })
  const { clientId, clientSecret } = (await made.json()) as NewApp
  // Its default paths are the published ones, so it only needs the host.
  return { client: { id: clientId, secret: clientSecret ?? '' }, auth: { tokenHost: served.address } }
})

test.for(['header', 'body'] as const)(
  'simple-oauth2, its secret in the %s, signs in, uses the API, refreshes and revokes',
  async (authorizationMethod, { person, served, settings }) => {
    const client = new AuthorizationCode({ ...settings, options: { authorizationMethod } })
    const url = client.authorizeURL({
      redirect_uri: callback,
      scope: ['read', 'write'],
      state: 'of the client',
    })
    const answer = (await person.answer(url, 'Allow')).searchParams
    expect(answer.get('state')).toBe('of the client')
    expect(answer.get('iss')).toBe(served.address)
    const first = await client.getToken({ code: answer.get('code') ?? '', redirect_uri: callback })
    expect(first.token).toMatchObject({ token_type: 'Bearer', scope: 'read write', expires_in: 3600 })
    expect(first.expired()).toBe(false)
    const profile = () => {
      const headers = { authorization: `Bearer ${first.token['access_token']}` }
      return served.fetch('/v1/user/profile', { headers })
    }
    expect((await profile()).status).toBe(200)
    const second = await first.refresh({ scope: ['read'] })
    expect(second.token['scope']).toBe('read')
    await second.revokeAll()
    expect((await profile()).status).toBe(401)
    await expect(second.refresh()).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } })
  },
)

test('simple-oauth2 reads why it was refused', async ({ settings }) => {
  const wrong = new AuthorizationCode({ ...settings, client: { ...settings.client, secret: 'wrong' } })
  const refused = wrong.getToken({ code: 'lpc_none', redirect_uri: callback })
  await expect(refused).rejects.toMatchObject({
    output: { statusCode: 401 },
    data: { payload: { error: 'invalid_client' } },
  })
})
