import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { decodeText } from '../../helpers/browser.ts'
import { test as base } from './signed-in.ts'

/** Makes a course in which two learners were active in February 2026. */
const test = base.extend('courseId', async ({ academy, admin }) => {
  const course = { title: 'Logic', status: 'published', externalId: 'LOG-1' }
  const { id } = (await admin.post('/v1/courses', course)).body
  const [ada, bob] = [await academy.person('learner'), await academy.person('learner')]
  for (const [learner, completionPercentage, lastAccessed] of [
    [ada, 20, '2026-02-10T09:00:00Z'],
    [ada, 100, '2026-02-11T09:00:00Z'],
    [bob, 30, '2026-02-11T23:30:00Z'],
  ] as const) {
    await admin.put(`/v1/learners/${learner.id}/progress`, {
      courseId: id,
      completionPercentage,
      lastAccessed,
    })
  }
  return id as string
})

/** Returns the cells of a page's table, row by row. */
function rowsIn(html: string): string[][] {
  return [...html.matchAll(/<tr role="row">(.*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd]\b[^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, '')),
  )
}

const days = '/dashboard/activity?by=day&from=2026-02-10&to=2026-02-12'

test('activity is a chart of each figure and a table of every day', async ({ browser, courseId }) => {
  expect(courseId).toMatch(/^crs_/)
  const { html, text } = await browser.open(days)
  expect(rowsIn(html)).toEqual([
    ['Day', 'Active learners', 'Progress updates', 'Courses completed', 'Grades given'],
    ['10 Feb 2026', '1', '1', '0', '0'],
    ['11 Feb 2026', '2', '2', '1', '0'],
    ['12 Feb 2026', '0', '0', '0', '0'],
  ])
  expect(html).toContain('<title>11 Feb 2026: 2</title>')
  const columns = [...html.matchAll(/<rect class="done" [^>]*height="([\d.]+)"/g)]
  expect(columns.map(([, height]) => Number(height)).slice(0, 2)).toEqual([40, 80])
  expect(text).toContain('Active learners per day 10 Feb 2026: 1; 11 Feb 2026: 2; 12 Feb 2026: 0.')
  expect(text).toContain('Courses completed per day')
  expect(text).toContain('Most active learners in a day 2 Progress updates 3 Completions 1 Grades 0')
  const inVienna = await browser.open(`${days}&zone=Europe%2FVienna`)
  expect(
    rowsIn(inVienna.html)
      .slice(1)
      .map(([, learners]) => learners),
  ).toEqual(['1', '1', '1'])
  const weeks = await browser.open('/dashboard/activity')
  expect(rowsIn(weeks.html)).toHaveLength(13)
  expect(rowsIn(weeks.html).at(-1)).toEqual(['23 Feb 2026', '0', '0', '0', '0'])
})

test('activity is downloaded as it is filtered', { tags: ['slow'] }, async ({ admin, browser, courseId }) => {
  await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG-2' })
  const page = await browser.open(days)
  expect(page.text).toContain('All courses Logic (LOG-1) Logic (LOG-2)')
  const found = await browser.open(`${days}&course=${courseId}`)
  expect(found.html).toContain(`<option value="${courseId}" selected="">`)
  expect(found.html).toContain('type="date" value="2026-02-10"')
  const link = decodeText(/href="([^"]+\.csv[^"]*)"/.exec(found.html)?.[1] ?? '')
  const file = await browser.open(link)
  expect(parse(file.html, { columns: true, bom: true })).toMatchObject([
    { period: '2026-02-10', start: '2026-02-10T00:00:00.000Z', activeLearners: '1', progressUpdates: '1' },
    { period: '2026-02-11', activeLearners: '2', completions: '1' },
    { period: '2026-02-12', activeLearners: '0' },
  ])
  expect((await browser.open(`${days}&course=LOG-2`)).text).toContain('No learner was active in the period')
})

test('a course leads to its activity; the filter has the first hundred courses by title and the chosen one', {
  tags: ['slow'],
}, async ({ admin, browser, courseId }) => {
  const titles = Array.from({ length: 101 }, (_, index) => `Course ${index}`)
  for (const title of titles) await admin.post('/v1/courses', { title, status: 'published' })
  const { html } = await browser.open(`/dashboard/courses/${courseId}`)
  const [, link = ''] = /href="([^"]+\/activity\?[^"]*)"/.exec(html) ?? []
  const page = await browser.open(decodeText(link))
  expect(page.html).toContain(`<option value="${courseId}" selected="">Logic</option>`)
  expect(page.html).toContain('Course (first 100 by title; others from their pages)')
  const { html: all } = await browser.open('/dashboard/report')
  expect(all).not.toContain('>Logic</option>')
  expect(all.match(/<option[^>]*>Course \d+</g)).toHaveLength(100)
})
