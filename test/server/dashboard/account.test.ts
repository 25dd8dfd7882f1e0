import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { day, minute, second, type TestAcademy } from '../../helpers/academy.ts'
import { type PlainBrowser, plainBrowser } from '../../helpers/browser.ts'
import { givePassword, issuer, password } from '../oauth/flow.ts'
import { roles, sendForm, startOtherSession, test, thingsOf } from './signed-in.ts'

const button = 'Change password'
const next = 'another long password'

test.for(roles)(
  'who is %s changes their password, and signs in again, everywhere',
  async (role, { academy, admin, signIn }) => {
    const person = await academy.person(role)
    await thingsOf(academy, person, admin)
    const [browser, elsewhere] = [await signIn(person), await signIn(person)]
    const page = await browser.open('/dashboard/account')
    const done = await browser.submit(
      page,
      { currentPassword: password, password: next, repeated: next },
      button,
    )
    expect(done.url).toBe('http://localhost/dashboard/account?done=password_changed')
    expect(done.text).toContain('Password changed. E-mail address or username')
    expect((await elsewhere.open('/dashboard')).text).toContain('Password')
    expect(await browser.signIn(done, person.email, password)).toMatchObject({ status: 403 })
    const back = await browser.signIn(done, person.email, next)
    expect(back.text).toContain('Profile')
    expect(back.text).toContain('No application can act as you.')
    expect(JSON.stringify(academy.logged)).not.toMatch(/long password|horse/)
  },
)

test.for([
  [
    'the current password is wrong',
    { currentPassword: 'not this one, no' },
    'Current password must be the current password',
  ],
  [
    'the new ones differ',
    { repeated: 'another long passwort' },
    'Repeat new password must match the new password',
  ],
  [
    'the new one is short',
    { password: 'short', repeated: 'short' },
    'New password must have at least 12 characters',
  ],
] as const)('nothing changes when %s', async ([, fields, message], { academy, analyst, signIn }) => {
  const browser = await signIn(analyst)
  const page = await browser.open('/dashboard/account')
  const given = { currentPassword: password, password: next, repeated: next, ...fields }
  const refused = await browser.submit(page, given, button)
  expect(refused).toMatchObject({ status: 422, text: expect.stringContaining(message) })
  for (const secret of Object.values(given)) expect(refused.html).not.toContain(`value="${secret}"`)
  expect((await browser.open('/dashboard')).text).toContain('Overview')
  expect(JSON.stringify(academy.logged)).not.toContain(given.currentPassword)
})

test('guessing the current password is slow', { tags: ['slow'] }, async ({ analyst, clock, signIn }) => {
  const browser = await signIn(analyst)
  const page = await browser.open('/dashboard/account')
  const guess = () =>
    browser.submit(page, { currentPassword: 'a guess that is wrong', password: next, repeated: next }, button)
  const statuses: number[] = []
  for (let turn = 0; turn < 6; turn += 1) statuses.push((await guess()).status)
  expect(statuses).toEqual([...Array(5).fill(422), 429])
  const waiting = await guess()
  expect(waiting.headers.get('retry-after')).toBe('1')
  clock.advance(second)
  expect((await guess()).status).toBe(422)
})

test('a grant is listed by application, and revoked', async ({ academy, analyst, flow, signIn }) => {
  const tokens = await flow.tokens(analyst, { scope: 'read' })
  const bearer = academy.bearer(`Bearer ${tokens.access_token}`)
  expect((await bearer.get('/v1/user/profile')).status).toBe(200)
  const browser = await signIn(analyst)
  const page = await browser.open('/dashboard/account')
  expect(page.text).toMatch(/learnctl read 1 Mar 2026 1 Mar 2026 \d+ \w+ 2026 Revoke access of learnctl/)
  const asked = await browser.open(/href="([^"]+\/revoke)"/.exec(page.html)?.[1] ?? '')
  const done = await browser.submit(asked, {}, 'Revoke access')
  expect(done.url).toBe('http://localhost/dashboard/account?done=grant_revoked')
  expect(done.text).toContain('No application can act as you.')
  expect((await bearer.get('/v1/user/profile')).status).toBe(401)
})

