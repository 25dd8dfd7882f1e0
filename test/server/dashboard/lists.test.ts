import { expect } from 'vitest'
import type { PlainBrowser } from '../../helpers/browser.ts'
import { test } from './signed-in.ts'

/** Returns the links of a page's rows: the name of each record. */
function namesIn(html: string): string[] {
  return [...html.matchAll(/<th role="rowheader"[^>]*><a [^>]*>([^<]+)<\/a>/g)].map(([, name = '']) => name)
}

/** Returns the links between pages by their words. */
function pagesIn(html: string): Record<string, string> {
  const [, nav = ''] = /<nav class="pages"[^>]*>(.*?)<\/nav>/.exec(html) ?? []
  return Object.fromEntries(
    [...nav.matchAll(/<a (?:rel="\w+" )?href="([^"]+)">([^<]+)<\/a>/g)].map(([, href = '', words = '']) => [
      words,
      href.replaceAll('&amp;', '&'),
    ]),
  )
}

/** Opens a page and returns the names of its rows. */
async function listed(browser: PlainBrowser, path: string): Promise<string[]> {
  const { html, status, text } = await browser.open(path)
  expect(status, text).toBe(200)
  return namesIn(html)
}

test('courses are found by text, level, status and term, and sorted', async ({ admin, browser }) => {
  const term = (await admin.post('/v1/terms', { name: 'Autumn', startDate: '2026-09-01' })).body.id
  await admin.post('/v1/courses', { title: 'Zoology', status: 'published', difficulty: 'expert' })
  await admin.post('/v1/courses', { title: 'Logic', externalId: 'BIO-7', termId: term })
  await admin.post('/v1/courses', { title: 'Biology', description: 'Not BIO-7', status: 'published' })
  const path = '/dashboard/courses'
  expect(await listed(browser, path)).toEqual(['Biology', 'Logic', 'Zoology'])
  expect(await listed(browser, `${path}?sort=-title`)).toEqual(['Zoology', 'Logic', 'Biology'])
  expect(await listed(browser, `${path}?q=zoo`)).toEqual(['Zoology'])
  // The course with this external id comes first, and once.
  expect(await listed(browser, `${path}?q=bio-7`)).toEqual(['Biology'])
  expect(await listed(browser, `${path}?q=BIO-7`)).toEqual(['Logic', 'Biology'])
  expect(await listed(browser, `${path}?q=BIO-7&status=draft`)).toEqual(['Logic'])
  expect(await listed(browser, `${path}?difficulty=expert`)).toEqual(['Zoology'])
  expect(await listed(browser, `${path}?term=${term}`)).toEqual(['Logic'])
  const { html } = await browser.open(`${path}?q=zoo&sort=-title&done=key_revoked`)
  expect(html).toContain('aria-sort="descending"><a href="/dashboard/courses?q=zoo&amp;sort=title#courses">')
})

test('the filter of a list stays in the form, its links and the way back', async ({ admin, browser }) => {
  for (let index = 0; index < 30; index += 1) {
    await admin.post('/v1/users', { email: `p${index}@b.example`, role: index < 28 ? 'learner' : 'analyst' })
  }
  const found = await browser.submit(await browser.open('/dashboard/people?sort=-email'), {
    q: 'b.example',
    role: 'learner',
  })
  expect(Object.fromEntries(new URL(found.url).searchParams)).toMatchObject({
    q: 'b.example',
    role: 'learner',
    sort: '-email',
  })
  expect(namesIn(found.html)).toHaveLength(25)
  expect(found.html).toContain('<option value="learner" selected="">Learner</option>')
  expect(found.html).toContain('value="b.example"')
  expect(found.html).toContain('<a href="/dashboard/people?sort=-email#people">Clear</a>')
  const next = new URL(pagesIn(found.html)['Next page'] ?? '', 'http://localhost').searchParams
  expect(Object.fromEntries(next)).toMatchObject({ q: 'b.example', role: 'learner', sort: '-email' })
  expect(await listed(browser, pagesIn(found.html)['Next page'] ?? '')).toHaveLength(3)
})

test('pages lead on and back, however many there are', { tags: ['slow'] }, async ({ admin, browser }) => {
  const items = Array.from({ length: 60 }, (_, index) => ({
    email: `p${String(index).padStart(3, '0')}@b.example`,
  }))
  await admin.post('/v1/users/batch', { items })
  const first = '/dashboard/people?q=b.example'
  const seen: string[][] = []
  for (let path: string | undefined = first; path; ) {
    const { html }: { html: string } = await browser.open(path)
    seen.push(namesIn(html))
    if (path !== first) expect(pagesIn(html)['First page']).toBe(`${first}#people`)
    path = pagesIn(html)['Next page']
  }
  expect(seen.flat()).toEqual(items.map(({ email }) => email))
  expect(seen).toHaveLength(3)
})

test('people are found by name and address, in any state', { tags: ['slow'] }, async ({ admin, browser }) => {
  const profile = { firstName: 'Grace', lastName: 'Hopper' }
  await admin.post('/v1/users', { email: 'g@b.example', externalId: '0042', profile })
  const gone = await admin.post('/v1/users', { email: '0042@b.example', role: 'instructor' })
  const path = '/dashboard/people'
  expect(await listed(browser, `${path}?q=hopp`)).toEqual(['Grace Hopper'])
  expect(await listed(browser, `${path}?q=G%40B.`)).toEqual(['Grace Hopper'])
  expect(await listed(browser, `${path}?q=ext%3A0042`)).toEqual(['Grace Hopper'])
  expect(await listed(browser, `${path}?q=0042`)).toEqual(['Grace Hopper', '0042@b.example'])
  expect(await listed(browser, `${path}?q=0042&role=instructor`)).toEqual(['0042@b.example'])
  await admin.delete(`/v1/users/${gone.body.id}`)
  expect(await listed(browser, `${path}?role=instructor`)).toEqual([])
  expect(await listed(browser, `${path}?status=deleted`)).toEqual(['0042@b.example'])
  const { body: group } = await admin.post('/v1/groups', { name: 'Night class' })
  await admin.put(`/v1/groups/${group.id}/members/email:g@b.example`)
  expect(await listed(browser, `${path}?group=${group.id}`)).toEqual(['Grace Hopper'])
  expect((await browser.open(`${path}?q=nobody.example`)).text).toContain('No people match.')
})

