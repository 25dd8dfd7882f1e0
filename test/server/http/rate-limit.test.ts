import { expect } from 'vitest'
import { hour, minute, second, test as standard } from '../../helpers/academy.ts'

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

test('a credential that has spent its requests is 429 until one is there again', async ({ admin, clock }) => {
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

test('each credential has a bucket of its own', async ({ admin, analyst }) => {
  for (let count = 0; count < 6; count += 1) await admin.get('/v1/courses')
  expect((await analyst.get('/v1/courses')).status).toBe(200)
})

test('who has no credential is counted by address, on public paths too', async ({ academy, admin }) => {
  const anybody = academy.bearer(undefined)
  for (let count = 0; count < 4; count += 1) expect((await anybody.get('/v1/courses')).status).toBe(401)
  expect((await anybody.get('/health')).status).toBe(200)
  expect((await anybody.get('/v1/courses')).status).toBe(429)
  expect((await anybody.get('/health')).status).toBe(429)
  expect((await admin.get('/v1/courses')).status).toBe(200)
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
