import { expect } from 'vitest'
import { isRegistered } from '../../../src/server/oauth/authorization-code.ts'
import { redirectQueryOf, register, test } from './flow.ts'

const everyRefused = [
  ['another path', 'http://127.0.0.1:50123/other'],
  ['a longer path', 'http://127.0.0.1:50123/callback/'],
  ['a path in other letters', 'http://127.0.0.1:50123/Callback'],
  ['no path', 'http://127.0.0.1:50123'],
  ['another host', 'http://192.0.2.7:50123/callback'],
  ['a host that begins like the literal', 'http://127.0.0.1.evil.test/callback'],
  ['another loopback address', 'http://127.0.0.2:50123/callback'],
  ['the literal in short', 'http://127.1:50123/callback'],
  ['the literal as a number', 'http://2130706433:50123/callback'],
  ['IPv6 in long', 'http://[0:0:0:0:0:0:0:1]:50123/callback'],
  ['the name localhost', 'http://localhost:50123/callback'],
  ['a user', 'http://user@127.0.0.1:50123/callback'],
  ['a user that looks like the literal', 'http://127.0.0.1:50123@evil.test/callback'],
  ['a backslash before another host', 'http://127.0.0.1:50123\\@evil.test/callback'],
  ['a fragment', 'http://127.0.0.1:50123/callback#code'],
  ['an empty fragment', 'http://127.0.0.1:50123/callback#'],
  ['a query', 'http://127.0.0.1:50123/callback?next=1'],
  ['https', 'https://127.0.0.1:50123/callback'],
  ['another scheme', 'javascript:alert(1)//127.0.0.1/callback'],
  ['an encoded step up', 'http://127.0.0.1:50123/callback%2f..'],
  ['a step up that comes back', 'http://127.0.0.1:50123/x/../callback'],
  ['a step up at the end', 'http://127.0.0.1:50123/callback/..'],
  ['an encoded letter', 'http://127.0.0.1:50123/%63allback'],
  ['a port beyond all', 'http://127.0.0.1:65536/callback'],
  ['a port of six digits', 'http://127.0.0.1:000080/callback'],
  ['a port that is none', 'http://127.0.0.1:/callback'],
  ['a port with a sign', 'http://127.0.0.1:+80/callback'],
  ['a space before', ' http://127.0.0.1:50123/callback'],
  ['a tab within', 'http://127.0.0.1:50123/call\tback'],
  ['a line break', 'http://127.0.0.1:50123/callback\r\nLocation: https://evil.test'],
  ['a character that reads as a point', 'http://127.0.0。1:50123/callback'],
  ['the scheme in capitals', 'HTTP://127.0.0.1:50123/callback'],
  ['a relative address', '/callback'],
  ['nothing that is an address', 'callback'],
] as const

test.for(everyRefused)(
  'a redirect URI with %s is a page of 400, never a redirect',
  async ([, uri], { flow }) => {
    const page = await flow.authorize({ redirect_uri: uri })
    expect(page).toMatchObject({ status: 400, leadsTo: null })
    expect(page.headers.get('location')).toBeNull()
    expect(page.text).toContain('redirect_uri')
  },
)

test.for(everyRefused)('nor does a form that was sent to %s lead there', async ([, uri], { flow, admin }) => {
  const page = await flow.consent(admin)
  const url = new URL(page.url)
  url.searchParams.set('redirect_uri', uri)
  const answered = await flow.browser.submit({ ...page, url: url.href }, {}, 'Allow')
  expect(answered).toMatchObject({ status: 400, leadsTo: null })
})

test.for([
  'http://127.0.0.1:1/callback',
  'http://127.0.0.1:65535/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:50123/callback',
  'http://[::1]/callback',
])('on the loopback any port is right: %s', async (uri, { flow, admin }) => {
  const page = await flow.consent(admin, { redirect_uri: uri })
  const { leadsTo } = await flow.browser.submit(page, {}, 'Allow')
  expect(leadsTo?.startsWith(`${new URL(uri).href}?`)).toBe(true)
})

test('no redirect URI is a page of 400, although only one is registered', async ({ academy, flow }) => {
  const { clientId } = await register(academy)
  for (const redirect_uri of [undefined, '']) {
    const page = await flow.authorize({ client_id: clientId, redirect_uri })
    expect(page).toMatchObject({ status: 400, leadsTo: null })
    expect(page.text).toContain('The parameter redirect_uri is required.')
  }
})

test('two redirect URIs are a page of 400, even when both are registered', async ({ flow }) => {
  const twice = 'redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback'
  const page = await flow.browser.open(
    `/oauth/authorize?client_id=learnctl&response_type=code&${twice}&${twice}`,
  )
  expect(page).toMatchObject({ status: 400, leadsTo: null })
})

test('an unknown client is a page of 400, never a redirect', async ({ flow }) => {
  for (const client_id of [undefined, 'app_none', 'learnctl ', 'LEARNCTL', "' or 1=1 --"]) {
    expect(await flow.authorize({ client_id })).toMatchObject({ status: 400, leadsTo: null })
  }
})

test('everywhere but on the literals a port is part of what is registered', async ({ academy, flow }) => {
  const { clientId } = await register(academy, {
    redirectUris: ['https://grades.example/back', 'http://localhost:8080/back'],
  })
  for (const redirect_uri of [
    'https://grades.example:8443/back',
    'https://grades.example:443/back',
    'https://grades.example./back',
    'http://grades.example/back',
    'http://localhost:8081/back',
    'http://localhost/back',
  ]) {
    expect(await flow.authorize({ client_id: clientId, redirect_uri })).toMatchObject({ status: 400 })
  }
})

test('the port of a registered literal does not matter, its path and query do', () => {
  const registered = ['http://127.0.0.1:8080/back?app=1']
  expect(isRegistered('http://127.0.0.1:8080/back?app=1', registered)).toBe(true)
  expect(isRegistered('http://127.0.0.1:9/back?app=1', registered)).toBe(true)
  expect(isRegistered('http://127.0.0.1:9/back?app=2', registered)).toBe(false)
  expect(isRegistered('http://127.0.0.1:9/back', registered)).toBe(false)
})

test('a redirect URI keeps the query that it was registered with', async ({ academy, admin, flow }) => {
  const redirect_uri = 'https://grades.example/back?tenant=a%20b&x'
  const { clientId } = await register(academy, { redirectUris: [redirect_uri] })
  const page = await flow.consent(admin, { client_id: clientId, redirect_uri })
  const answered = await flow.browser.submit(page, {}, 'Allow')
  expect(answered.leadsTo?.startsWith(`${redirect_uri}&code=lpc_`)).toBe(true)
  expect(redirectQueryOf(answered)).toMatchObject({ tenant: 'a b', state: 'state of the client' })
})

test('a scheme of its own leads back to a program', async ({ academy, admin, flow }) => {
  const redirect_uri = 'com.example.grades:/back'
  const { clientId } = await register(academy, { redirectUris: [redirect_uri], public: true })
  const page = await flow.consent(admin, { client_id: clientId, redirect_uri })
  expect(page.text).toContain('the app that opens com.example.grades: links')
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self' com.example.grades:;")
  const { leadsTo } = await flow.browser.submit(page, {}, 'Allow')
  expect(leadsTo).toMatch(/^com\.example\.grades:\/back\?code=lpc_/)
})
