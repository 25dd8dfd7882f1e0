import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { test, thingsOf } from './signed-in.ts'

const url = 'https://receiver.example/hook'
const hidden = /whsec_[A-Za-z0-9+/=]+/

test('an endpoint is created once a form, its secret shown once', async ({ admin, browser }) => {
  const page = await browser.open('/dashboard/endpoints')
  const made = await browser.submit(page, { url, events: ['course.*', 'grade.updated'], description: 'Sync' })
  expect(made.text).toContain('Copy the signing secret now. It will not be shown again.')
  const [secret = ''] = hidden.exec(made.html) ?? []
  const { body } = await admin.get('/v1/webhooks/endpoints')
  expect(body.data).toMatchObject([{ url, events: ['course.*', 'grade.updated'], description: 'Sync' }])
  const again = await browser.submit(page, { url, events: ['*'], description: 'Sync' })
  expect(again.text).toContain('no second endpoint was created')
  expect((await admin.get('/v1/webhooks/endpoints')).body.data).toHaveLength(1)
  for (const place of ['endpoints', `endpoints/${body.data[0].id}`]) {
    const { html } = await browser.open(`/dashboard/${place}`)
    expect(html).toContain(url)
    expect(html).not.toContain(secret)
  }
})

test('an endpoint for Slack has no secret, and its URL is shown once', async ({ admin, browser }) => {
  const slackUrl = 'https://hooks.slack.com/services/T1/B1/0123456789abcdefghijkLMN'
  const page = await browser.open('/dashboard/endpoints')
  const made = await browser.submit(page, { kind: 'slack', url: slackUrl, events: ['grade.*'] })
  expect(made.text).toContain('Send a test event, and look in the channel.')
  const [{ id }] = (await admin.get('/v1/webhooks/endpoints')).body.data
  const chat = { schedule: 'daily', digestHour: 7, digestTimezone: 'Europe/Vienna', learnerNames: true }
  await admin.put(`/v1/webhooks/endpoints/${id}`, { chat })
  const path = `/dashboard/endpoints/${id}`
  const shown = await browser.open(path)
  expect(shown.text).toContain('Kind Slack')
  expect(shown.text).not.toContain('Rotate secret')
  await browser.submit(shown, { description: 'Staff room' })
  expect((await admin.get(`/v1/webhooks/endpoints/${id}`)).body).toMatchObject({
    url: 'https://hooks.slack.com/...kLMN',
    description: 'Staff room',
    chat: { ...chat, courseIds: [] },
  })
  for (const { html } of [made, shown, await browser.open('/dashboard/endpoints')]) {
    expect(html).toContain('https://hooks.slack.com/...kLMN')
    expect(html).not.toContain('0123456789abc')
  }
})

test('a daily digest about some courses is created and changed in the form', async ({ admin, browser }) => {
  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG-1' })).body
  const fields = {
    kind: 'teams',
    url: 'https://flows.example/workflows/0123456789abcdefghijkLMN',
    events: ['*'],
    schedule: 'daily',
    digestHour: '7',
    digestTimezone: 'Europe/Vienna',
    courseIds: 'LOG-1\n',
    atRiskOnly: 'true',
  }
  const page = await browser.open('/dashboard/endpoints')
  for (const [wrong, message] of [
    [{ courseIds: 'LOG-1\nLOG-2' }, 'Courses, line 2, Course LOG-2 not found'],
    [{ digestTimezone: 'Mars/Base' }, 'Time zone of the digest must be'],
    [
      { schedule: 'immediately' },
      'Only learners who need attention, in a digest requires the schedule daily',
    ],
  ] as const) {
    const refused = await browser.submit(page, { ...fields, ...wrong })
    expect(refused.text).toContain(`Fix the following: ${message}`)
    expect(refused.html).toContain('<details open=""><summary>Settings: Slack and Teams')
  }
  await browser.submit(page, fields)
  const [endpoint] = (await admin.get('/v1/webhooks/endpoints')).body.data
  const chat = { schedule: 'daily', digestHour: 7, digestTimezone: 'Europe/Vienna', courseIds: [courseId] }
  expect(endpoint.chat).toEqual({ ...chat, atRiskOnly: true, learnerNames: false })
  const shown = await browser.open(`/dashboard/endpoints/${endpoint.id}`)
  expect(shown.html).toContain(`>${courseId}</textarea>`)
  expect(shown.html).toContain('<option value="7" selected="">07:00</option>')
  expect(shown.text).not.toContain('Settings: ')
  const { atRiskOnly: _, ...kept } = shown.forms.find(({ fields: { schedule } }) => schedule)?.fields ?? {}
  await browser.submit(shown, { ...kept, digestHour: '22', learnerNames: 'true' })
  expect((await admin.get(`/v1/webhooks/endpoints/${endpoint.id}`)).body.chat).toMatchObject({
    ...chat,
    digestHour: 22,
    learnerNames: true,
  })
})

