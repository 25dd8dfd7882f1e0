import { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { formatCalendar } from '../../../src/server/calendars/calendars.ts'
import { minute, type Person, test } from '../../helpers/academy.ts'

/** Makes a published course in a term. */
async function datedCourse(admin: Person, title: string) {
  const dates = { name: `Term of ${title}`, startDate: '2026-09-01', endDate: '2027-01-31' }
  const { body: term } = await admin.post('/v1/terms', dates)
  const { body: course } = await admin.post('/v1/courses', { title, termId: term.id })
  await admin.put(`/v1/courses/${course.id}`, { status: 'published' })
  return { id: course.id as string, termId: term.id as string }
}

/** Returns the values of a property in a calendar, unfolded. */
function valuesOf(text: string, name: string): string[] {
  return text
    .replaceAll('\r\n ', '')
    .split('\r\n')
    .flatMap((line) => (line.startsWith(name) ? [line.slice(line.indexOf(':') + 1)] : []))
}

test('the calendar of a course has its term, without a credential', async ({ academy, admin }) => {
  const { id: courseId, termId } = await datedCourse(admin, 'Logic')
  const created = await admin.post('/v1/calendars', { courseId })
  expect(created).toMatchObject({ status: 201, body: { courseId, courseTitle: 'Logic', userId: null } })
  const program = academy.bearer(undefined)
  const read = await program.get(created.body.secretPath)
  expect(read.status).toBe(200)
  expect(Object.fromEntries(read.headers)).toMatchObject({
    'content-type': 'text/calendar; charset=utf-8',
    'cache-control': 'private, max-age=900',
  })
  expect(read.text).toMatch(/^BEGIN:VCALENDAR\r\nVERSION:2.0\r\n[\s\S]*\r\nEND:VCALENDAR\r\n$/)
  expect(valuesOf(read.text, 'SUMMARY')).toEqual(['Logic begins', 'Logic ends'])
  expect(valuesOf(read.text, 'DTSTART')).toEqual(['20260901', '20270131'])
  const uids = [`${courseId}.begin@learnctl`, `${courseId}.end@learnctl`]
  expect(valuesOf(read.text, 'UID')).toEqual(uids)

  const etag = read.headers.get('etag') ?? ''
  const again = await program.get(created.body.secretPath, { 'if-none-match': etag })
  expect([again.status, again.text]).toEqual([304, ''])
  academy.clock.advance(minute)
  await admin.put(`/v1/terms/${termId}`, { startDate: '2026-09-07' })
  const later = await program.get(created.body.secretPath, { 'if-none-match': etag })
  expect(later.status).toBe(200)
  expect(valuesOf(later.text, 'DTSTART')).toEqual(['20260907', '20270131'])
  expect(valuesOf(later.text, 'UID')).toEqual(uids)
  expect(Number(valuesOf(later.text, 'SEQUENCE')[0])).toBeGreaterThan(
    Number(valuesOf(read.text, 'SEQUENCE')[0]),
  )
})

test('the calendar of a user has the published courses of the user', async ({ academy, admin, learner }) => {
  const [logic, ethics, hidden] = [
    await datedCourse(admin, 'Logic'),
    await datedCourse(admin, 'Ethics'),
    await datedCourse(admin, 'Secret'),
  ]
  for (const { id } of [logic, ethics]) {
    await admin.post('/v1/enrollments', { courseId: id, userId: learner.id })
  }
  await admin.put(`/v1/courses/${ethics.id}`, { status: 'archived' })
  const { body } = await admin.post('/v1/calendars', { userId: `email:${learner.email}` })
  const { text } = await academy.bearer(undefined).get(body.secretPath)
  expect(valuesOf(text, 'SUMMARY')).toEqual(['Logic begins', 'Logic ends'])
  expect(text).not.toContain(learner.email)
  expect(text).not.toContain(hidden.id)
})

test('a calendar has the lessons due that learners can see', async ({ academy, admin, learner }) => {
  const { id: courseId } = await datedCourse(admin, 'Logic')
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  const lesson = (title: string, more: object) => admin.post('/v1/lessons', { courseId, title, ...more })
  const { body: essay } = await lesson('Essay', { dueAt: '2026-11-30T18:00:00+01:00' })
  await lesson('Draft', { dueAt: '2026-11-30T18:00:00Z', status: 'draft' })
  await lesson('Reading', {})
  const read = async (input: object) =>
    (await academy.bearer(undefined).get((await admin.post('/v1/calendars', input)).body.secretPath)).text
  for (const text of [await read({ courseId }), await read({ userId: learner.id })]) {
    expect(valuesOf(text, 'SUMMARY')).toEqual(['Logic begins', 'Logic ends', 'Essay is due'])
    expect(valuesOf(text, 'DTSTART').at(-1)).toBe('20261130T170000Z')
    expect(valuesOf(text, 'UID').at(-1)).toBe(`${essay.id}.due@learnctl`)
  }
  await admin.put(`/v1/lessons/${essay.id}`, { dueAt: null })
  expect(valuesOf(await read({ courseId }), 'SUMMARY')).toEqual(['Logic begins', 'Logic ends'])
  const earlier = await admin.get(`/v1/lessons/${essay.id}/versions/1`)
  expect(earlier.body.attributes.dueAt).toBe('2026-11-30T17:00:00.000Z')
})

test('addresses without a calendar answer alike, unseen', async ({ academy, admin, learner }) => {
  const { id: courseId } = await datedCourse(admin, 'Logic')
  const { body: ofCourse } = await admin.post('/v1/calendars', { courseId })
  const { body: ofUser } = await admin.post('/v1/calendars', { userId: learner.id })
  const program = academy.bearer(undefined)
  const statuses = async () => [
    (await program.get(ofCourse.secretPath)).status,
    (await program.get(ofUser.secretPath)).status,
  ]
  await admin.put(`/v1/users/${learner.id}`, { status: 'suspended' })
  await admin.delete(`/v1/courses/${courseId}`)
  expect(await statuses()).toEqual([404, 404])
  await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  await admin.post(`/v1/deleted-courses/${courseId}/restore`)
  expect(await statuses()).toEqual([200, 200])
  expect((await admin.delete(`/v1/calendars/${ofCourse.id}`)).status).toBe(204)
  await admin.delete(`/v1/users/${learner.id}?erase=true`)
  expect((await admin.get('/v1/calendars')).body.data).toEqual([])
  const wrong = ['/calendars/x.ics', '/calendars/index.html', `/calendars/${'A'.repeat(43)}.ics`]
  const answers = []
  for (const path of [...wrong, ofCourse.secretPath, ofUser.secretPath]) {
    const { status, body, headers } = await program.get(path)
    const { requestId: _, instance: __, ...rest } = body
    answers.push(JSON.stringify([status, rest, headers.get('content-type'), headers.get('cache-control')]))
  }
  expect(new Set(answers).size).toBe(1)
  expect(answers[0]).toContain('There is no calendar at this address.')
  const secrets = [ofCourse.secretPath, ofUser.secretPath].map((path) => path.slice(11, -4))
  const kept = [JSON.stringify(academy.logged), (await admin.get('/v1/audit')).text]
  for (const table of ['calendars', 'audit_entries', 'idempotency']) {
    kept.push(JSON.stringify(await academy.database.all(raw(`select * from ${table}`))))
  }
  for (const secret of secrets) expect(kept.join()).not.toContain(secret)
  expect(kept[0]).toContain('"/calendars/***"')
})

test('a calendar is of a course or a user, and each has at most 20', async ({ admin, learner }) => {
  const { id: courseId } = await datedCourse(admin, 'Logic')
  for (const input of [{}, { courseId, userId: learner.id }]) {
    expect((await admin.post('/v1/calendars', input)).body.errors).toMatchObject([{ code: 'required' }])
  }
  for (let count = 0; count < 20; count += 1) await admin.post('/v1/calendars', { courseId })
  expect((await admin.post('/v1/calendars', { courseId })).body.code).toBe('limit_reached')
  expect((await admin.post('/v1/calendars', { userId: learner.id })).status).toBe(201)
})

test.extend('perMinute', 3)('an address is read a limited number of times a minute', async ({ academy }) => {
  const program = academy.bearer(undefined)
  const statuses = []
  for (let count = 0; count < 4; count += 1) statuses.push((await program.get('/calendars/x.ics')).status)
  expect(statuses).toEqual([404, 404, 404, 429])
})

test('long and strange texts are folded at 75 octets and escaped', () => {
  const summary = `Größe; "x", \\ und\nmehr ${'ö'.repeat(60)} ${'👩‍🏫'.repeat(20)}\u0007`
  const event = {
    uid: 'les_1@learnctl',
    at: '2026-01-31T09:30:00.000Z',
    summary,
    changedAt: '2026-01-01T00:00:00.000Z',
  }
  const text = formatCalendar('Größe, klein', [event])
  for (const line of text.split('\r\n')) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(Buffer.from(line).toString()).toBe(line)
  }
  expect(valuesOf(text, 'SUMMARY')[0]).toMatch(/^Größe\\; "x"\\, \\\\ und\\nmehr ö{60} (👩‍🏫){20} $/u)
  expect(valuesOf(text, 'DTSTART')).toEqual(['20260131T093000Z'])
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
})
