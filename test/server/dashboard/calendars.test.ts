import { expect } from 'vitest'
import { test } from './signed-in.ts'

test('the calendar of a course is created, read, revoked', async ({ academy, admin, browser, learner }) => {
  const course = { title: 'Logic', status: 'published', externalId: 'LOG-1' }
  const { id } = (await admin.post('/v1/courses', course)).body
  await admin.post('/v1/lessons', { courseId: id, title: 'Essay', dueAt: '2026-11-30T18:00:00Z' })
  const lessons = await browser.open(`/dashboard/courses/${id}/lessons`)
  const [, link = ''] = /<a href="([^"]+)">Calendar addresses<\/a>/.exec(lessons.html) ?? []
  const page = await browser.open(link)
  expect(page.text).toContain('No calendars yet.')
  expect(page.forms.find(({ fields }) => 'courseId' in fields)?.fields).toMatchObject({ courseId: id })
  const made = await browser.submit(page, { courseId: 'LOG-1', userId: '' })
  const [address = ''] = /http:[^<]*\/calendars\/[\w-]{43}\.ics/.exec(made.html) ?? []
  const { text } = await academy.bearer(undefined).get(new URL(address).pathname)
  expect(text).toContain('SUMMARY:Essay is due')
  expect((await browser.submit(page, { courseId: 'LOG-1', userId: '' })).text).toContain(
    'no second calendar was created',
  )
  const listed = await browser.open('/dashboard/calendars')
  expect(listed.html).not.toContain(address.slice(-20))
  expect(listed.text).toMatch(/Logic Course \/calendars\/….{4}\.ics 1 Mar 2026/)
  expect((await browser.open(`/dashboard/calendars?user=${learner.id}`)).text).toContain('No calendars yet.')
  const [, revoke = ''] = /href="([^"]+\/revoke)"/.exec(listed.html) ?? []
  const question = await browser.open(revoke)
  expect((await browser.submit(question, {}, 'Revoke calendar')).text).toContain('Calendar revoked.')
  expect((await academy.bearer(undefined).get(new URL(address).pathname)).status).toBe(404)
})

test('a calendar of both, neither or a stranger is refused at its field', async ({ browser, learner }) => {
  const page = await browser.open(`/dashboard/calendars?user=${learner.id}`)
  expect(page.forms.find(({ fields }) => 'courseId' in fields)?.fields).toMatchObject({ userId: learner.id })
  for (const [fields, message] of [
    [{ courseId: '', userId: '' }, 'Course or a user is required, but not both'],
    [{ courseId: '', userId: 'nobody@b.example' }, 'Person User nobody@b.example not found.'],
  ] as const) {
    const refused = await browser.submit(page, fields)
    expect(refused.text).toContain(`Fix the following: ${message}`)
  }
  const wrong = await browser.open('/dashboard/calendars?course=crs_none')
  expect([wrong.status, wrong.text]).toEqual([404, expect.stringContaining('crs_none')])
})
