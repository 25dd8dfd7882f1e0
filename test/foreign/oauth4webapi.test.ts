import * as oauth from 'oauth4webapi'
import { expect } from 'vitest'
import { test as base, callback } from './person.ts'

const client: oauth.Client = { client_id: 'learnctl' }
const auth = oauth.None()
/** The client must be told to allow plain http, which is for the loopback only. */
const loopback = { [oauth.allowInsecureRequests]: true }

const test = base.extend('server', async ({ served }) => {
  const issuer = new URL(served.address)
  const response = await oauth.discoveryRequest(issuer, { ...loopback, algorithm: 'oauth2' })
  return oauth.processDiscoveryResponse(issuer, response)
})

/** Authorization URL for the user, and the values that the client must remember. */
async function authorization(server: oauth.AuthorizationServer, scope: string) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = `${new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: callback,
    response_type: 'code',
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })}`
  return { url, verifier, state }
}

async function exchanged(server: oauth.AuthorizationServer, answer: URLSearchParams, verifier: string) {
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    answer,
    callback,
    verifier,
    loopback,
  )
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

async function refreshed(server: oauth.AuthorizationServer, token: string | undefined) {
  const response = await oauth.refreshTokenGrantRequest(server, client, auth, token ?? '', loopback)
  return oauth.processRefreshTokenResponse(server, client, response)
}

test('oauth4webapi finds the server, gets a code with its issuer, exchanges it, refreshes and revokes', async ({
  person,
  served,
  server,
}) => {
  expect(server).toMatchObject({
    issuer: served.address,
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ['S256'],
  })
  const { url, verifier, state } = await authorization(server, 'read write')
  const answer = oauth.validateAuthResponse(server, client, await person.answer(url, 'Allow'), state)
  const first = await exchanged(server, answer, verifier)
  expect(first).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'read write' })
  const target = new URL('/v1/user/profile', served.address)
  const profile = await oauth.protectedResourceRequest(
    first.access_token,
    'GET',
    target,
    undefined,
    undefined,
    loopback,
  )
  expect(await profile.json()).toMatchObject({ email: person.email, authMethod: 'oauth' })
  const second = await refreshed(server, first.refresh_token)
  expect(second.refresh_token).not.toBe(first.refresh_token)
  const introspected = await oauth.introspectionRequest(server, client, auth, second.access_token, loopback)
  expect(await oauth.processIntrospectionResponse(server, client, introspected)).toMatchObject({
    active: true,
    scope: 'read write',
    client_id: 'learnctl',
    iss: served.address,
  })
  const revoked = await oauth.revocationRequest(server, client, auth, second.refresh_token ?? '', loopback)
  await oauth.processRevocationResponse(revoked)
  await expect(refreshed(server, second.refresh_token)).rejects.toMatchObject({ error: 'invalid_grant' })
  const dead = oauth.protectedResourceRequest(
    second.access_token,
    'GET',
    target,
    undefined,
    undefined,
    loopback,
  )
  await expect(dead).rejects.toMatchObject({
    name: 'WWWAuthenticateChallengeError',
    cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }],
  })
})

test('oauth4webapi reads a denial, and a request that was refused', async ({ person, server }) => {
  const denied = await authorization(server, 'read')
  const answer = await person.answer(denied.url, 'Deny')
  expect(() => oauth.validateAuthResponse(server, client, answer, denied.state)).toThrow(
    expect.objectContaining({ name: 'AuthorizationResponseError', error: 'access_denied' }),
  )
  const { url, state } = await authorization(server, 'openid')
  const response = await fetch(url, { redirect: 'manual' })
  const refused = new URL(response.headers.get('location') ?? '')
  expect(() => oauth.validateAuthResponse(server, client, refused, state)).toThrow(
    expect.objectContaining({ error: 'invalid_scope' }),
  )
})

test('oauth4webapi signs a device in', async ({ person, server }) => {
  const asked = await oauth.deviceAuthorizationRequest(server, client, auth, { scope: 'read' }, loopback)
  const device = await oauth.processDeviceAuthorizationResponse(server, client, asked)
  const poll = async () => {
    const response = await oauth.deviceCodeGrantRequest(server, client, auth, device.device_code, loopback)
    return oauth.processDeviceCodeResponse(server, client, response)
  }
  await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' })
  await expect(poll()).rejects.toMatchObject({ error: 'slow_down' })
  await person.answerDevice(device.verification_uri_complete ?? '', 'Allow')
  const tokens = await poll()
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read', expires_in: 3600 })
  expect((await refreshed(server, tokens.refresh_token)).scope).toBe('read')
})

test('oauth4webapi is challenged where its secret is wrong', async ({ served, server }) => {
  const headers = { authorization: `Bearer ${served.key}`, 'content-type': 'application/json' }
  const app = { name: 'Gradebook', redirectUris: [callback] }
  const made = await served.fetch('/v1/apps', { method: 'POST', headers, body: JSON.stringify(app) })
  const { clientId } = (await made.json()) as { clientId: string }
  for (const [secret, name] of [
    [oauth.ClientSecretBasic('wrong'), 'WWWAuthenticateChallengeError'],
    [oauth.ClientSecretPost('wrong'), 'ResponseBodyError'],
  ] as const) {
    const request = { client_id: clientId }
    const response = await oauth.refreshTokenGrantRequest(server, request, secret, 'lpr_none', loopback)
    const tokens = oauth.processRefreshTokenResponse(server, request, response)
    await expect(tokens).rejects.toMatchObject({ name, status: 401 })
  }
})

test('oauth4webapi finds the authorization server by the metadata that a refusal names', async ({
  served,
}) => {
  const refused = await oauth
    .protectedResourceRequest(
      'unknown',
      'GET',
      new URL('/v1/courses', served.address),
      undefined,
      undefined,
      loopback,
    )
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
  const [challenge] = (refused as oauth.WWWAuthenticateChallengeError).cause
  const expected = `${served.address}/.well-known/oauth-protected-resource`
  expect(challenge?.parameters).toMatchObject({ error: 'invalid_token', resource_metadata: expected })
  const resource = new URL(served.address)
  const response = await oauth.resourceDiscoveryRequest(resource, loopback)
  expect(response.url).toBe(expected)
  expect(await oauth.processResourceDiscoveryResponse(resource, response)).toMatchObject({
    authorization_servers: [served.address],
  })
})
