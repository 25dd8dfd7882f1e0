import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { sweep } from '../../../src/server/database/sweep.ts'
import { day, hour } from '../../helpers/academy.ts'
import { authorizePath, givePassword, issuer, password, redirectQueryOf, register, test } from './flow.ts'

test('a signed-out user signs in, and comes to the consent page', async ({ academy, admin, flow }) => {
  const first = await flow.authorize()
  expect(first.status).toBe(200)
  expect(first.text).toContain('learnctl is asking to act on your behalf.')
  const page = await flow.consent(admin)
  expect(page).toMatchObject({ status: 200, leadsTo: null, url: issuer + authorizePath() })
  expect(await academy.database.all(sql`select * from authorization_codes`)).toEqual([])
})

test('consent names client, account, scopes, time, and where it leads', async ({ admin, flow }) => {
  const { text, html } = await flow.consent(admin, { scope: 'read write admin' })
  expect(text).toContain('Allow learnctl to act on your behalf?')
  expect(text).toContain(`Your account ${admin.email} admin`)
  expect(text).toMatch(
    /View the courses, .* read Change the courses, .* write Administer the academy: .* admin /,
  )
  expect(text).toContain('Until 30 May 2026 or earlier, if you revoke it')
  expect(text).toContain('it is not used for 30 days')
  expect(text).toContain('a program on this computer (127.0.0.1:50123)')
  expect(text).toContain('only if you have just started it yourself')
  expect(html).toContain('<title>Allow learnctl? · learnctl academy</title>')
})

test('for an application of another host, consent names the host', async ({ academy, admin, flow }) => {
  const redirect_uri = 'https://grades.example/back'
  const { clientId: client_id } = await register(academy, { redirectUris: [redirect_uri] })
  const { text } = await flow.consent(admin, { client_id, redirect_uri })
  expect(text).toContain('Allow Gradebook to act on your behalf?')
  expect(text).toContain('You will be sent to grades.example Allow')
})

test('consent is asked every time, and twice gives two codes', async ({ academy, admin, flow }) => {
  const { clientId: client_id } = await register(academy)
  for (const changes of [{}, {}, { client_id }, { client_id }]) {
    const page = await flow.consent(admin, changes)
    expect(page.text).toContain('to act on your behalf?')
    expect((await flow.browser.submit(page, {}, 'Allow')).leadsTo).toContain('code=lpc_')
  }
  expect(await academy.database.all(sql`select hash from authorization_codes`)).toHaveLength(4)
})

test('allowing leads back with code, state and issuer: 303, uncached', async ({ admin, flow }) => {
  const state = 'ä +&=#%\r\nSet-Cookie: a=b <script>'
  const page = await flow.consent(admin, { state })
  const answered = await flow.browser.submit(page, {}, 'Allow')
  expect(answered.status).toBe(303)
  expect(answered.headers.get('cache-control')).toBe('no-store')
  expect(answered.headers.get('set-cookie')).toBeNull()
  expect(answered.leadsTo?.startsWith('http://127.0.0.1:50123/callback?code=')).toBe(true)
  expect(redirectQueryOf(answered)).toEqual({
    code: expect.stringMatching(/^lpc_\w{36}$/),
    state,
    iss: issuer,
  })
})

test('without a state none comes back', async ({ admin, flow }) => {
  for (const state of [undefined, '']) {
    const answered = await flow.browser.submit(await flow.consent(admin, { state }), {}, 'Deny')
    expect(redirectQueryOf(answered)).not.toHaveProperty('state')
  }
})

test('denial leads back with access_denied, and leaves no code', async ({ academy, admin, flow }) => {
  const answered = await flow.browser.submit(await flow.consent(admin), {}, 'Deny')
  expect(answered.status).toBe(303)
  expect(redirectQueryOf(answered)).toEqual({
    error: 'access_denied',
    error_description: 'The user denied the request.',
    state: 'state of the client',
    iss: issuer,
  })
  expect(await academy.database.all(sql`select * from authorization_codes`)).toEqual([])
})