test('a record store is set up in the form, its password unseen', async ({ admin, browser }) => {
  const page = await browser.open('/dashboard/endpoints')
  const fields = {
    kind: 'xapi',
    url: 'https://lrs.example/xapi',
    events: ['*'],
    xapiVersion: '2.0.0',
    actor: 'external-id',
    homePage: 'https://school.example',
    username: 'school',
    password: 'the password of the store',
  }
  const made = await browser.submit(page, fields)
  expect(made.text).toContain('The password is stored encrypted.')
  const [endpoint] = (await admin.get('/v1/webhooks/endpoints')).body.data
  expect(endpoint.xapi).toMatchObject({ xapiVersion: '2.0.0', actor: 'external-id', username: 'school' })
  const path = `/dashboard/endpoints/${endpoint.id}`
  const shown = await browser.open(path)
  expect(shown.html).toMatch(/value="external-id" checked/)
  expect(shown.html).not.toContain(fields.password)
  expect(shown.text).not.toContain('Rotate secret')
  const saved = await browser.submit(shown, { actor: 'id', tokenUrl: '' })
  expect(saved.html).toMatch(/value="id" checked/)
  const moved = await browser.submit(saved, { url: 'https://other.example/xapi', actor: 'id' })
  expect(moved.text).toMatch(/Fix the following: Password or client secret is required again/)
})

test('problems of a form are shown at its fields, which keep their input', async ({ browser }) => {
  const page = await browser.open('/dashboard/endpoints')
  const faulty = await browser.submit(page, { url: 'https://ada:secret@receiver.example/', events: [] })
  expect(faulty.status).toBe(422)
  expect(faulty.text).toMatch(/Fix the following: URL must not contain a user name/)
  expect(faulty.html).toContain('value="https://ada:secret@receiver.example/"')
})

test('an endpoint is edited, tested and deleted', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const { endpointId } = await thingsOf(academy, admin, admin)
  const path = `/dashboard/endpoints/${endpointId}`
  const state = async () => (await admin.get(`/v1/webhooks/endpoints/${endpointId}`)).body
  const edited = await browser.submit(await browser.open(path), { url: `${url}/2`, events: ['user.*'] })
  expect(edited.text).toContain('Endpoint updated.')
  expect(await state()).toMatchObject({ url: `${url}/2`, events: ['user.*'] })
  const off = await browser.submit(await browser.open(path), {}, 'Disable')
  expect(await state()).toMatchObject({ status: 'disabled' })
  expect(off.html).not.toContain('Send a test event')
  const on = await browser.submit(off, {}, 'Enable')
  expect(await state()).toMatchObject({ status: 'active' })
  const tested = await browser.submit(on, {}, 'Send a test event')
  expect(tested.text).toMatch(/Test event queued.* endpoint\.test 1 Mar 2026, 12:00 UTC pending/)
  const question = await browser.open(`${path}/delete`)
  expect(question.text).toContain(`No more events are sent to ${url}/2`)
  expect((await browser.submit(question, {}, 'Delete endpoint')).text).toContain('Endpoint deleted.')
  expect(await browser.open(path)).toMatchObject({ status: 404 })
})

