import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { sweep } from '../../../src/server/database/sweep.ts'
import { hour, minute, second, test as standard } from '../../helpers/academy.ts'
import { type PlainBrowser, plainBrowser, type Shown } from '../../helpers/browser.ts'
import { authorizePath, givePassword, issuer, password, test } from '../oauth/flow.ts'

const wrong = 'incorrect horse battery'

async function attempt(browser: PlainBrowser, account: string, typed = password): Promise<Shown> {
  return browser.signIn(await browser.open(authorizePath()), account, typed)
}

function isIn({ text }: Shown): boolean {
  return text.includes('to act on your behalf?')
}

test('a person signs in by address or username, and comes back', async ({ academy, learner, flow }) => {
  await givePassword(academy, learner.id)
  await learner.put('/v1/user/profile', { username: 'ada' })
  for (const account of [learner.email, learner.email.toUpperCase(), ` ${learner.email} `, 'ada']) {
    flow.browser.forget()
    const page = await attempt(flow.browser, account)
    expect(isIn(page), account).toBe(true)
    expect(page.url).toBe(issuer + authorizePath())
  }
})

test('the page has labels, one heading, and fields that a password manager knows', async ({ flow }) => {
  const { html, headers } = await flow.authorize()
  expect(html).toMatch(/^<!DOCTYPE html><html lang="en">/)
  expect(html.match(/<h1>/g)).toHaveLength(1)
  expect(html).toContain('<label for="account">')
  expect(html).toMatch(/<input id="account"[^>]* autocomplete="username"/)
  expect(html).toContain('<label for="password">')
  expect(html).toMatch(/<input id="password"[^>]* type="password" autocomplete="current-password"/)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
})

test('a wrong password, an account that is not there, one without a password or not active: one answer', async ({
  academy,
  admin,
  analyst,
  flow,
  instructor,
  learner,
}) => {
  for (const { id } of [admin, analyst, learner]) await givePassword(academy, id)
  await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
  await admin.delete(`/v1/users/${analyst.id}`)
  for (const account of [admin.email, 'nobody@school.example', '']) {
    const page = await attempt(flow.browser, account, wrong)
    expect(page.status).toBe(403)
    expect(page.html).toContain(
      '<p class="fault" role="alert">Incorrect e-mail address, username or password.</p>',
    )
    expect(page.html).toContain('<title>Error: sign in')
  }
  for (const { email } of [instructor, learner, analyst]) {
    const page = await attempt(flow.browser, email)
    expect(page.status).toBe(403)
    expect(page.text).toContain('Incorrect e-mail address, username or password.')
    expect(page.forms[0]?.fields).toMatchObject({ account: email, password: '' })
  }
  expect((await attempt(flow.browser, instructor.email, '')).status).toBe(403)
  expect(await academy.database.all(sql`select * from browser_sessions`)).toEqual([])
})

test('five wrong passwords for one account, however it is named, then a delay that grows, even for the right one', {
  tags: ['slow'],
}, async ({ academy, clock, flow, learner, instructor }) => {
  for (const { id } of [learner, instructor]) await givePassword(academy, id)
  await learner.put('/v1/user/profile', { username: 'ada' })
  for (let count = 0; count < 5; count += 1) {
    const account = [learner.email, 'ada', learner.email.toUpperCase()][count % 3] ?? ''
    expect((await attempt(flow.browser, account, wrong)).status).toBe(403)
  }
  const refused = await attempt(flow.browser, 'ada')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.text).toContain('Too many attempts to sign in; try again in 1 s.')
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
    clock.advance(seconds * second - 1)
    expect((await attempt(flow.browser, 'ada', wrong)).headers.get('retry-after')).toBe('1')
    clock.advance(1)
    expect((await attempt(flow.browser, 'ada', wrong)).status, `after ${seconds} s`).toBe(403)
  }
  expect(isIn(await attempt(flow.browser, instructor.email))).toBe(true)
  flow.browser.forget()
  clock.advance(15 * minute)
  expect(isIn(await attempt(flow.browser, 'ada'))).toBe(true)
  flow.browser.forget()
  // A correct password resets the count.
  expect((await attempt(flow.browser, 'ada', wrong)).status).toBe(403)
  expect(isIn(await attempt(flow.browser, 'ada'))).toBe(true)
})

test('failures from one network do not delay another', async ({ academy, learner }) => {
  await givePassword(academy, learner.id)
  const at = (address: string) => plainBrowser(academy.fetchFrom(address), issuer)
  for (let count = 0; count < 6; count += 1) await attempt(at('2001:db8:1:2::1'), learner.email, wrong)
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2']) {
    expect((await attempt(at(address), learner.email)).status).toBe(429)
  }
  for (const address of ['2001:db8:1:3::1', '192.0.2.1']) {
    expect(isIn(await attempt(at(address), learner.email))).toBe(true)
  }
})

