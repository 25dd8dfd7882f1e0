import { expect } from 'vitest'
import { authorizePath, challenge, challengeFor, issuer, redirectQueryOf, register, test } from './flow.ts'

test.for([
  ['no response type', { response_type: undefined }, 'invalid_request'],
  ['a response type of the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
  ['two response types', { response_type: 'code token' }, 'unsupported_response_type'],
  ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  [
    'neither challenge nor method',
    { code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
  ],
  ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  [
    'a challenge that is plain because no method is named',
    { code_challenge_method: undefined },
    'invalid_request',
  ],
  ['a method in small letters', { code_challenge_method: 's256' }, 'invalid_request'],
  ['a challenge of 42 characters', { code_challenge: challenge.slice(1) }, 'invalid_request'],
  ['a challenge of 44 characters', { code_challenge: `${challenge}=` }, 'invalid_request'],
  ['a challenge in base64', { code_challenge: `${challenge.slice(1)}+` }, 'invalid_request'],
  ['a scope of other servers alone', { scope: 'openid' }, 'invalid_scope'],
  ['a scope with a quotation mark', { scope: 'read "' }, 'invalid_scope'],
  ['a scope with two spaces', { scope: 'read  write' }, 'invalid_scope'],
  ['an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
  ['an answer by form', { response_mode: 'form_post' }, 'invalid_request'],
  ['an unknown prompt', { prompt: 'create' }, 'invalid_request'],
  ['no prompt and one', { prompt: 'none login' }, 'invalid_request'],
  ['a prompt with two spaces', { prompt: 'login  consent' }, 'invalid_request'],
  ['no page without a signed-in user', { prompt: 'none' }, 'login_required'],
] as const)('%s is told to the client, before anybody signs in', async ([, changes, error], { flow }) => {
  const answered = await flow.authorize(changes)
  expect(answered.status).toBe(303)
  expect(redirectQueryOf(answered)).toEqual({
    error,
    error_description: expect.stringMatching(/^[ !#-[\]-~]+$/),
    state: 'state of the client',
    iss: issuer,
  })
})

test.for([
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'prompt',
])('the parameter %s may not come twice', async (name, { flow }) => {
  const answered = await flow.browser.open(
    `${authorizePath({ response_mode: 'query', prompt: 'consent' })}&${name}=again`,
  )
  expect(redirectQueryOf(answered)).toMatchObject({
    error: 'invalid_request',
    error_description: `The parameter ${name} must be given only once.`,
    iss: issuer,
  })
  // It is unknown which of two states is the client's.
  expect(redirectQueryOf(answered)['state']).toBe(name === 'state' ? undefined : 'state of the client')
})

test('an unknown parameter is ignored, even twice', async ({ flow }) => {
  const page = await flow.browser.open(`${authorizePath()}&resource=a&resource=b&display=page`)
  expect(page).toMatchObject({ status: 200, leadsTo: null })
})

test('a wrong request is refused again when its form is sent', async ({ admin, flow }) => {
  const page = await flow.consent(admin)
  const url = new URL(page.url)
  url.searchParams.set('code_challenge_method', 'plain')
  const answered = await flow.browser.submit({ ...page, url: url.href }, {}, 'Allow')
  expect(redirectQueryOf(answered)).toMatchObject({ error: 'invalid_request', state: 'state of the client' })
})

test('a client with a secret may omit a challenge, not send a plain one', async ({ academy, flow }) => {
  const { clientId: client_id } = await register(academy)
  const without = { client_id, code_challenge: undefined, code_challenge_method: undefined }
  expect((await flow.authorize(without)).status).toBe(200)
  expect((await flow.authorize({ client_id })).status).toBe(200)
  for (const changes of [
    { client_id, code_challenge_method: 'plain' },
    { client_id, code_challenge: undefined },
    { client_id, code_challenge_method: undefined },
  ]) {
    expect(redirectQueryOf(await flow.authorize(changes))).toMatchObject({ error: 'invalid_request' })
  }
})

test('a public application of the academy needs a challenge as learnctl does', async ({ academy, flow }) => {
  const { clientId: client_id } = await register(academy, { public: true })
  const answered = await flow.authorize({ client_id, code_challenge: undefined })
  expect(redirectQueryOf(answered)).toMatchObject({ error: 'invalid_request' })
})

test('a request that is too long is a page of 414', async ({ flow }) => {
  expect(await flow.authorize({ state: 'a'.repeat(7000) })).toMatchObject({ status: 200 })
  expect(await flow.authorize({ state: 'a'.repeat(9000) })).toMatchObject({ status: 414, leadsTo: null })
})

test('other methods are 405, in the form in which each place refuses', async ({ academy }) => {
  const anybody = academy.bearer(undefined)
  for (const [method, path, type] of [
    ['PUT', authorizePath(), 'text/html; charset=utf-8'],
    ['DELETE', '/oauth/token', 'application/json'],
    ['GET', '/oauth/token', 'application/json'],
    ['GET', '/oauth/revoke', 'application/json'],
    ['GET', '/oauth/device_authorization', 'application/json'],
    ['POST', '/.well-known/oauth-authorization-server', 'application/problem+json'],
  ] as const) {
    const { status, headers } = await anybody.send(method, path)
    expect({ path, status, type: headers.get('content-type') }).toEqual({ path, status: 405, type })
  }
})

test('the challenge of the standard is the one that the tests use', () => {
  expect(challengeFor('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(challenge)
})
