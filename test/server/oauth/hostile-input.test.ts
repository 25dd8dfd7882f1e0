import { expect } from 'vitest'
import { authorizePath, callback, givePassword, password, redirectQueryOf, register, test } from './flow.ts'

const markup = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp;`

test('the name of an application is always shown as text', async ({ academy, admin, flow }) => {
  const { clientId: client_id } = await register(academy, { name: markup })
  const signIn = await flow.authorize({ client_id })
  const consent = await flow.consent(admin, { client_id })
  const refused = await flow.authorize({ client_id, redirect_uri: 'https://evil.test/' })
  for (const page of [signIn, consent, refused]) {
    expect(page.html).not.toContain('<script')
    expect(page.html).not.toContain('<img')
    expect(page.text).toContain(markup)
  }
  expect(consent.text).toContain(`Allow ${markup} to act on your behalf?`)
})

test('nothing of a request gets into the page but as text', async ({ admin, flow }) => {
  for (const name of [
    'client_id',
    'redirect_uri',
    'state',
    'scope',
    'code_challenge',
    'response_type',
    'x',
  ]) {
    for (const page of [
      await flow.authorize({ [name]: markup }),
      await flow.consent(admin, { [name]: markup }),
    ]) {
      expect(page.html).not.toContain('<script')
      expect(page.html).not.toContain('<img')
      expect(page.headers.get('location') ?? '').not.toMatch(/[<>\r\n"]/)
    }
  }
})

test('what a user typed comes back as text', async ({ flow }) => {
  const page = await flow.browser.signIn(await flow.authorize(), markup, markup)
  expect(page.status).toBe(403)
  expect(page.html).not.toMatch(/<script|<img/)
  expect(page.forms[0]?.fields).toMatchObject({ account: markup, password: '' })
  const device = await flow.browser.open(`/oauth/device?user_code=${encodeURIComponent(markup)}`)
  expect(device.html).not.toMatch(/<script|<img/)
})

test('a line break in the state makes no header of its own', async ({ admin, flow }) => {
  const state = 'a\r\nLocation: https://evil.test\r\n\r\n<h1>'
  for (const button of ['Allow', 'Deny']) {
    const answered = await flow.browser.submit(await flow.consent(admin, { state }), {}, button)
    expect(answered.leadsTo?.startsWith(`${callback}?`)).toBe(true)
    expect(redirectQueryOf(answered)['state']).toBe(state)
  }
})

test.for([
  ['a byte that is no UTF-8', '%FF'],
  ['half of a pair', '%ED%A0%80'],
  ['a percent sign alone', '%'],
  ['U+0000', '%00'],
])('%s in a parameter is an answer like others', async ([, text], { flow }) => {
  for (const name of ['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge']) {
    const page = await flow.browser.open(`${authorizePath({ [name]: undefined })}&${name}=${text}`)
    expect([200, 303, 400]).toContain(page.status)
  }
  expect((await flow.browser.open(`/oauth/device?user_code=${text}`)).status).toBe(200)
})

test.for([
  "' or '1'='1",
  "'; drop table grants; --",
  '%',
  '_',
  '*',
  '\\',
  '\u0000',
  'null',
  'undefined',
  '__proto__',
])('%j is no credential of any kind', async (text, { admin, flow }) => {
  expect((await flow.exchange(text)).body.error).toMatch(/^invalid_(grant|request)$/)
  expect((await flow.refresh(text)).body.error).toMatch(/^invalid_(grant|request)$/)
  expect((await flow.refresh('lpr_none', { client_id: text })).body.error).toBe('invalid_client')
  expect((await flow.refresh('lpr_none', { grant_type: text })).body.error).toBe('unsupported_grant_type')
  expect((await flow.send('/oauth/revoke', { client_id: 'learnctl', token: text })).status).toBe(200)
  const page = await flow.browser.signIn(await flow.authorize(), text, text)
  expect(page.status).toBe(403)
  await flow.consent(admin)
  const device = await flow.browser.submit(
    await flow.browser.open('/oauth/device'),
    { user_code: text },
    'Continue',
  )
  expect(device.status).toBe(403)
})

test('a form of more than a hundred fields is refused before it is taken apart', async ({ flow }) => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 'a']))
  expect((await flow.refresh('lpr_none', fields(97))).body.error).toBe('invalid_grant')
  expect((await flow.refresh('lpr_none', fields(98))).status).toBe(413)
})

test('a parameter of more than 8 KiB is refused, whichever it is', async ({ flow }) => {
  const long = 'a '.repeat(5000)
  const description = (name: string) => `The parameter ${name} has more than 8192 characters.`
  for (const name of ['scope', 'refresh_token', 'grant_type', 'client_id']) {
    const { body } = await flow.refresh('lpr_none', { [name]: long })
    expect(body.error_description).toBe(description(name))
  }
})

test.for([
  ['password', 'e\u0300\u0315'.repeat(6000)],
  ['password', 'e'.repeat(257)],
  ['account', 'A'.repeat(40_000)],
] as const)(
  'a sign-in form with a %s that is too long is wrong before anything is done with it',
  async ([name, text], { academy, admin, flow }) => {
    await givePassword(academy, admin.id)
    const fields = { account: admin.email, password, [name]: text }
    // Hashing a password or looking an account up would have counted an attempt.
    for (let count = 0; count < 10; count += 1) {
      const page = await flow.browser.signIn(await flow.authorize(), fields.account, fields.password)
      expect(page.status).toBe(403)
      expect(page.html).not.toContain(text)
    }
  },
)
