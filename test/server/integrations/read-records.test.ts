import { expect } from 'vitest'
import { test } from '../../helpers/academy.ts'
import { moodleToken } from '../../helpers/fake-moodle.ts'
import { connect } from '../../helpers/lms.ts'

const settings = { baseUrl: 'https://moodle.example.org', accessToken: moodleToken }
const records = '/v1/integrations/moodle/records'

test('a page says what the system lists, and how many requests it allows at once', async ({
  academy,
  admin,
}) => {
  await connect(academy, admin, 'moodle', settings)
  const { body } = await admin.get(`${records}?part=courses`)
  expect(body).toMatchObject({
    ...{ lmsKind: 'moodle', system: 'Moodle', nextCursor: null, byCourse: false, requestsAtOnce: 4 },
    data: [{ part: 'courses', id: '4', record: { externalId: 'BIO-101', title: 'Biology' } }],
  })
  expect(body.lists).toContainEqual({ part: 'enrollments', of: 'courses', gives: ['users', 'memberships'] })
})

test('a cursor is sealed, and opens no other list', async ({ academy, admin }) => {
  await connect(academy, admin, 'moodle', settings)
  const { nextCursor } = (await admin.get(`${records}?part=enrollments&of=4`)).body
  expect(nextCursor).toMatch(/^v1\.[0-9a-f]{16}\.[\w-]+$/)
  expect(Buffer.from(nextCursor.split('.')[2], 'base64url').toString('latin1')).not.toContain('all:')
  expect((await admin.get(`${records}?part=enrollments&of=4&cursor=${nextCursor}`)).status).toBe(200)
  for (const other of ['part=enrollments&of=5', 'part=grades&of=4', 'part=courses']) {
    const answer = await admin.get(`${records}?${other}&cursor=${nextCursor}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  }
  const made = await admin.get(`${records}?part=courses&cursor=https://evil.example/`)
  expect(made).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
})

test('a course is no path of its own, and a part that is not there is refused', async ({
  academy,
  admin,
}) => {
  await connect(academy, admin, 'moodle', settings)
  expect((await admin.get(`${records}?part=enrollments&of=..`)).status).toBe(400)
  const terms = await admin.get(`${records}?part=terms`)
  expect(terms).toMatchObject({ status: 409, body: { code: 'other_system_refused', reason: 'answer' } })
  expect((await admin.get(`${records}`)).status).toBe(400)
})

test('without a token, or with one that the system refuses, nothing is read and the reason is named', async ({
  academy,
  admin,
}) => {
  await connect(academy, admin, 'moodle')
  const without = await admin.get(`${records}?part=courses`)
  expect(without).toMatchObject({ status: 409, body: { code: 'other_system_refused', reason: 'token' } })
  await admin.put('/v1/integrations/moodle', { ...settings, accessToken: 'another-token' })
  const refused = await admin.get(`${records}?part=courses`)
  expect(refused).toMatchObject({ status: 409, body: { reason: 'token' } })
  expect(refused.text).not.toContain('another-token')
  expect(JSON.stringify(academy.logged)).not.toContain('another-token')
  await connect(academy, admin, 'thinkific')
  const thinkific = await admin.get('/v1/integrations/thinkific/records?part=courses')
  expect(thinkific.body.detail).toContain('not from thinkific')
})
