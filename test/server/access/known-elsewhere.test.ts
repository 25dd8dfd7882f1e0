import { expect } from 'vitest'
import { type Anybody, openTestAcademy, second, test as standard } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { flowIn, givePassword, issuer, password } from '../oauth/flow.ts'

/** What somebody may still do at this server, and at another one on the same database. */
const test = standard.extend('atBoth', async ({ academy }, { onCleanup }) => {
  const other = await openTestAcademy({ beside: academy })
  onCleanup(() => other.close())
  return async (credential: string, path = '/v1/courses') => {
    const statusAt = async (server: { bearer(authorization: string): Anybody }) =>
      (await server.bearer(`Bearer ${credential}`).get(path)).status
    return [await statusAt(academy), await statusAt(other)]
  }
})

test('a key that is revoked is refused at once, and within a second by the other server', async ({
  admin,
  analyst,
  atBoth,
  clock,
}) => {
  expect(await atBoth(analyst.key)).toEqual([200, 200])
  const [key] = (await admin.get(`/v1/keys?user_id=${analyst.id}`)).body.data
  clock.advance(second - 1)
  await admin.delete(`/v1/keys/${key.id}`)
  expect(await atBoth(analyst.key)).toEqual([401, 200])
  clock.advance(1)
  expect(await atBoth(analyst.key)).toEqual([401, 401])
})

test('a user who is suspended is refused at once, and within a second by the other server', async ({
  admin,
  analyst,
  atBoth,
  clock,
}) => {
  expect(await atBoth(analyst.key)).toEqual([200, 200])
  await admin.put(`/v1/users/${analyst.id}`, { status: 'suspended' })
  expect((await atBoth(analyst.key))[0]).toBe(401)
  clock.advance(second)
  expect(await atBoth(analyst.key)).toEqual([401, 401])
})

test('a role that changes counts at once, and within a second at the other server', async ({
  admin,
  atBoth,
  clock,
  instructor,
}) => {
  const rows = '/v1/analytics/learners'
  expect(await atBoth(instructor.key, rows)).toEqual([200, 200])
  await admin.put(`/v1/users/${instructor.id}`, { role: 'learner' })
  expect((await atBoth(instructor.key, rows))[0]).toBe(403)
  clock.advance(second)
  expect(await atBoth(instructor.key, rows)).toEqual([403, 403])
})

test('an access token that is revoked is refused at once, and within a second by the other server', async ({
  academy,
  atBoth,
  clock,
  learner,
}) => {
  const flow = flowIn(academy)
  const tokens = await flow.tokens(learner)
  expect(await atBoth(tokens.access_token)).toEqual([200, 200])
  await flow.send('/oauth/revoke', { client_id: 'learnctl', token: tokens.refresh_token })
  expect((await atBoth(tokens.access_token))[0]).toBe(401)
  clock.advance(second)
  expect(await atBoth(tokens.access_token)).toEqual([401, 401])
})

test('what is written is decided by what is true at that moment, whatever a server still knows', async ({
  academy,
  admin,
  instructor,
}) => {
  await using other = await openTestAcademy({ beside: academy })
  const there = other.bearer(`Bearer ${instructor.key}`)
  expect((await there.get('/v1/courses')).status).toBe(200)
  await admin.put(`/v1/users/${instructor.id}`, { status: 'suspended' })
  expect((await there.post('/v1/courses', { title: 'Logic' })).status).toBe(401)
  expect((await admin.get('/v1/courses')).body.data).toEqual([])
})

test('a browser whose user is suspended is signed out at once at every server', async ({
  academy,
  admin,
  learner,
}) => {
  await using other = await openTestAcademy({ beside: academy })
  let server = academy
  const browser = plainBrowser((request) => server.fetch(request), issuer)
  await givePassword(academy, learner.id)
  await browser.signIn(await browser.open('/dashboard'), learner.email, password)
  const asksToSignIn = async () =>
    (await browser.open('/dashboard')).text.includes('E-mail address or username')
  server = other
  expect(await asksToSignIn()).toBe(false)
  await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
  expect(await asksToSignIn()).toBe(true)
})