test.for([
  'courses?status=lazy',
  'courses?sort=shoes',
  'courses?term=trm_none',
  'people?role=king',
  'activity?from=2026-03-05&to=2026-03-01',
  'activity?from=1900-01-01&by=day',
  'activity?zone=Mars',
  'audit?action=course.eaten',
  'audit?from=yesterday',
])('a filter that there is not is reported in its form: %s', async (wrong, { browser }) => {
  const { status, html, text } = await browser.open(`/dashboard/${wrong}`)
  expect([400, 404]).toContain(status)
  expect(html).toContain('<div class="fault" role="alert">')
  expect(text).toContain('Filter')
})

test('an instructor finds what they teach, and no others', async ({ academy, admin, instructor, signIn }) => {
  const ids: string[] = []
  for (const title of ['Taught', 'Foreign']) {
    const { id } = (await admin.post('/v1/courses', { title, status: 'published', externalId: title })).body
    const person = await academy.person('learner')
    await admin.post('/v1/enrollments', { courseId: id, userId: person.id })
    ids.push(id, person.email)
  }
  const [taught = '', pupil = '', foreign = '', stranger = ''] = ids
  await admin.post('/v1/enrollments', { courseId: taught, userId: instructor.id, role: 'instructor' })
  const browser = await signIn(instructor)
  expect(await listed(browser, '/dashboard/courses')).toEqual(['Taught'])
  expect(await listed(browser, '/dashboard/courses?q=Foreign')).toEqual([])
  expect((await listed(browser, '/dashboard/people')).sort()).toEqual([instructor.email, pupil].sort())
  expect(await listed(browser, `/dashboard/people?q=${stranger}`)).toEqual([])
  expect((await browser.open(`/dashboard/courses/${foreign}/lessons`)).status).toBe(404)
})

test('a learner finds published courses without figures', async ({ admin, learner, signIn }) => {
  await admin.post('/v1/courses', { title: 'Open', status: 'published' })
  await admin.post('/v1/courses', { title: 'Hidden' })
  const browser = await signIn(learner)
  const { html, text } = await browser.open('/dashboard/courses')
  expect(namesIn(html)).toEqual(['Open'])
  expect(text).not.toMatch(/enrolled|Completed|Status/)
  expect((await browser.open('/dashboard/courses?status=draft')).text).toContain('No courses match.')
})

test('the lessons of a course stand under their modules', async ({ admin, browser, learner, signIn }) => {
  const course = { title: 'Logic', status: 'published', modules: [{ title: 'Begin' }, { title: 'End' }] }
  const { body } = await admin.post('/v1/courses', course)
  const [begin] = body.modules
  const add = (lesson: object) => admin.post('/v1/lessons', { courseId: body.id, ...lesson })
  await add({ title: 'Terms', moduleId: begin.id, dueAt: '2026-04-01T16:00:00Z', durationMinutes: 150 })
  await add({
    title: 'Proofs',
    status: 'draft',
    externalId: 'PR-1',
    contentBlocks: [{ type: 'text', body: 'One' }],
    assessments: [
      { type: 'quiz', title: 'First quiz', dueAt: '2026-04-02T10:00:00Z' },
      { type: 'quiz', title: 'Second quiz' },
    ],
  })
  const { text } = await browser.open(`/dashboard/courses/${body.id}/lessons`)
  expect(text).toMatch(
    /Begin Lessons: Begin .* 1\. Terms 1 Apr 2026, 16:00 UTC – 2 h 30 min End No lessons\./,
  )
  expect(text).toMatch(
    /Without a module .* 1\. Proofs PR-1 · draft First quiz: 2 Apr 2026, 10:00 UTC 1 block, 2 quizzes –/,
  )
  expect(text).toMatch(/Settings .*Passing score 70% Completes an enrolment Completed progress/)
  const own = await (await signIn(learner)).open(`/dashboard/courses/${body.id}/lessons`)
  expect(own.text).toContain('1. Terms')
  expect(own.text).not.toContain('Proofs')
})

test('a person’s history is of all, or of one course', async ({ academy, admin, browser, learner }) => {
  const ids: string[] = []
  for (const externalId of ['T-1', 'T-2']) {
    const course = { title: 'Twins', status: 'published', externalId }
    ids.push((await admin.post('/v1/courses', course)).body.id)
  }
  const [one = '', two = ''] = ids
  for (const [courseId, completionPercentage] of [
    [one, 10],
    [one, 60],
    [two, 100],
  ] as const) {
    academy.clock.advance(60_000)
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage })
  }
  const path = `/dashboard/learners/${learner.id}/history`
  const all = await browser.open(path)
  expect(all.text).toMatch(/Twins T-1 10% .*Twins T-1 60% .*Twins T-2 100% Completed/)
  expect(all.text).toContain('Twins (T-1) Twins (T-2)')
  const found = await browser.submit(all, { course: one })
  expect(found.text).toMatch(/60% In progress .*10% In progress/)
  expect(found.text).not.toContain('100%')
  expect((await browser.open(`${path}?course=crs_none`)).status).toBe(404)
})
