import { expect } from 'vitest'
import { decodeText } from '../../helpers/browser.ts'
import { test as base } from './signed-in.ts'

/** Two courses, one of them with a learner who completed it on 10 February 2026 and failed. */
const test = base.extend('courses', async ({ academy, admin, learner }) => {
  const course = async (title: string) =>
    (await admin.post('/v1/courses', { title, status: 'published' })).body.id as string
  const [logic, music] = [await course('Logic'), await course('Music')]
  const lastAccessed = '2026-02-10T12:00:00.000Z'
  await admin.put(`/v1/learners/${learner.id}/progress`, {
    courseId: logic,
    completionPercentage: 100,
    lastAccessed,
  })
  await admin.post('/v1/enrollments', { courseId: music, userId: learner.id })
  await academy.grade({
    learnerId: learner.id,
    courseId: logic,
    scoreGiven: 10,
    itemId: 'exam',
    label: 'Exam',
  })
  return { logic, music }
})

const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

test('the page has the figures, and links to the courses', async ({ admin, browser, courses }) => {
  const { html } = await browser.open('/dashboard/report?start_date=2026-02-01&end_date=2026-02-28')
  const { body } = await admin.get('/v1/analytics/report?start_date=2026-02-01&end_date=2026-02-28')
  expect(body.summary).toMatchObject({ enrollments: 2, completed: 1, passRate: 0 })
  expect(body.activity).toMatchObject({ by: 'week' })
  expect(textOf(html)).toContain('50% of all enrolments are completed: 1 of 2. Not started: 1.')
  expect(textOf(html)).toContain('0% of graded enrolments reach the passing score of their course: 0 of 1.')
  expect(textOf(html)).toContain('activity 1 – 28 Feb 2026')
  expect(html).toContain(`/dashboard/courses/${courses.logic}">`)
})

test('the URL has course, dates, title and language, which the form shows', async ({ browser, courses }) => {
  const { html } = await browser.open(
    `/dashboard/report?course=${courses.music}&start_date=2026-02-01&end_date=2026-02-28&title=Mine&language=de`,
  )
  expect(textOf(html)).toContain('Mine 1 Kurs · 1 Lernende · Aktivität 01.–28.02.2026')
  expect(textOf(html)).toContain('Noch keine Noten.')
  expect(html).toContain(`<option value="${courses.music}" selected="">`)
  expect(html).toMatch(/<input id="start_date"[^>]* value="2026-02-01"/)
  expect(html).toMatch(/<option value="de" selected="">Deutsch/)
})

test('the page names no learner, and allows only its two styles', async ({ browser, courses, learner }) => {
  const { html, headers } = await browser.open(`/dashboard/report?course=${courses.logic}`)
  expect(html).not.toContain(learner.id)
  expect(headers.get('content-security-policy')).toMatch(/style-src 'sha256-[^ ]+' 'sha256-[^ ]+';/)
  expect(html.match(/<style>/g)).toHaveLength(2)
})

test('a period that ends too early, and an unknown course, are refused', async ({ browser, courses: _ }) => {
  expect((await browser.open('/dashboard/report?start_date=2026-02-02&end_date=2026-02-01')).status).toBe(400)
  expect((await browser.open('/dashboard/report?course=crs_none')).status).toBe(404)
})

test('by day, week or month: what a chart has room for', async ({ admin }) => {
  const unitOf = async (query: string) => (await admin.get(`/v1/analytics/report?${query}`)).body.activity.by
  expect(await unitOf('')).toBe('week')
  expect(await unitOf('start_date=2026-02-01&end_date=2026-02-21')).toBe('day')
  expect(await unitOf('start_date=2026-02-01&end_date=2026-02-22')).toBe('week')
  expect(await unitOf('start_date=2025-01-01&end_date=2026-02-24')).toBe('week')
  expect(await unitOf('start_date=2025-01-01&end_date=2026-02-25')).toBe('month')
  expect(await unitOf('end_date=1990-12-31')).toBe('week')
})

test('the period before is as long, and ends where the period begins', async ({ admin, courses: _ }) => {
  const { body } = await admin.get('/v1/analytics/report?start_date=2026-02-15&end_date=2026-03-07')
  expect(body).toMatchObject({ start: '2026-02-15T00:00:00.000Z', end: '2026-03-08T00:00:00.000Z' })
  const before: { start: string; end: string; completions: number }[] = body.activityBefore.data
  expect([before[0]?.start, before.at(-1)?.end]).toEqual([
    '2026-01-25T00:00:00.000Z',
    '2026-02-15T00:00:00.000Z',
  ])
  expect(before.reduce((sum, { completions }) => sum + completions, 0)).toBe(1)
})

test('the report is downloaded as the command line writes it', async ({ browser, courses }) => {
  const { html } = await browser.open(`/dashboard/report?course=${courses.music}&title=Mine&language=de`)
  const [, link = ''] = /href="([^"]+\/report\.html[^"]*)"/.exec(html) ?? []
  const file = await browser.open(decodeText(link))
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="report.html"')
  expect(file.html).toMatch(/^<!DOCTYPE html>\n<html lang="de">/)
  expect(textOf(file.html)).toContain('Mine 1 Kurs · 1 Lernende')
  expect(file.html).not.toMatch(/<script|href="\//)
})