/** Opens a browser with another User-Agent at this address. */
function browserAt(academy: TestAcademy, address: string, userAgent: string) {
  const sendForm = academy.fetchFrom(address)
  return plainBrowser((request) => {
    const headers = new Headers(request.headers)
    headers.set('user-agent', userAgent)
    return sendForm(new Request(request, { headers }))
  }, issuer)
}

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

test('signed-in browsers are listed and ended', { tags: ['slow'] }, async ({ academy, analyst, clock }) => {
  await givePassword(academy, analyst.id)
  const open = async (address: string, userAgent: string) => {
    const browser = browserAt(academy, address, userAgent)
    await browser.signIn(await browser.open('/dashboard'), analyst.email, password)
    clock.advance(minute)
    return browser
  }
  const [desk, pocket, old] = [
    await open('192.0.2.7', firefox),
    await open('2001:db8:1:2::3', phone),
    await open('198.51.100.4', ''),
  ]
  const isIn = async (browser: PlainBrowser) => (await browser.open('/dashboard')).text.includes('Sign out')
  const page = await desk.open('/dashboard/account')
  expect(page.text).toContain(
    'Unknown browser 198.51.100.* 1 Mar 2026, 12:02 UTC 2 Mar 2026, 00:02 UTC End session of Unknown browser ' +
      'Safari on iOS 2001:db8:1::/48 1 Mar 2026, 12:01 UTC 2 Mar 2026, 00:01 UTC End session of Safari on iOS ' +
      'Firefox on Linux 192.0.2.* 1 Mar 2026, 12:00 UTC 2 Mar 2026, 00:00 UTC this browser',
  )
  expect(page.html).not.toMatch(/192\.0\.2\.7|2::3|605\.1/)
  const [ofOld = '', ofPocket = ''] = page.html.match(/\/dashboard\/sessions\/\w+\/end/g) ?? []
  const asked = await desk.open(ofPocket)
  expect(asked.text).toContain('Safari on iOS (2001:db8:1::/48) will be signed out.')
  expect((await desk.submit(asked, {}, 'End session')).text).toContain('Session ended.')
  expect(await Promise.all([desk, pocket, old].map(isIn))).toEqual([true, false, true])
  expect((await desk.open(ofPocket)).status).toBe(404)
  const others = await desk.open('/dashboard/other-sessions/end')
  expect(others.text).toContain('1 other browser will be signed out.')
  expect((await desk.submit(others, {}, 'End all other sessions')).text).toContain(
    'All other sessions ended.',
  )
  expect(await Promise.all([desk, old].map(isIn))).toEqual([true, false])
  expect((await desk.open('/dashboard/account')).html).not.toContain('other-sessions')
  expect((await desk.open(ofOld)).status).toBe(404)
})

test('a user cannot end or find sessions of another user', async ({ academy, analyst, learner, signIn }) => {
  const theirs = await startOtherSession(academy, learner)
  const browser = await signIn(analyst)
  expect((await browser.open(`/dashboard/sessions/${theirs}/end`)).status).toBe(404)
  expect((await sendForm(browser, `/dashboard/sessions/${theirs}/end`, {})).status).toBe(404)
  await sendForm(browser, '/dashboard/other-sessions/end', {})
  expect(await academy.database.all(sql`select id from browser_sessions where id = ${theirs}`)).toHaveLength(
    1,
  )
})

test('a sign-in ends the oldest of fifty sessions', async ({ academy, analyst, clock, signIn }) => {
  const first = await signIn(analyst)
  const expiresAt = new Date(clock.now().getTime() + day).toISOString()
  for (let count = 0; count < 49; count += 1) {
    clock.advance(second)
    await academy.database.run(sql`
      insert into browser_sessions (hash, id, user_id, browser, place, created_at, expires_at)
      values (${`hash ${count}`}, ${`ses_${count}`}, ${analyst.id}, '', '', ${clock.now().toISOString()}, ${expiresAt})`)
  }
  expect((await first.open('/dashboard')).text).toContain('Sign out')
  clock.advance(second)
  const last = await signIn(analyst)
  expect((await first.open('/dashboard')).text).not.toContain('Sign out')
  expect((await last.open('/dashboard')).text).toContain('Sign out')
})
