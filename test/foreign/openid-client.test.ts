import * as client from 'openid-client'
import { expect } from 'vitest'
import { test as base, callback } from './person.ts'

const test = base.extend('config', ({ served }) =>
  // The client must be told to allow plain http, which is for the loopback only.
  client.discovery(new URL(served.address), 'learnctl', undefined, client.None(), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  }),
)

async function authorization(config: client.Configuration) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'read write admin',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  return { url, checks: { pkceCodeVerifier, expectedState } }
}

test('openid-client finds the server, signs in, uses the API, refreshes and revokes', async ({
  config,
  person,
  served,
}) => {
  expect(config.serverMetadata()).toMatchObject({ issuer: served.address })
  expect(config.serverMetadata().supportsPKCE()).toBe(true)
  const { url, checks } = await authorization(config)
  const first = await client.authorizationCodeGrant(config, await person.answer(url, 'Allow'), checks)
  // An instructor cannot grant admin; the response names the granted scopes.
  expect(first).toMatchObject({ token_type: 'bearer', scope: 'read write', expires_in: 3600 })
  const target = new URL('/v1/courses', served.address)
  const made = await client.fetchProtectedResource(
    config,
    first.access_token,
    target,
    'POST',
    JSON.stringify({ title: 'Logic' }),
    new Headers({ 'content-type': 'application/json' }),
  )
  expect(made.status).toBe(201)
  const second = await client.refreshTokenGrant(config, first.refresh_token ?? '', { scope: 'read' })
  expect(second.scope).toBe('read')
  expect(await client.tokenIntrospection(config, second.access_token)).toMatchObject({
    active: true,
    scope: 'read',
    client_id: 'learnctl',
    iss: served.address,
  })
  await client.tokenRevocation(config, second.access_token)
  expect(await client.tokenIntrospection(config, second.access_token)).toMatchObject({ active: false })
  const third = await client.refreshTokenGrant(config, second.refresh_token ?? '')
  await client.tokenRevocation(config, third.refresh_token ?? '', { token_type_hint: 'refresh_token' })
  const refused = client.refreshTokenGrant(config, third.refresh_token ?? '')
  await expect(refused).rejects.toMatchObject({ error: 'invalid_grant' })
})

test('openid-client takes no answer of another issuer, and none with another state', async ({
  config,
  person,
}) => {
  const { url, checks } = await authorization(config)
  const answer = await person.answer(url, 'Allow')
  for (const [name, value] of [
    ['iss', 'https://evil.test'],
    ['state', 'another'],
  ] as const) {
    const forged = new URL(answer)
    forged.searchParams.set(name, value)
    await expect(client.authorizationCodeGrant(config, forged, checks)).rejects.toMatchObject({
      cause: { message: expect.stringContaining(`"${name}"`) },
    })
  }
  await expect(client.authorizationCodeGrant(config, answer, checks)).resolves.toMatchObject({
    expires_in: 3600,
  })
})

test('openid-client reads a denial', async ({ config, person }) => {
  const { url, checks } = await authorization(config)
  const answer = await person.answer(url, 'Deny')
  await expect(client.authorizationCodeGrant(config, answer, checks)).rejects.toMatchObject({
    error: 'access_denied',
  })
})

test('openid-client signs a device in', async ({ config, person }) => {
  const device = await client.initiateDeviceAuthorization(config, { scope: 'read' })
  expect(device).toMatchObject({ expires_in: 600, interval: 5 })
  await person.answerDevice(device.verification_uri_complete ?? '', 'Allow')
  // It waits before the first poll; here the user has responded already.
  const tokens = await client.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 })
  expect(tokens).toMatchObject({ scope: 'read', expires_in: 3600 })
  const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
  expect(next.scope).toBe('read')
})

test('openid-client with a secret authenticates by header and by form', async ({ person, served }) => {
  const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
  const app = { name: 'Gradebook', redirectUris: [callback] }
  const made = await served.fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify(app) })
  const { clientId, clientSecret } = (await made.json()) as { clientId: string; clientSecret: string }
  for (const auth of [client.ClientSecretBasic, client.ClientSecretPost]) {
    const config = await client.discovery(new URL(served.address), clientId, undefined, auth(clientSecret), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
    const { url, checks } = await authorization(config)
    const tokens = await client.authorizationCodeGrant(config, await person.answer(url, 'Allow'), checks)
    await client.tokenRevocation(config, tokens.refresh_token ?? '')
  }
})
