import { expect } from 'vitest'
import { type Caller, openTestAcademy, second, test as standard } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { givePassword, issuer, openFlow, password } from '../oauth/flow.ts'

/**
 * Makes a change that ends a credential. This server refuses it at once; another one on the same database, which has
 * just used it, refuses it within a second.
 */
const test = standard.extend('refusedAfter', async ({ academy, clock }, { onCleanup }) => {
  const other = await openTestAcademy({ beside: academy })
  onCleanup(() => other.close())
  return async (credential: string, change: () => Promise<unknown>, status = 401, path = '/v1/courses') => {
    const statusAt = async (server: { bearer(authorization: string): Caller }) =>
      (await server.bearer(`Bearer ${credential}`).get(path)).status
    const atBoth = async () => [await statusAt(academy), await statusAt(other)]
    expect(await atBoth()).toEqual([200, 200])
    clock.advance(second - 1)
    await change()
    expect(await atBoth()).toEqual([status, 200])
    clock.advance(1)
    expect(await atBoth()).toEqual([status, status])
  }
})

test('a revoked key is refused at once, elsewhere in a second', async ({ admin, analyst, refusedAfter }) => {
  const [key] = (await admin.get(`/v1/keys?user_id=${analyst.id}`)).body.data
  await refusedAfter(analyst.key, () => admin.delete(`/v1/keys/${key.id}`))
})

test('a suspended user is refused at once, soon also elsewhere', async ({ admin, analyst, refusedAfter }) => {
  await refusedAfter(analyst.key, () => admin.put(`/v1/users/${analyst.id}`, { status: 'suspended' }))
})

test('a new role counts at once, elsewhere in a second', async ({ admin, instructor, refusedAfter }) => {
  const change = () => admin.put(`/v1/users/${instructor.id}`, { role: 'learner' })
  await refusedAfter(instructor.key, change, 403, '/v1/analytics/learners')
})

test('a revoked token is refused at once, soon also elsewhere', async ({
  academy,
  learner,
  refusedAfter,
}) => {
  const flow = openFlow(academy)
  const tokens = await flow.tokens(learner)
  await refusedAfter(tokens.access_token, () =>
    flow.send('/oauth/revoke', { client_id: 'learnctl', token: tokens.refresh_token }),
  )
})

test('a write is decided by current rights, not a cache', async ({ academy, admin, instructor }) => {
  await using other = await openTestAcademy({ beside: academy })
  const there = other.bearer(`Bearer ${instructor.key}`)
  expect((await there.get('/v1/courses')).status).toBe(200)
  await admin.put(`/v1/users/${instructor.id}`, { status: 'suspended' })
  expect((await there.post('/v1/courses', { title: 'Logic' })).status).toBe(401)
  expect((await admin.get('/v1/courses')).body.data).toEqual([])
})

test('a browser of a suspended user is signed out everywhere', async ({ academy, admin, learner }) => {
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