test('failures elsewhere keep no user out', { tags: ['slow'] }, async ({ academy, flow, learner }) => {
  await givePassword(academy, learner.id)
  for (let count = 0; count < 25; count += 1) {
    await academy.bearer('Bearer lpk_guess').get('/v1/courses')
    expect((await attempt(flow.browser, `nobody${count}`, wrong)).status).toBe(403)
  }
  expect(isIn(await attempt(flow.browser, learner.email))).toBe(true)
})

test('an attempt at an unknown name in another case counts for it', async ({ flow, learner }) => {
  await learner.put('/v1/user/profile', { username: 'ada' })
  for (let count = 0; count < 5; count += 1) {
    expect((await attempt(flow.browser, 'ADA', wrong)).status).toBe(403)
  }
  expect((await attempt(flow.browser, 'ada', wrong)).status).toBe(429)
})

test('correct passwords are not counted', { tags: ['slow'] }, async ({ academy, flow, learner }) => {
  await givePassword(academy, learner.id)
  for (let count = 0; count < 25; count += 1) {
    flow.browser.forget()
    expect(isIn(await attempt(flow.browser, learner.email))).toBe(true)
  }
})

test('an e-mail address is its owner’s, not a username', async ({ academy, flow, instructor, learner }) => {
  for (const { id } of [learner, instructor]) await givePassword(academy, id)
  await academy.database.run(sql`update users set username = ${instructor.email} where id = ${learner.id}`)
  const page = await attempt(flow.browser, instructor.email)
  expect(page.text).toContain(`${instructor.email} instructor`)
})

test('the cookie is HttpOnly, SameSite=Lax, for this host and port', async ({ academy }) => {
  const lines: string[] = []
  const send = async (request: Request) => {
    const response = await academy.fetch(request)
    lines.push(...response.headers.getSetCookie())
    return response
  }
  await plainBrowser(send, 'http://localhost:4700').open(authorizePath())
  await plainBrowser(send, 'http://localhost').open(authorizePath())
  const attributes = 'Max-Age=43200; Path=/; HttpOnly; SameSite=Lax'
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^learnctl_session_4700=lpb_\\w{36}; ${attributes}$`)),
    expect.stringMatching(new RegExp(`^learnctl_session=lpb_\\w{36}; ${attributes}$`)),
  ])
})

test('behind https the cookie is Secure, and bound to the host by its name', async ({ academy }) => {
  const response = await academy.fetch(new Request(`https://localhost${authorizePath()}`))
  expect(response.headers.get('set-cookie')).toMatch(
    /^__Host-learnctl_session=lpb_\w{36}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
})

test('signing in changes the cookie: none can be prepared', async ({ academy, flow, learner }) => {
  await givePassword(academy, learner.id)
  await flow.authorize()
  const [before] = [...flow.browser.cookies.values()]
  await attempt(flow.browser, learner.email)
  const [after] = [...flow.browser.cookies.values()]
  expect(after).not.toBe(before)
  const headers = { cookie: `learnctl_session=${before}` }
  const page = await academy.bearer(undefined).get(authorizePath(), headers)
  expect(page.text).toContain('E-mail address or username')
})

test('a session lasts twelve hours, and is swept then', async ({ academy, clock, flow, learner }) => {
  await givePassword(academy, learner.id)
  await attempt(flow.browser, learner.email)
  clock.advance(12 * hour - 1)
  expect(isIn(await flow.authorize())).toBe(true)
  clock.advance(1)
  expect(isIn(await flow.authorize())).toBe(false)
  await attempt(flow.browser, learner.email)
  await sweep(academy.database, clock.now())
  expect(await academy.database.all(sql`select hash from browser_sessions`)).toHaveLength(1)
})

test.for(['', 'lpb_', 'lpb_guess', 'a; b', '"'])('a cookie of %j is none', async (value, { academy }) => {
  const headers = { cookie: `learnctl_session=${value}` }
  const page = await academy.bearer(undefined).get(authorizePath(), headers)
  expect(page.status).toBe(200)
  expect(page.text).toContain('E-mail address or username')
  expect(page.headers.get('set-cookie')).toMatch(/^learnctl_session=lpb_/)
})

standard(
  'signing in over the API with a cookie of the pages is not possible',
  async ({ academy, learner }) => {
    await givePassword(academy, learner.id)
    const browser = plainBrowser(academy.fetch, issuer)
    await attempt(browser, learner.email)
    const cookie = browser.cookie()
    expect((await academy.bearer(undefined).get('/v1/courses', { cookie })).status).toBe(401)
  },
)
