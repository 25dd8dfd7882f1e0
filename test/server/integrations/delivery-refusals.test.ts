import { readFileSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { expect } from 'vitest'
import { keyPathOf } from '../../../src/server/access/sealing.ts'
import { minute, onPostgres, test } from '../../helpers/academy.ts'
import { connect, webhookSecret } from '../../helpers/lms.ts'
import { randomRuns } from '../../helpers/random.ts'
import { sample } from '../../lms/samples.ts'

const json = { 'content-type': 'application/json' }

test('a delivery is checked in this order: size, kind, type, proof, payload', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const anybody = academy.bearer(undefined)
  const post = (kind: string, body: string, headers: Record<string, string> = json) =>
    anybody.send('POST', `/webhooks/${kind}/grades`, body, headers)
  const large = 'x'.repeat(256 * 1024 + 1)
  expect(await post('nobody', large)).toMatchObject({ status: 413, body: { code: 'content_too_large' } })
  expect(await post('nobody', '{}')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect(await post('moodle', '{}')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  await connect(academy, admin, 'moodle')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(await post('moodle', 'a=b', form)).toMatchObject({ status: 415 })
  expect(await post('moodle', '{"token":"another"')).toMatchObject({
    status: 401,
    body: { code: 'invalid_signature' },
  })
  expect(await post('moodle', '{"token":"another"}')).toMatchObject({ status: 401 })
  const malformed = await post('moodle', JSON.stringify({ token: webhookSecret, eventname: 5 }))
  expect(malformed).toMatchObject({ status: 400, body: { code: 'malformed_payload' } })
  const get = await anybody.get('/webhooks/moodle/grades')
  expect(get).toMatchObject({ status: 405 })
  expect(get.headers.get('allow')).toContain('POST')
})

test('without its encryption key the server asks to retry, and reveals nothing about the key', async ({
  academy,
  admin,
}) => {
  const moodle = await connect(academy, admin, 'moodle')
  rmSync(keyPathOf(academy.path))
  const answer = await moodle.deliver(sample('moodle_local_webhooks.user_graded.composed'))
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('60')
  expect(answer.text).not.toMatch(/key|academy\.db/)
  expect(String(academy.logged.at(-1)?.cause)).toContain('Encryption key file academy.db.key is missing')
})

test('a time outside of five minutes is refused both ways, and a second secret counts until its end', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const standard = await connect(academy, admin, 'standard')
  const delivery = await standard.signed(sample('standard.grade_updated.composed'))
  academy.clock.advance(6 * minute)
  expect(await standard.send(delivery)).toMatchObject({
    status: 401,
    body: { code: 'timestamp_out_of_range' },
  })
  const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const oldSecretEndsAt = new Date(academy.clock.now().getTime() + 2 * minute).toISOString()
  await admin.put('/v1/integrations/standard', { webhookSecrets: [other], oldSecretEndsAt })
  const again = await standard.signed(sample('standard.grade_updated.composed'))
  expect((await standard.send(again)).status).toBe(202)
  academy.clock.advance(3 * minute)
  expect(await standard.send(again)).toMatchObject({ status: 401, body: { code: 'invalid_signature' } })
})

test('failed proofs are counted by address and leave nothing behind; right ones go on', async ({
  academy,
  admin,
}) => {
  const standard = await connect(academy, admin, 'standard')
  const payload = sample('standard.grade_updated.composed')
  const delivery = await standard.signed(payload)
  const statuses: number[] = []
  for (let each = 0; each < 22; each += 1) {
    const tampered = { ...delivery, body: `${delivery.body} ` }
    const answer = await standard.send(tampered)
    statuses.push(answer.status)
    if (answer.status === 429) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429])
  expect((await admin.get('/v1/webhooks/deliveries')).body.data).toEqual([])
  const entries = (await admin.get('/v1/audit?action=request.refused')).body.data
  const details = { operation: 'POST /webhooks/standard/grades', code: 'invalid_signature' }
  expect(entries).toHaveLength(10)
  expect(entries[0]).toMatchObject({ userId: null, credential: null, after: details })
  expect((await standard.send(delivery)).status).toBe(202)
})

