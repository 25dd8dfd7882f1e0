import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'
import { test as base } from './signed-in.ts'

const graded = sample('moodle_local_webhooks.user_graded.composed')

/** Connects a Moodle whose course and learner are not mapped, and enrols a learner in a course. */
const test = base
  .extend('courseId', async ({ admin, learner }) => {
    const { id } = (await admin.post('/v1/courses', { title: 'Logic', status: 'published' })).body
    await admin.post('/v1/enrollments', { courseId: id, userId: learner.id })
    return id as string
  })
  .extend('moodle', async ({ academy, admin }) => connect(academy, admin, 'moodle'))
  .extend('deliveryId', async ({ moodle }) => {
    const { body } = await moodle.deliver(graded)
    expect(body.status).toBe('unmatched')
    return body.deliveryId as string
  })

test('the page of deliveries lists what became of them, and why', async ({ browser, deliveryId }) => {
  const { html, text } = await browser.open('/dashboard/deliveries')
  expect(html).toContain(`<a href="/dashboard/deliveries/${deliveryId}">`)
  expect(html).toContain('<h1>Deliveries</h1>')
  expect(text).not.toMatch(/inbox/i)
  expect(text).toMatch(/user_graded Moodle 1 Mar 2026, 12:00 UTC unmatched Not found: course, learner/)
  const has = async (search: string) =>
    (await browser.open(`/dashboard/deliveries?${search}`)).html.includes(deliveryId)
  expect(await has('status=unmatched&kind=moodle')).toBe(true)
  expect(await has('status=applied')).toBe(false)
  expect(await has('kind=canvas')).toBe(false)
  expect(await has('from=2026-03-01')).toBe(true)
  expect(await has('status=unmatched&from=2026-03-02')).toBe(false)
  expect((await browser.open('/dashboard/deliveries?status=lost')).status).toBe(400)
  expect((await browser.open('/dashboard/deliveries?from=lately')).status).toBe(400)
  const connected = await browser.open('/dashboard/integrations')
  expect(connected.html).toContain(`<a href="/dashboard/deliveries/${deliveryId}">`)
})

test('before the first delivery, the page says how to get one', async ({ browser }) => {
  const { text } = await browser.open('/dashboard/deliveries')
  expect(text).toMatch(/No deliveries yet\. Connect a system.* learnctl webhooks send moodle user_graded/)
  expect(text).not.toContain('Replay unmatched deliveries')
  const filtered = await browser.open('/dashboard/deliveries?kind=moodle')
  expect(filtered.text).toContain('No deliveries match.')
})

test('a delivery that waits says what to do for it', async ({ academy, browser, deliveryId }) => {
  for (const [status, reason, words] of [
    ['unmatched', 'user_inactive', 'The learner is suspended or deleted. Set the user active, then replay.'],
    ['ignored', 'no_maximum', 'Add the item to the graded items of Moodle , then replay.'],
  ] as const) {
    await academy.database.run(sql`
      update webhook_deliveries set status = ${status}, reason = ${reason}, missing = '["learner"]'
      where id = ${deliveryId}`)
    const { html, text } = await browser.open(`/dashboard/deliveries/${deliveryId}`)
    expect(text.replaceAll(' ,', ' ,')).toContain(words)
    expect(html.includes('id="user"')).toBe(reason !== 'user_inactive')
  }
})

test('a delivery says why nothing was done, also if malformed', async ({ academy, browser, deliveryId }) => {
  for (const [status, reason, words] of [
    ['ignored', 'event_type', 'Not a grade or progress event'],
    ['stale', 'stale_grade', 'A newer grade is recorded'],
    ['unmatched', 'user_inactive', 'Learner is not active'],
    ['failed', 'malformed_payload', 'Malformed payload'],
  ] as const) {
    await academy.database.run(sql`
      update webhook_deliveries set event = '', status = ${status}, reason = ${reason},
        missing = ${reason === 'user_inactive' ? '["learner"]' : '[]'}
      where id = ${deliveryId}`)
    for (const path of ['', `/${deliveryId}`]) {
      const { text } = await browser.open(`/dashboard/deliveries${path}`)
      expect(text).toMatch(new RegExp(`Unknown event .*${status} ${words}`))
    }
  }
})

test('what a delivery is about can be mapped', async ({ admin, browser, courseId, deliveryId, learner }) => {
  const page = await browser.open(`/dashboard/deliveries/${deliveryId}`)
  expect(page.text).toMatch(/Moodle has it as 4\..* Moodle has it as 15\./)
  expect(page.html).not.toContain('the-webhook-secret')
  const unknown = await browser.submit(page, { course: courseId, user: 'nobody@b.example' })
  expect(unknown.status).toBe(404)
  expect(unknown.text).toMatch(/Fix the following: Learner here .*nobody@b\.example/)
  expect((await admin.get('/v1/integrations/moodle/mappings')).body.data).toEqual([])
  const replayed = await browser.submit(page, { course: courseId, user: learner.email }, 'Map and replay')
  expect(replayed.text).toContain('Delivery processed again.')
  expect(replayed.text).toMatch(/State applied .*Logic/)
  expect((await admin.get('/v1/grades')).body.data).toMatchObject([
    { learnerId: learner.id, courseId, source: 'moodle', scoreGiven: 85, deliveryId },
  ])
  const again = await browser.open(`/dashboard/deliveries/${deliveryId}`)
  expect(again.html).not.toContain('Map and replay')
  const { html } = await browser.open('/dashboard/deliveries')
  expect(html).toContain(`<a href="/dashboard/learners/${learner.id}">${learner.email}</a>`)
  expect(html).toContain(`<a href="/dashboard/courses/${courseId}">Logic</a>`)
})

test('waiting deliveries are replayed', async ({ admin, browser, courseId, deliveryId, learner, moodle }) => {
  await moodle.map('course', '4', courseId)
  await moodle.map('user', '15', learner.id)
  const page = await browser.open('/dashboard/deliveries')
  const replayed = await browser.submit(page, {}, 'Replay unmatched deliveries')
  expect(replayed.text).toContain('Unmatched deliveries processed again')
  expect((await admin.get(`/v1/webhooks/deliveries/${deliveryId}`)).body.status).toBe('applied')
})