test('another account signs in, and returns to the question', async ({ academy, admin, learner, flow }) => {
  await givePassword(academy, admin.id)
  const page = await flow.consent(learner)
  expect(page.text).toContain(learner.email)
  const asked = await flow.browser.submit(page, {}, 'Use another account')
  expect(asked.text).toContain('E-mail address or username')
  expect(asked.url).toBe(issuer + authorizePath())
  const again = await flow.browser.signIn(asked, admin.email, password)
  expect(again.text).toContain(`${admin.email} admin`)
})

test('only scopes of the role are granted, and the page names the others', async ({ flow, learner }) => {
  const page = await flow.consent(learner, { scope: 'admin read' })
  expect(page.text).toContain('It also asked for admin, which your role does not allow.')
  const code = redirectQueryOf(await flow.browser.submit(page, {}, 'Allow'))['code'] ?? ''
  expect((await flow.exchange(code)).body).toMatchObject({ scope: 'read' })
})

test.for([
  ['no scope', undefined, 'read'],
  ['an empty scope', '', 'read'],
  ['one scope', 'write', 'write'],
  ['a scope twice', 'write write', 'write'],
  ['scopes in any order', 'admin read write', 'read write admin'],
  ['scopes of other servers among ours', 'openid read offline_access', 'read'],
] as const)('%s asks for what it says', async ([, scope, given], { admin, flow }) => {
  expect((await flow.tokens(admin, { scope })).scope).toBe(given)
})

test('if the role can grant none of the scopes, the client gets an error', async ({ analyst, flow }) => {
  const answered = await flow.consent(analyst, { scope: 'write admin' })
  expect(answered.status).toBe(303)
  expect(redirectQueryOf(answered)).toMatchObject({ error: 'invalid_scope', iss: issuer })
})

test('a scope that was not on the page is not granted afterwards', async ({ admin, analyst, flow }) => {
  const page = await flow.consent(analyst, { scope: 'read write' })
  await admin.put(`/v1/users/${analyst.id}`, { role: 'instructor' })
  const code = redirectQueryOf(await flow.browser.submit(page, {}, 'Allow'))['code'] ?? ''
  expect((await flow.exchange(code)).body.scope).toBe('read')
})

test('a session that ended meanwhile takes signing in again', async ({ admin, flow, clock }) => {
  const page = await flow.consent(admin)
  clock.advance(12 * hour)
  const again = await flow.browser.submit(page, {}, 'Allow')
  expect(again.text).toContain('E-mail address or username')
  expect(again.leadsTo).toBeNull()
})

test('a form with a button that the page does not have does nothing', async ({ academy, admin, flow }) => {
  const page = await flow.consent(admin)
  const [form] = page.forms
  const forms = [{ action: '', method: 'post', fields: { ...form?.fields, action: 'delete' }, buttons: [] }]
  expect(await flow.browser.submit({ ...page, forms }, {})).toMatchObject({ status: 400, leadsTo: null })
  expect(await academy.database.all(sql`select * from authorization_codes`)).toEqual([])
})

test('the consent page has no frame, no script, and one way out', async ({ admin, flow }) => {
  for (const page of [await flow.authorize(), await flow.consent(admin)]) {
    const policy = page.headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[\w+/]+='$/),
      "form-action 'self' http://127.0.0.1:50123",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('same-origin')
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(page.html).not.toMatch(/<script|<link|<img|\son\w+=|style="/)
  }
})

test('old codes are swept, but for those that led to tokens', async ({ academy, admin, clock, flow }) => {
  await flow.tokens(admin)
  await flow.code(admin)
  clock.advance(day)
  await flow.code(admin)
  await sweep(academy.database, clock.now())
  const kept = await academy.database.all(
    sql`select grant_id is null as unused from authorization_codes order by 1`,
  )
  expect(kept).toEqual([{ unused: 0 }, { unused: 1 }])
})