test('no secret is stored with a delivery, nor logged', async ({ academy, admin, skip }) => {
  if (onPostgres) skip()
  for (const [kind, name] of [
    ['moodle', 'moodle_local_webhooks.user_graded.composed'],
    ['openedx', 'openedx_webhooks_plugin.grade.composed'],
    ['thinkific', 'thinkific.enrollment.progress'],
    ['standard', 'standard.grade_updated.composed'],
  ] as const) {
    const lms = await connect(academy, admin, kind)
    expect((await lms.deliver(sample(name))).status).toBe(202)
  }
  const secrets = [
    webhookSecret,
    webhookSecret.slice('whsec_'.length),
    Buffer.alloc(32, 7).toString('latin1'),
  ]
  for (const file of ['', '-wal']) {
    const text = readFileSync(`${academy.path}${file}`).toString('latin1')
    for (const secret of secrets) expect(text.includes(secret)).toBe(false)
  }
  expect(JSON.stringify(academy.logged)).not.toContain(webhookSecret)
})

test('the inbox is anonymous about an erased user', async ({ academy, admin }) => {
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-101' })).body
  const user = { email: 'ada@example.org', externalId: 'S-1' }
  const { id: userId } = (await admin.post('/v1/users', user)).body
  const standard = await connect(academy, admin, 'standard')
  const name = 'standard.grade_updated.composed'
  await standard.deliver(sample(name), 'msg_unmatched')
  await admin.post('/v1/enrollments', { courseId, userId })
  await standard.deliver(sample(name), 'msg_applied')
  await standard.deliver(
    sample(name, { 'data.userId': 'ext:S-1', 'data.courseId': 'ext:none' }),
    'msg_course',
  )
  const early = sample(name, { 'data.userId': 'email:later@example.org' })
  await standard.deliver(early, 'msg_early')
  const later = (await admin.post('/v1/users', { email: 'later@example.org' })).body.id
  for (const id of [userId, later]) await admin.delete(`/v1/users/${id}?erase=true`)
  const { data } = (await admin.get('/v1/webhooks/deliveries')).body
  expect(data).toHaveLength(4)
  for (const { id } of data) {
    const { text } = await admin.get(`/v1/webhooks/deliveries/${id}`)
    expect(text).not.toMatch(/ada@example|S-1|later@example/)
    expect(JSON.parse(text).body).toBeNull()
  }
})

test('an event that means nothing, or names only a key, is anonymous about an erased user, too', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const { id } = (
    await admin.post('/v1/users', { email: 'ada@example.org', externalId: 'S-1', username: 'ada' })
  ).body
  const [standard, thinkific, canvas, moodle] = [
    await connect(academy, admin, 'standard'),
    await connect(academy, admin, 'thinkific'),
    await connect(academy, admin, 'canvas'),
    await connect(academy, admin, 'moodle'),
  ]
  const graded = 'standard.grade_updated.composed'
  const ada = { email: 'Ada@example.org', first_name: 'Ada', id: 95 }
  await standard.deliver(sample(graded, { 'data.userId': 'ext:S-1', 'data.scoreGiven': 'oops' }), 'msg_1')
  await standard.deliver(sample(graded, { 'data.userId': 'email:Eve@Example.org' }), 'msg_2')
  await standard.deliver(sample(graded, { 'data.userId': 'S-2' }), 'msg_3')
  const enrolled = { 'payload.percentage_completed': 'all', 'payload.user': ada }
  await thinkific.deliver(sample('thinkific.enrollment.progress', enrolled))
  const ungraded = { 'body.points_possible': null, 'body.student_sis_id': 'S-1', 'body.user_name': 'Ada' }
  await canvas.deliver(sample('canvas.grade_change', ungraded))
  const keyOnly = { 'body.student_sis_id': undefined, 'body.user_name': 'Ada' }
  await canvas.deliver(sample('canvas.grade_change', keyOnly))
  await moodle.deliver(sample('moodle_local_webhooks.user_graded.composed', { extra: 'Ada' }))
  const eve = await admin.post('/v1/users', { email: 'eve@example.org', externalId: 'S-2' })
  await canvas.map('user', '48', id)
  await moodle.map('user', '15', id)
  await admin.delete('/v1/integrations/moodle')
  const all = async () => (await admin.get('/v1/webhooks/deliveries')).body.data as { id: string }[]
  // An event without meaning still belongs to its subjects when processed again.
  for (const delivery of await all()) await admin.post(`/v1/webhooks/deliveries/${delivery.id}/replay`)
  for (const user of [id, eve.body.id]) await admin.delete(`/v1/users/${user}?erase=true`)
  const kept = await all()
  expect(kept).toHaveLength(7)
  for (const delivery of kept) {
    const { body, text } = await admin.get(`/v1/webhooks/deliveries/${delivery.id}`)
    expect(body.body, text).toBeNull()
  }
})

