import { expect } from 'vitest'
import { second } from '../../helpers/academy.ts'
import { password } from '../oauth/flow.ts'
import { roles, test, thingsOf } from './signed-in.ts'

const button = 'Change password'
const next = 'another long password'

test('it says who one is', async ({ admin, analyst, signIn }) => {
  await admin.put(`/v1/users/${analyst.id}`, {
    username: 'ana',
    profile: { firstName: 'Ana', lastName: 'Lyst' },
  })
  const { text } = await (await signIn(analyst)).open('/dashboard/account')
  expect(text).toContain(
    `Name Ana Lyst E-mail address ${analyst.email} Username ana Role analyst Scopes read ID ${analyst.id} Created 1 Mar 2026`,
  )
})

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

test('guessing the current password is slowed down like signing in', async ({ analyst, clock, signIn }) => {
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

test('a grant is listed with its application, and revoked after a question', async ({
  academy,
  analyst,
  flow,
  signIn,
}) => {
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
