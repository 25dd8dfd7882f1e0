import { expect } from 'vitest'
import { password, redirectQueryOf, test } from './flow.ts'

test('prompt=none shows no page: a user would have to be asked', async ({ admin, flow }) => {
  await flow.consent(admin)
  const answered = await flow.authorize({ prompt: 'none' })
  expect(redirectQueryOf(answered)).toMatchObject({ error: 'consent_required', state: 'state of the client' })
})

test('prompt=login asks who is signed in to sign in again, once', async ({ admin, flow }) => {
  await flow.consent(admin)
  const page = await flow.authorize({ prompt: 'login consent' })
  expect(page.forms[0]?.fields).toHaveProperty('password')
  const wrong = await flow.browser.signIn(page, admin.email, `${password}!`)
  expect(wrong.forms[0]?.fields).toHaveProperty('password')
  const consent = await flow.browser.signIn(wrong, admin.email, password)
  expect(consent.text).toContain('to act on your behalf?')
  const answered = await flow.browser.submit(consent, {}, 'Allow')
  const { code = '', state } = redirectQueryOf(answered)
  expect(state).toBe('state of the client')
  expect((await flow.exchange(code)).body).toMatchObject({ scope: 'read write' })
})

test('prompt=login is not got round by a form that was shown without it', async ({ admin, flow }) => {
  const page = await flow.consent(admin)
  const url = new URL(page.url)
  url.searchParams.set('prompt', 'login')
  const answered = await flow.browser.submit({ ...page, url: url.href }, {}, 'Allow')
  expect(answered).toMatchObject({ status: 200, leadsTo: null })
  expect(answered.forms[0]?.fields).toHaveProperty('password')
})

test.for(['consent', 'select_account', 'consent select_account'])(
  'prompt=%s is what everybody gets: consent, where another account can be chosen',
  async (prompt, { admin, flow }) => {
    await flow.consent(admin)
    const page = await flow.authorize({ prompt, response_mode: 'query' })
    expect(page.text).toContain('to act on your behalf?')
    expect(page.text).toContain('Use another account')
  },
)