test('deliveries are kept for 30 days', async ({ academy, admin }) => {
  const { sweep } = await import('../../../src/server/database/sweep.ts')
  const standard = await connect(academy, admin, 'standard')
  await standard.deliver(sample('standard.grade_updated.composed'))
  const kept = async () => {
    await sweep(academy.database, academy.clock.now())
    return (await admin.get('/v1/webhooks/deliveries')).body.data.length
  }
  academy.clock.advance(29 * 24 * 60 * minute)
  expect(await kept()).toBe(1)
  academy.clock.advance(2 * 24 * 60 * minute)
  expect(await kept()).toBe(0)
})

test('after any score, later grades count, and all figures are numbers', async ({ academy, admin }) => {
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-101' })).body
  const { id: userId } = (await admin.post('/v1/users', { email: 'ada@example.org' })).body
  await admin.post('/v1/enrollments', { courseId, userId })
  const standard = await connect(academy, admin, 'standard')
  const score = fc.oneof(
    fc.double({ noNaN: true }),
    fc.constantFrom(0, 5e-324, 1e-300, 0.0001, 1, 1e6, 1e308),
  )
  const graded = (itemId: number, scoreGiven: number, scoreMaximum: number) =>
    sample('standard.grade_updated.composed', {
      'data.itemId': String(itemId % 5),
      'data.userId': userId,
      'data.scoreGiven': scoreGiven,
      'data.scoreMaximum': scoreMaximum,
    })
  let count = 0
  await fc.assert(
    fc.asyncProperty(score, score, async (scoreGiven, scoreMaximum) => {
      count += 1
      const { status, text } = await standard.deliver(graded(count, scoreGiven, scoreMaximum), `msg_${count}`)
      expect([200, 400], text).toContain(status)
    }),
    { numRuns: randomRuns(10, 60) },
  )
  expect(await standard.deliver(graded(1, 83, 100), 'msg_last')).toMatchObject({
    body: { status: 'applied' },
  })
  const { summary, data } = (await admin.get('/v1/analytics/learners')).body
  expect(data[0].gradePercent).toEqual(expect.any(Number))
  expect(summary.averageGradePercent).toEqual(expect.any(Number))
})

test('any request gets a clear response, never a fault of the server', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const all = await Promise.all(
    (['canvas', 'moodle', 'openedx', 'thinkific', 'standard'] as const).map((kind) =>
      connect(academy, admin, kind),
    ),
  )
  const bodies = [
    sample('canvas.grade_change'),
    sample('canvas.course_progress'),
    sample('moodle_local_webhooks.user_graded.composed'),
    sample('openedx_webhooks_plugin.grade.composed'),
    sample('thinkific.enrollment.progress'),
    sample('standard.grade_updated.composed'),
  ]
  const token = fc.constantFrom(
    'content-type',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'accept',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...all),
      fc.oneof(fc.constantFrom(...bodies), fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue())),
      fc.option(fc.record({ member: fc.string(), value: fc.jsonValue() })),
      fc.option(
        fc.tuple(token, fc.string({ unit: fc.constantFrom('a', '1', ',', ' ', '=', '/'), maxLength: 20 })),
      ),
      fc.boolean(),
      fc.nat(),
      async (lms, body, change, header, cut, id) => {
        const payload = change ? { ...(body as object), [change.member]: change.value } : (body as object)
        const delivery = await lms.signed(payload as never, `msg_${id}`)
        const sent = cut ? { ...delivery, body: delivery.body.slice(0, -1) } : delivery
        const { status, body: answered } = await lms.send(sent, header ? { [header[0]]: header[1] } : {})
        expect([200, 202, 400, 401, 415, 429]).toContain(status)
        expect(answered).toMatchObject(
          status < 300 ? { status: expect.any(String) } : { code: expect.any(String) },
        )
      },
    ),
    { numRuns: randomRuns(15, 150) },
  )
})
