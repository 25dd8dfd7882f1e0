import { expect } from 'vitest'
import { test as base } from './signed-in.ts'

/** Makes a course with a learner without grades and one with some. */
const test = base
  .extend('courseId', async ({ admin }) => {
    const course = { title: 'Logic', status: 'published', externalId: 'LOG/1' }
    return (await admin.post('/v1/courses', course)).body.id as string
  })
  .extend('ada', async ({ admin, courseId }) => {
    const profile = { firstName: 'Ada', lastName: 'Lovelace' }
    const { body } = await admin.post('/v1/users', { email: 'ada@b.example', profile })
    await admin.post('/v1/users', { email: 'bo@b.example' })
    for (const userId of [body.id, 'email:bo@b.example']) {
      await admin.post('/v1/enrollments', { courseId, userId })
    }
    return body.id as string
  })

/** Returns the headings and rows of the table on a page, without small print. */
function tableIn(html: string): string[][] {
  const rows = [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/g)].map(([, row = '']) => row)
  return rows.map((row) =>
    [...row.matchAll(/<(th|td)\b[^>]*>(.*?)<\/\1>/g)].map(([, , cell = '']) =>
      cell
        .replaceAll(/<small>.*?<\/small>/g, '')
        .replaceAll(/<[^>]+>/g, '')
        .trim(),
    ),
  )
}

test('the grades of a course stand by learner and item', async ({ academy, ada, browser, courseId }) => {
  const given = { learnerId: ada, courseId }
  await academy.grade({ ...given, itemId: 'q10', label: 'Quiz 10', scoreGiven: 17, scoreMaximum: 20 })
  await academy.grade({ ...given, itemId: 'q2', label: 'Quiz 2', scoreGiven: 40 })
  await academy.grade({ ...given, itemId: 'essay', scoreGiven: 1, scoreMaximum: 3 })
  const course = await browser.open(`/dashboard/courses/${courseId}`)
  expect(course.html).toContain(`<a href="/dashboard/courses/${courseId}/grades">Grades</a>`)
  const { html, text } = await browser.open(`/dashboard/courses/${courseId}/grades`)
  expect(tableIn(html)).toEqual([
    ['Learner', 'essay', 'Quiz 2', 'Quiz 10', 'Course grade'],
    ['Ada Lovelace', '33.3%', '40%', '85%', '52.8%'],
    ['bo@b.example', '–', '–', '–', '–'],
  ])
  expect(text).toContain('85% 17 of 20 52.8% Not passed')
  expect(html).toContain(`<a href="/dashboard/learners/${ada}/grades">Ada Lovelace</a>`)
  const failed = await browser.open(`/dashboard/courses/${courseId}/grades?attention=not_passed`)
  expect(tableIn(failed.html).map(([name]) => name)).toEqual(['Learner', 'Ada Lovelace'])
  const sorted = await browser.open(`/dashboard/courses/${courseId}/grades?sort=-grade`)
  expect(tableIn(sorted.html)[1]?.[0]).toBe('Ada Lovelace')
})

test('a course without learners or grades says what is next', async ({ ada, admin, browser, courseId }) => {
  expect(ada).toMatch(/^usr_/)
  const ungraded = await browser.open(`/dashboard/courses/${courseId}/grades`)
  expect(ungraded.text).toMatch(/No grades yet\. .* learnctl grades set email:/)
  const { body } = await admin.post('/v1/courses', { title: 'Empty' })
  const empty = await browser.open(`/dashboard/courses/${body.id}/grades`)
  expect(empty.text).toContain('No learners enrolled yet.')
  expect(empty.text).not.toContain('No grades yet.')
})

test('items of one name say whose they are, the course last', async ({ academy, ada, browser, courseId }) => {
  const given = { learnerId: ada, courseId, label: 'Quiz', scoreGiven: 10 }
  await academy.grade({ ...given, itemId: '7' })
  await academy.grade({ ...given, itemId: '12', source: 'canvas' })
  await academy.grade({ ...given, itemId: '$course', label: '' })
  const { html } = await browser.open(`/dashboard/courses/${courseId}/grades`)
  expect(tableIn(html)[0]).toEqual([
    'Learner',
    'Quiz (canvas, 12)',
    'Quiz (manual, 7)',
    'Whole course',
    'Course grade',
  ])
})

