import { expect } from 'vitest'
import { minute, type Person, second } from '../../helpers/academy.ts'
import { authorizePath, givePassword, password, test } from '../oauth/flow.ts'

async function entriesOf(admin: Person, query: string): Promise<Record<string, unknown>[]> {
  return (await admin.get(`/v1/audit?limit=100&${query}`)).body.data
}

test('a request without the rights is recorded, with its user', async ({ academy, admin, learner }) => {
  await learner.post('/v1/courses', { title: 'Logic' }, { 'user-agent': 'gradebook/1.0' })
  await academy.bearer('Bearer lpk_unknown').get('/v1/courses')
  await academy.bearer(undefined).get('/v1/courses')
  await admin.get('/v1/courses/none')
  const [unknown, forbidden, ...others] = await entriesOf(admin, 'noun=request')
  expect(others).toEqual([])
  expect(forbidden).toMatchObject({
    userId: learner.id,
    credential: expect.stringMatching(/^key_/),
    address: '192.0.2.1',
    userAgent: 'gradebook/1.0',
    before: null,
    after: { operation: 'courses.create', code: 'forbidden' },
  })
  expect(unknown).toMatchObject({
    userId: null,
    credential: null,
    after: { operation: 'courses.list', code: 'invalid_token' },
  })
})

test('an expired or revoked key or token is recorded by id', async ({ academy, admin, learner }) => {
  const keyOf = async (days: number) =>
    (
      await admin.post('/v1/keys', {
        name: 'gradebook',
        userId: learner.id,
        scopes: ['read'],
        expiresAt: new Date(academy.clock.now().getTime() + days * 24 * 60 * minute).toISOString(),
      })
    ).body
  const [short, long] = [await keyOf(1), await keyOf(20)]
  await admin.delete(`/v1/keys/${long.id}`)
  academy.clock.advance(2 * 24 * 60 * minute)
  expect((await academy.bearer(`Bearer ${short.key}`).get('/v1/courses')).status).toBe(403)
  expect((await academy.bearer(`Bearer ${long.key}`).get('/v1/courses')).status).toBe(401)
  const entries = await entriesOf(admin, 'noun=request&sort=at')
  expect(entries).toMatchObject([
    { userId: learner.id, credential: short.id, after: { code: 'expired_key' } },
    { userId: learner.id, credential: long.id, after: { code: 'invalid_token' } },
  ])
  expect(JSON.stringify(entries)).not.toContain(long.key)
})

test('a forbidden page of the dashboard is recorded', async ({ admin, learner, flow }) => {
  await flow.consent(learner)
  await flow.browser.open('/dashboard/audit')
  expect(await entriesOf(admin, 'noun=request')).toMatchObject([
    {
      userId: learner.id,
      credential: 'browser',
      after: { operation: 'GET /dashboard/audit', code: 'forbidden' },
    },
  ])
})

test('a wrong current password is recorded everywhere', async ({ academy, admin, learner }) => {
  await givePassword(academy, learner.id)
  const currentPassword = 'incorrect horse battery'
  await learner.put('/v1/user/profile', { password: 'a new passphrase here', currentPassword })
  const [entry, ...others] = await entriesOf(admin, 'noun=request')
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    userId: learner.id,
    subjectId: learner.id,
    after: { operation: 'users.updateProfile', code: 'wrong_password' },
  })
  expect(JSON.stringify(entry)).not.toContain('horse')
})

test('a few refusals a minute of an address are recorded', async ({ academy, admin }) => {
  for (let count = 0; count < 19; count += 1) await academy.bearer('Bearer lpk_unknown').get('/v1/courses')
  expect(await entriesOf(admin, 'noun=request')).toHaveLength(10)
  academy.clock.advance(minute)
  await academy.bearer('Bearer lpk_unknown').get('/v1/courses')
  const [last, ...others] = await entriesOf(admin, 'noun=request')
  expect(others).toHaveLength(10)
  expect(last).toMatchObject({ after: { code: 'invalid_token', unrecorded: 9 } })
})

test('an attempt is recorded, however many are refused', async ({ academy, admin, learner }) => {
  for (let network = 0; network < 7; network += 1) {
    const fetch = academy.fetchFrom(`198.51.100.${network}`)
    const headers = { authorization: 'Bearer lpk_unknown' }
    for (let count = 0; count < 10; count += 1) {
      expect((await fetch(new Request('http://localhost/v1/courses', { headers }))).status).toBe(401)
    }
  }
  await learner.post('/v1/courses', { title: 'Logic' })
  const entries = await entriesOf(admin, 'noun=request')
  expect(entries).toHaveLength(61)
  expect(entries.filter(({ userId }) => userId === learner.id)).toMatchObject([
    { after: { operation: 'courses.create', code: 'forbidden', unrecorded: 10 } },
  ])
})

test('signing in, a wrong password and signing out are recorded; the input is not', async ({
  academy,
  admin,
  learner,
  flow: { browser },
}) => {
  await givePassword(academy, learner.id)
  const page = await browser.open(authorizePath())
  await browser.signIn(page, learner.email, 'incorrect horse battery')
  academy.clock.advance(second)
  await browser.signIn(page, 'nobody@school.example', 'incorrect horse battery')
  academy.clock.advance(second)
  await browser.signIn(page, learner.email, password)
  academy.clock.advance(second)
  await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
  const entries = (await entriesOf(admin, 'noun=session&sort=at')).map(
    ({ action, userId, subjectId, after }) => ({
      action,
      userId,
      subjectId,
      after,
    }),
  )
  const session = expect.stringMatching(/^ses_/)
  const code = 'wrong_password'
  expect(entries).toEqual([
    { action: 'session.refused', userId: null, subjectId: learner.id, after: { code } },
    { action: 'session.refused', userId: null, subjectId: null, after: { code } },
    {
      action: 'session.created',
      userId: learner.id,
      subjectId: session,
      after: expect.objectContaining({ userId: learner.id, browser: expect.any(String) }),
    },
    { action: 'session.ended', userId: admin.id, subjectId: session, after: null },
  ])
  expect(JSON.stringify(await entriesOf(admin, ''))).not.toContain('incorrect horse')
})
