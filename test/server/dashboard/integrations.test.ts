import { expect } from 'vitest'
import { test } from './signed-in.ts'

const secret = 'a webhook secret of the school'
const next = 'another webhook secret of it'

test('a system is connected by its form, and its secret is never shown', async ({ admin, browser }) => {
  const list = await browser.open('/dashboard/integrations')
  expect(list.text).toMatch(/Moodle not connected/)
  const page = await browser.open('/dashboard/integrations/moodle')
  expect(page.html).toContain('<code class="code secret">http://localhost/webhooks/moodle/grades</code>')
  const saved = await browser.submit(page, {
    webhookSecrets: secret,
    baseUrl: 'https://moodle.example/',
    gradeToProgress: 'percent',
    defaultGradeMaximum: '20',
  })
  expect(saved.text).toContain('Integration saved.')
  expect(saved.text).toMatch(
    /connected Last delivery – Webhook secret Set 1 Mar 2026, 12:00 UTC ?, ends in hool/,
  )
  expect(saved.html).not.toContain(secret)
  expect((await admin.get('/v1/integrations/moodle')).body).toMatchObject({
    baseUrl: 'https://moodle.example',
    gradeToProgress: 'percent',
    defaultGradeMaximum: 20,
    secrets: { webhook: [{ last4: 'hool', endsAt: null }], accessToken: null },
  })
  expect((await browser.open('/dashboard/integrations')).text).toMatch(
    /Moodle connected https:\/\/moodle\.example/,
  )
})

test('a OneRoster provider is connected by a client, its secret unseen', async ({ admin, browser }) => {
  const path = '/dashboard/integrations/oneroster'
  const saved = await browser.submit(await browser.open(path), {
    baseUrl: 'https://sis.example/ims/oneroster',
    tokenUrl: 'https://sis.example/oauth/token',
    clientId: 'learnctl',
    clientSecret: secret,
  })
  expect(saved.text).toContain('Integration saved.')
  expect(saved.html).toContain('value="https://sis.example/oauth/token"')
  expect(saved.html).not.toContain(secret)
  expect((await admin.get('/v1/integrations/oneroster')).body).toMatchObject({
    ...{ tokenUrl: 'https://sis.example/oauth/token', clientId: 'learnctl' },
    secrets: { clientSecret: { last4: 'hool' }, accessToken: null },
  })
  expect((await browser.open('/dashboard/integrations')).text).toMatch(
    /OneRoster connected https:\/\/sis\.example/,
  )
})

test('the page of a system that signs nothing puts the secret in its address', async ({ browser }) => {
  const { text } = await browser.open('/dashboard/integrations/openedx')
  expect(text).toContain('http://localhost/webhooks/openedx/grades?token=<webhook secret>')
  expect(text).toContain('In the Open edX admin, under Openedx Webhooks, add a webhook with this URL')
  const moodle = await browser.open('/dashboard/integrations/moodle')
  expect(moodle.text).toMatch(/plugin local_webhooks.* user_graded and course_completed\./)
})

test('a form without secrets keeps them; another ends the former on request', async ({ admin, browser }) => {
  await admin.put('/v1/integrations/canvas', { webhookSecrets: [secret], accessToken: 'token of the canvas' })
  const secrets = async () => (await admin.get('/v1/integrations/canvas')).body.secrets
  const path = '/dashboard/integrations/canvas'
  await browser.submit(await browser.open(path), { rootAccountUuid: 'abc' })
  expect(await secrets()).toMatchObject({ webhook: [{ endsAt: null }], accessToken: { endsAt: null } })
  await browser.submit(await browser.open(path), {
    webhookSecrets: next,
    oldSecretEndsAt: '168',
    removeToken: ['true'],
  })
  expect(await secrets()).toMatchObject({
    webhook: [{ endsAt: null }, { endsAt: expect.stringMatching(/^2026-03-08T12:00/) }],
    accessToken: null,
  })
})

