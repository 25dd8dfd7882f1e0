import { expect } from 'vitest'
import { createRateLimit } from '../../../src/server/http/limits.ts'
import { hour, minute, second, test as standard } from '../../helpers/academy.ts'
import { plainBrowser } from '../../helpers/browser.ts'
import { createGrant } from '../../helpers/signed-in.ts'
import { givePassword, issuer, password } from '../oauth/flow.ts'

const test = standard.extend('perMinute', 5)
const generous = standard.extend('perMinute', 600)

generous('every response tells the policy and what is left of it', async ({ academy, admin }) => {
  const first = await admin.get('/v1/courses')
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=600;w=60')
  expect(first.headers.get('ratelimit')).toBe('"default";r=599;t=1')
  for (let count = 0; count < 20; count += 1) await admin.get('/v1/courses/crs_none')
  expect((await admin.get('/v1/courses')).headers.get('ratelimit')).toBe('"default";r=578;t=3')
  const refused = await academy.bearer(undefined).get('/v1/courses')
  expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=59\d;t=\d+$/)
  expect((await admin.get('/nowhere')).headers.get('ratelimit-policy')).toBe('"default";q=600;w=60')
})

test('a user that has spent their requests is 429 until one is there again', async ({ admin, clock }) => {
  for (let count = 0; count < 5; count += 1) expect((await admin.get('/v1/courses')).status).toBe(200)
  const refused = await admin.get('/v1/courses')
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(refused.headers.get('retry-after')).toBe('12')
  expect(refused.headers.get('ratelimit')).toBe('"default";r=0;t=12')
  clock.advance(11.5 * second)
  expect((await admin.get('/v1/courses')).headers.get('retry-after')).toBe('1')
  clock.advance(second)
  expect((await admin.get('/v1/courses')).status).toBe(200)
  expect((await admin.get('/v1/courses')).status).toBe(429)
})

test('a full bucket holds one minute of requests, however long it was left alone', async ({
  admin,
  clock,
}) => {
  clock.advance(hour)
  for (let count = 0; count < 5; count += 1) await admin.get('/v1/courses')
  expect((await admin.get('/v1/courses')).status).toBe(429)
})

test('each user has a bucket of their own, whatever their keys, grants and browsers', async ({
  academy,
  admin,
  analyst,
  learner,
}) => {
  const { body } = await admin.post('/v1/keys', { name: 'other', userId: learner.id })
  const other = academy.bearer(`Bearer ${body.key}`)
  const { accessToken } = await createGrant(academy, { userId: learner.id })
  await givePassword(academy, learner.id)
  const browser = plainBrowser(academy.fetch, issuer)
  await browser.signIn(await browser.open('/dashboard'), learner.email, password)
  for (let count = 0; count < 2; count += 1) {
    await learner.get('/v1/courses')
    await other.get('/v1/courses')
  }
  const program = academy.bearer(`Bearer ${accessToken}`)
  const remaining = (answer: { headers: Headers }) => answer.headers.get('ratelimit')
  await program.get('/v1/courses')
  for (const person of [learner, other, program]) {
    const refused = await person.get('/v1/courses')
    expect(refused.status).toBe(429)
    expect(remaining(refused)).toMatch(/^"default";r=0;/)
  }
  expect((await browser.open('/dashboard')).status).toBe(429)
  expect((await analyst.get('/v1/courses')).status).toBe(200)
})

test('clients without a credential are counted by address, and /health is never refused', async ({
  academy,
  admin,
}) => {
  const anybody = academy.bearer(undefined)
  for (let count = 0; count < 4; count += 1) expect((await anybody.get('/v1/courses')).status).toBe(401)
  expect((await anybody.get('/v1/openapi.json')).status).toBe(200)
  for (const path of ['/v1/courses', '/v1/openapi.json']) expect((await anybody.get(path)).status).toBe(429)
  for (let count = 0; count < 10; count += 1) expect((await anybody.get('/health')).status).toBe(200)
  expect((await admin.get('/v1/courses')).status).toBe(200)
})

test('requests without a credential, or with a wrong one, do not use up the limit of users who sign in or are signed in', {
  tags: ['slow'],
}, async ({ academy, analyst, learner }) => {
  await givePassword(academy, learner.id)
  const browser = plainBrowser(academy.fetch, issuer)
  const page = await browser.open('/dashboard')
  await browser.signIn(page, learner.email, password)
  for (let count = 0; count < 6; count += 1) {
    await academy.bearer(undefined).get('/v1/openapi.json')
    await academy.bearer('Bearer lpk_guess').get('/v1/courses')
  }
  const stranger = plainBrowser(academy.fetch, issuer)
  expect((await stranger.signIn(await stranger.open('/dashboard'), learner.email, password)).status).toBe(200)
  for (let count = 0; count < 6; count += 1) await stranger.open('/oauth/device?done=none')
  // Signed-in users have their own bucket: the pages after signing in took two requests.
  const fresh = plainBrowser(academy.fetchFrom('192.0.2.77'), issuer)
  expect((await fresh.open('/dashboard')).status).toBe(200)
  expect((await analyst.get('/v1/courses')).status).toBe(200)
})

test('one request more than there are buckets forgets the one that was used longest ago, and no other', () => {
  const limit = createRateLimit(1, () => new Date(0))
  limit.take('first')
  limit.take('second')
  for (let count = 0; count < 9998; count += 1) limit.take(`other ${count}`)
  expect(limit.take('first').allowed).toBe(false)
  limit.take('one more')
  expect(limit.peek('first').allowed).toBe(false)
  expect(limit.peek('second').allowed).toBe(true)
})

standard('without a limit there are no headers of one', async ({ admin }) => {
  const answer = await admin.get('/v1/courses')
  expect(answer.headers.get('ratelimit')).toBeNull()
  expect(answer.headers.get('ratelimit-policy')).toBeNull()
})

standard(
  'twenty failed credentials a minute, then 429, limit or no limit',
  async ({ academy, admin, clock }) => {
    const stranger = academy.bearer('Bearer lpk_guess')
    for (let count = 0; count < 20; count += 1) {
      expect(await stranger.get('/v1/courses')).toMatchObject({
        status: 401,
        body: { code: 'invalid_token' },
      })
    }
    const refused = await stranger.get('/v1/courses')
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(refused.headers.get('retry-after')).toBe('3')
    expect((await admin.get('/v1/courses')).status).toBe(200)
    clock.advance(minute)
    expect((await stranger.get('/v1/courses')).status).toBe(401)
  },
)

standard('a missing credential is no failed one', async ({ academy }) => {
  const anybody = academy.bearer(undefined)
  for (let count = 0; count < 30; count += 1) expect((await anybody.get('/v1/courses')).status).toBe(401)
})
