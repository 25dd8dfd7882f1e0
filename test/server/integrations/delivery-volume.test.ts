import { expect, onTestFinished, test } from 'vitest'
import { day, hour, minute, openTestAcademy } from '../../helpers/academy.ts'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'

const payload = sample('standard.grade_updated.composed')
const bytes = Buffer.byteLength(JSON.stringify(payload))

/** Opens an academy with this daily limit for each integration, its admin, and a connected sender. */
async function connected(inboxPerDay: { deliveries: number; bytes: number }) {
  const academy = await openTestAcademy({ inboxPerDay })
  onTestFinished(() => academy.close())
  const admin = await academy.person('admin')
  return { academy, admin, clock: academy.clock, standard: await connect(academy, admin, 'standard') }
}

test('a limited number of deliveries of an integration is stored in a day; others get a time to retry', async () => {
  const { academy, admin, clock, standard } = await connected({ deliveries: 3, bytes: 1_000_000 })
  const moodle = await connect(academy, admin, 'moodle')
  for (const id of ['msg_1', 'msg_2', 'msg_3']) expect((await standard.deliver(payload, id)).status).toBe(202)
  const refused = await standard.deliver(payload, 'msg_4')
  expect(refused).toMatchObject({
    status: 429,
    body: {
      code: 'rate_limited',
      detail: expect.stringMatching(/^Too many deliveries of standard; try again in 2880\d s\.$/),
    },
  })
  expect(refused.headers.get('retry-after')).toMatch(/^2880\d$/)
  // Duplicates cost nothing, and other systems have their own limits.
  expect((await standard.deliver(payload, 'msg_1')).body.status).toBe('duplicate')
  expect((await moodle.deliver(sample('moodle_local_webhooks.user_graded.composed'))).status).toBe(202)
  expect((await admin.get('/v1/webhooks/deliveries?lms_kind=standard')).body.data).toHaveLength(3)
  clock.advance(8 * hour + minute)
  expect((await standard.deliver(payload, 'msg_4')).status).toBe(202)
  expect((await standard.deliver(payload, 'msg_5')).status).toBe(429)
})

test('a limited number of bytes of an integration waits; beyond that, applicable deliveries are applied and stored without payload', async () => {
  const { admin, clock, standard } = await connected({ deliveries: 1000, bytes: 3 * bytes + 10 })
  for (const id of ['msg_1', 'msg_2', 'msg_3']) expect((await standard.deliver(payload, id)).status).toBe(202)
  const refused = await standard.deliver(payload, 'msg_4')
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-101' })).body
  const { id: userId } = (await admin.post('/v1/users', { email: 'ada@example.org' })).body
  await admin.post('/v1/enrollments', { courseId, userId, enrolledAt: '2010-01-01T00:00:00Z' })
  const applied = await standard.deliver(payload, 'msg_4')
  expect(applied).toMatchObject({ status: 200, body: { status: 'applied' } })
  const bodyOf = async (id: string) => (await admin.get(`/v1/webhooks/deliveries/${id}`)).body.body
  expect(await bodyOf(applied.body.deliveryId)).toBeNull()
  clock.advance(day)
  const later = await standard.deliver(payload, 'msg_5')
  expect(later.status).toBe(200)
  expect(await bodyOf(later.body.deliveryId)).not.toBeNull()
})