test('a secret is generated once a form, and the former lasts a day', async ({ admin, browser }) => {
  const path = '/dashboard/integrations/moodle'
  const webhook = async () => (await admin.get('/v1/integrations/moodle')).body.secrets.webhook
  const form = await browser.open(path)
  const made = await browser.submit(form, {}, 'Generate a webhook secret')
  const [first = ''] = /whsec_[A-Za-z0-9]{32}/.exec(made.html) ?? []
  expect(made.text).toContain('Copy the secret now. It will not be shown again.')
  expect(await webhook()).toMatchObject([{ last4: first.slice(-4), endsAt: null }])
  const again = await browser.submit(form, {}, 'Generate a webhook secret')
  expect(again.text).toContain('no second secret was generated')
  expect(again.html).not.toContain(first)
  const second = await browser.submit(again, {}, 'Generate a webhook secret')
  expect(second.text).toContain('The previous secret is accepted for 24 hours.')
  expect(await webhook()).toMatchObject([{ endsAt: null }, { last4: first.slice(-4) }])
  expect((await browser.open('/dashboard/integrations/thinkific')).html).not.toContain('value="generate"')
})

test('a problem is shown at its field, without the secrets that were typed', async ({ browser }) => {
  const page = await browser.open('/dashboard/integrations/standard')
  const faulty = await browser.submit(page, {
    webhookSecrets: 'not of that form',
    baseUrl: 'ftp://x',
    defaultGradeMaximum: 'ten',
  })
  expect(faulty.status).toBe(422)
  expect(faulty.text).toMatch(/Fix the following: .*Base URL must be an http or https URL/)
  expect(faulty.text).toContain('Webhook secret, line 1, must be whsec_')
  expect(faulty.html).toContain('value="ftp://x"')
  expect(faulty.html).not.toContain('not of that form')
  const canvas = await browser.open('/dashboard/integrations/canvas')
  expect((await browser.submit(canvas, { jwks: '{' })).text).toContain('Signing keys (JSON) must be JSON')
})

test('a connection is checked, and says what was found', async ({ admin, browser }) => {
  await admin.put('/v1/integrations/moodle', { webhookSecrets: [secret] })
  const checked = await browser.submit(
    await browser.open('/dashboard/integrations/moodle'),
    {},
    'Test connection',
  )
  expect(checked.text).toMatch(/Connection check Nothing failed\. .*Connection skipped no base URL is set/)
})

test('courses and users are mapped and unmapped', { tags: ['slow'] }, async ({ admin, browser, learner }) => {
  await admin.put('/v1/integrations/moodle', { webhookSecrets: [secret] })
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  const path = '/dashboard/integrations/moodle'
  const mapping = { noun: 'course', externalKey: '4', reference: course.id }
  const mapped = await browser.submit(await browser.open(path), mapping, 'Save mapping')
  expect(mapped.text).toMatch(/Mapping saved\..* 4 course Logic/)
  const user = { noun: 'user', externalKey: '15', reference: learner.email }
  const both = await browser.submit(mapped, user, 'Save mapping')
  expect((await admin.get('/v1/integrations/moodle/mappings')).body.data).toMatchObject([
    { noun: 'user', externalKey: '15', reference: learner.id },
    { noun: 'course', externalKey: '4', reference: course.id },
  ])
  const unknown = await browser.submit(both, { ...user, reference: 'nobody@b.example' }, 'Save mapping')
  expect(unknown).toMatchObject({ status: 404 })
  expect(unknown.text).toMatch(/Fix the following: Course or user here .*nobody@b\.example/)
  expect(unknown.html).toContain('value="nobody@b.example"')
  const found = await browser.submit(both, { key: '4' }, 'Filter')
  expect(found.text).toMatch(/4 course Logic/)
  expect(found.html).not.toContain('Delete mapping of 15')
  expect((await browser.submit(both, { key: '5' }, 'Filter')).text).toContain('No mappings match.')
  const removed = await browser.submit(both, {}, 'Delete 15')
  expect(removed.text).toContain('Mapping deleted.')
  expect((await admin.get('/v1/integrations/moodle/mappings')).body.data).toHaveLength(1)
})

test('an integration is removed after a question, if there is one', async ({ admin, browser }) => {
  await admin.put('/v1/integrations/moodle', { webhookSecrets: [secret] })
  const question = await browser.open('/dashboard/integrations/moodle/remove')
  expect(question.text).toContain('Deliveries of Moodle are refused')
  expect((await browser.submit(question, {}, 'Remove integration')).text).toContain('Integration removed.')
  expect((await admin.get('/v1/integrations/moodle')).status).toBe(404)
  expect(await browser.open('/dashboard/integrations/blackboard')).toMatchObject({ status: 404 })
})