test('a secret is rotated once a form', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const { endpointId } = await thingsOf(academy, admin, admin)
  const question = await browser.open(`/dashboard/endpoints/${endpointId}/rotate`)
  const rotated = await browser.submit(question, {}, 'Rotate secret')
  expect(rotated.html).toMatch(hidden)
  expect(rotated.text).toContain('Signs until 2026-03-02 12:00 UTC, too')
  const { version } = (await admin.get(`/v1/webhooks/endpoints/${endpointId}`)).body
  const again = await browser.submit(question, {}, 'Rotate secret')
  expect(again.html).not.toMatch(hidden)
  expect((await admin.get(`/v1/webhooks/endpoints/${endpointId}`)).body.version).toBe(version)
})

test('a message shows attempts and is sent again', { tags: ['slow'] }, async ({
  academy,
  admin,
  browser,
}) => {
  const { endpointId, messageId } = await thingsOf(academy, admin, admin)
  await academy.database.run(sql`
    insert into webhook_attempts (message_id, number, started_at, duration_ms, status, result, response)
    values (${messageId}, 1, '2026-03-01T12:00:01.000Z', 1234, 500, 'HTTP 500', ${`a\u202eb${'x'.repeat(900)}`})`)
  const failed = await browser.open(`/dashboard/endpoints/${endpointId}?status=failed`)
  expect(failed.html).toContain(`<a href="/dashboard/messages/${messageId}">endpoint.test</a>`)
  const page = await browser.open(`/dashboard/messages/${messageId}`)
  expect(page.text).toMatch(/1 1 Mar 2026, 12:00 UTC 1,234 ms 500 HTTP 500 a\\u202ebx+… Body/)
  expect(page.html).not.toContain('\u202e')
  expect(page.html).toContain('&quot;type&quot;: &quot;endpoint.test&quot;')
  expect((await browser.submit(page, {}, 'Replay')).text).toContain('Message replayed: it is sent again.')
  expect((await admin.get(`/v1/webhooks/messages/${messageId}`)).body.status).toBe('pending')
  expect((await browser.open(`/dashboard/endpoints/${endpointId}?status=failed`)).text).toContain(
    'No messages match.',
  )
  expect((await browser.open(`/dashboard/endpoints/${endpointId}?status=lost`)).status).toBe(400)
})

test('messages to all endpoints are listed', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const empty = await browser.open('/dashboard/messages')
  expect(empty.text).toMatch(/No messages yet\. Create an endpoint/)
  const { endpointId, messageId } = await thingsOf(academy, admin, admin)
  const { html } = await browser.open('/dashboard/messages')
  expect(html).toContain(`<a href="/dashboard/messages/${messageId}">endpoint.test</a>`)
  expect(html).toContain(`<a href="/dashboard/endpoints/${endpointId}">${url}</a>`)
  const has = async (search: string) =>
    (await browser.open(`/dashboard/messages?${search}`)).html.includes(messageId)
  expect(await has('status=failed&type=endpoint.test')).toBe(true)
  expect(await has('status=pending')).toBe(false)
  expect(await has('type=course.created')).toBe(false)
  expect((await browser.open('/dashboard/messages?type=course.eaten')).status).toBe(400)
})

test('a refused action is reported on its page', { tags: ['slow'] }, async ({ academy, admin, browser }) => {
  const { endpointId, messageId } = await thingsOf(academy, admin, admin)
  const page = await browser.open(`/dashboard/messages/${messageId}`)
  await admin.put(`/v1/webhooks/endpoints/${endpointId}`, { status: 'disabled' })
  const refused = await browser.submit(page, {}, 'Replay')
  expect(refused).toMatchObject({
    status: 409,
    text: expect.stringMatching(/is disabled; set it active first/),
  })
  expect(refused.text).toContain('Attempts')
})