test('many items come some at a time, each of them once', async ({ academy, ada, browser, courseId }) => {
  for (let item = 1; item <= 17; item += 1) {
    await academy.grade({ learnerId: ada, courseId, itemId: `item ${item}`, scoreGiven: item })
  }
  const seen: string[] = []
  for (let path: string | undefined = `/dashboard/courses/${courseId}/grades`; path; ) {
    const { html }: { html: string } = await browser.open(path)
    seen.push(...(tableIn(html)[0]?.slice(1, -1) ?? []))
    path = /<a href="([^"]+)">Next items/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(seen).toEqual(Array.from({ length: 17 }, (_, index) => `item ${index + 1}`))
  const beyond = await browser.open(`/dashboard/courses/${courseId}/grades?items=99&q=ada`)
  expect(tableIn(beyond.html)[0]).toEqual(['Learner', 'item 17', 'Course grade'])
  const first = await browser.open(`/dashboard/courses/${courseId}/grades?items=x`)
  expect(tableIn(first.html)[0]?.[1]).toBe('item 1')
  expect((await browser.open(`/dashboard/courses/${courseId}/grades?sort=shoes`)).status).toBe(400)
})

test('text of others is cut, and invisible characters shown', async ({ academy, ada, browser, courseId }) => {
  await academy.grade({
    learnerId: ada,
    courseId,
    itemId: 'a\u202eb\u001b[2J',
    label: '',
    scoreGiven: 1,
  })
  await academy.grade({ learnerId: ada, courseId, itemId: 'z', label: 'é'.repeat(255), scoreGiven: 1 })
  for (const page of [`courses/${courseId}/grades`, `learners/${ada}/grades`]) {
    const { html, text } = await browser.open(`/dashboard/${page}`)
    expect(html).not.toMatch(/[\u202e\u001b]/)
    expect(text).toContain('a\\u202eb\\x1b[2J')
    expect(text).toContain(`${'é'.repeat(47)}…`)
    expect(text).not.toContain('é'.repeat(48))
  }
})

test('the grades of a learner have a page, latest first', async ({ academy, ada, browser, courseId }) => {
  for (const day of ['02', '01']) {
    const gradedAt = `2026-01-${day}T10:00:00.000Z`
    await academy.grade({ learnerId: ada, courseId, itemId: `day ${day}`, scoreGiven: 50, gradedAt })
  }
  const learner = await browser.open(`/dashboard/learners/${ada}`)
  expect(learner.html).toContain(`<a href="/dashboard/learners/${ada}/grades">Grades</a>`)
  const { html } = await browser.open(`/dashboard/learners/${ada}/grades`)
  expect(tableIn(html).slice(1)).toEqual([
    ['day 02', 'Logic', '50%', 'manual', '2 Jan 2026'],
    ['day 01', 'Logic', '50%', 'manual', '1 Jan 2026'],
  ])
})

test('a learner sees their own grades alone', async ({ academy, ada, admin, courseId, learner, signIn }) => {
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  await academy.grade({ learnerId: ada, courseId, itemId: 'secret', scoreGiven: 12 })
  const browser = await signIn(learner)
  const before = await browser.open(`/dashboard/courses/${courseId}`)
  expect(before.text).not.toMatch(/my grades|secret/i)
  await academy.grade({ learnerId: learner.id, courseId, itemId: 'q1', label: 'Quiz 1', scoreGiven: 88 })
  const { text } = await browser.open(`/dashboard/courses/${courseId}`)
  expect(text).toMatch(/My grades .* Quiz 1 q1 88% manual 1 Mar 2026/)
  expect(text).not.toContain('secret')
  for (const page of [
    `courses/${courseId}/grades`,
    `courses/${courseId}/grades.csv`,
    `learners/${ada}/grades`,
  ]) {
    expect({ page, status: (await browser.open(`/dashboard/${page}`)).status }).toEqual({ page, status: 403 })
  }
})

test('a grade that is not published, or was cleared, says so, and learners do not see the first', async ({
  academy,
  admin,
  browser,
  courseId,
  learner,
  signIn,
}) => {
  await admin.post('/v1/enrollments', { courseId, userId: learner.id })
  const given = { learnerId: learner.id, courseId }
  await academy.grade({ ...given, itemId: 'muted', scoreGiven: 88, published: false })
  await academy.grade({ ...given, itemId: 'open', scoreGiven: null })
  const { html, text } = await browser.open(`/dashboard/courses/${courseId}/grades`)
  expect(tableIn(html)[1]).toEqual([learner.email, '88%', 'Cleared', '–'])
  expect(text).toContain('88% Not published')
  const own = await (await signIn(learner)).open(`/dashboard/courses/${courseId}`)
  expect(own.text).toContain('open Cleared')
  expect(own.text).not.toMatch(/muted|88%/)
})
