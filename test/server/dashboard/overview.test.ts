import { expect } from 'vitest'
import type { Person } from '../../helpers/academy.ts'
import { test as base, roles } from './signed-in.ts'

/** Makes courses with learners at 0, 5, 40, 99.97 and 100%, one of them in two courses. */
const test = base.extend('courses', async ({ academy, admin, learner }) => {
  const course = async (title: string, status: string) =>
    (await admin.post('/v1/courses', { title, status })).body.id as string
  const [logic, music, draft] = [
    await course('Logic', 'published'),
    await course('Music', 'published'),
    await course('Zoology', 'draft'),
  ]
  const set = (id: string, courseId: string, completionPercentage: number) =>
    admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage })
  const others: Person[] = []
  for (const percentage of [5, 40, 99.97]) {
    const person = await academy.person('learner')
    others.push(person)
    await set(person.id, logic, percentage)
  }
  await set(learner.id, logic, 100)
  await set(learner.id, draft, 70)
  await admin.post('/v1/enrollments', { courseId: music, userId: learner.id })
  await academy.grade({ learnerId: learner.id, courseId: logic, scoreGiven: 88 })
  return { logic, music, draft, others }
})

/** Returns the figures of a page by name. */
function tiles(html: string): Record<string, string> {
  return Object.fromEntries(
    [...html.matchAll(/<dt>([^<]+)<\/dt><dd>([^<]+)<\/dd>/g)].map(([, name = '', figure = '']) => [
      name,
      figure,
    ]),
  )
}

/** Returns the cells of a page's tables, row by row. */
function rows(html: string): string[][] {
  return [...html.matchAll(/<tr role="row">(.*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd]\b[^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) =>
      cell.replace(/<[^>]+>/g, ' ').trim(),
    ),
  )
}

test.for(roles.filter((role) => role !== 'learner'))(
  'who is %s sees the figures that analytics has',
  async (role, { academy, admin, courses, signIn }) => {
    const person = await academy.person(role)
    if (role === 'instructor') {
      for (const courseId of [courses.logic, courses.music, courses.draft])
        await admin.post('/v1/enrollments', { courseId, userId: person.id, role })
    }
    const browser = await signIn(person)
    const { html } = await browser.open('/dashboard')
    const { summary } = (await admin.get('/v1/analytics/learners')).body
    expect(summary).toMatchObject({ learners: 4, enrollments: 6, completed: 1 })
    expect(tiles(html)).toEqual({
      Courses: '3',
      'Learners enrolled': '4',
      Enrolments: '6',
      Completed: '1',
      'Average completion': '52.5%',
      'Average grade': '88%',
      'Pass rate': '100%',
    })
    expect(summary.averageCompletionPercentage).toBeCloseTo(52.495)
    expect(html).toContain(`href="/dashboard/courses/${courses.logic}">Logic</a>`)
  },
)

test('an instructor sees the figures, courses and learners of the courses that they teach', {
  tags: ['slow'],
}, async ({ academy, admin, courses, instructor, learner, signIn }) => {
  const { music } = courses
  await admin.post('/v1/enrollments', { courseId: music, userId: instructor.id, role: 'instructor' })
  const browser = await signIn(instructor)
  const { html } = await browser.open('/dashboard')
  expect(tiles(html)).toEqual({
    Courses: '1',
    'Learners enrolled': '1',
    Enrolments: '1',
    Completed: '0',
    'Average completion': '0%',
  })
  expect(html).toContain('Music')
  expect(html).not.toMatch(/Logic|Zoology/)
  const page = await browser.open(`/dashboard/learners/${learner.id}`)
  expect(page.status).toBe(200)
  expect(page.html).not.toMatch(/Logic|Zoology|\/grades/)
  expect(tiles(page.html)).toMatchObject({ Courses: '1', Completed: '0' })
  const grade = await academy.grade({ learnerId: learner.id, courseId: music, scoreGiven: 50 })
  const own = await browser.open(`/dashboard/learners/${learner.id}/grades`)
  expect(own.html).toContain(grade.id)
  expect(own.html).not.toMatch(/Logic|88%/)
  expect((await browser.open(`/dashboard/learners/${courses.others[0]?.id}`)).status).toBe(404)
})

test('completion is a picture, the same in words, and the same as a table', async ({ browser, courses }) => {
  expect(courses.others).toHaveLength(3)
  const { html } = await browser.open('/dashboard')
  expect(html).toMatch(
    /<title>1 completed, 3 in progress, 0 not started<\/title><rect class="doing" width="100%"[^>]*>(<\/rect>)?<rect class="done" width="25%"/,
  )
  const description = /<desc id="columns-told">([^<]+)<\/desc>/.exec(html)?.[1]
  expect(description).toBe(
    '0–9%: 1; 10–19%: 0; 20–29%: 0; 30–39%: 0; 40–49%: 1; 50–59%: 0; 60–69%: 0; 70–79%: 1; 80–89%: 0; 90–99%: 1.',
  )
  const ranges = ['0–9', '10–19', '20–29', '30–39', '40–49', '50–59', '60–69', '70–79', '80–89', '90–99']
  expect(rows(html)).toEqual([
    ['Completion', 'Enrolments', 'Share'],
    ['Not started', '1', '16.7%'],
    ...ranges.map((range, index) =>
      [0, 4, 7, 9].includes(index) ? [`${range}%`, '1', '16.7%'] : [`${range}%`, '0', '0%'],
    ),
    ['Completed', '1', '16.7%'],
    ['Course', 'Learners', 'Completed', 'In progress', 'Not started', 'Average'],
    [
      expect.stringMatching(/^Logic\s+beginner · 4 enrolled$/),
      '1 completed, 3 in progress, 0 not started',
      '1',
      '3',
      '0',
      '61.2%',
    ],
    [
      expect.stringMatching(/^Music\s+beginner · 1 enrolled$/),
      '0 completed, 0 in progress, 1 not started',
      '0',
      '0',
      '1',
      '0%',
    ],
    [
      expect.stringMatching(/^Zoology\s+beginner · 1 enrolled\s+draft$/),
      '0 completed, 1 in progress, 0 not started',
      '0',
      '1',
      '0',
      '70%',
    ],
  ])
})

test('learners in need come first', { tags: ['slow'] }, async ({ academy, admin, browser, courses }) => {
  const [stuck, busy] = [await academy.person('learner'), await academy.person('learner')]
  const set = (id: string, completionPercentage: number, lastAccessed: string) =>
    admin.put(`/v1/learners/${id}/progress`, { courseId: courses.logic, completionPercentage, lastAccessed })
  await set(stuck.id, 20, '2026-02-10T09:00:00Z')
  await set(stuck.id, 20, '2026-02-28T09:00:00Z')
  await set(busy.id, 20, '2026-02-10T09:00:00Z')
  await set(busy.id, 30, '2026-02-28T09:00:00Z')
  await academy.grade({ learnerId: busy.id, courseId: courses.logic, scoreGiven: 12 })
  await admin.post('/v1/enrollments', {
    courseId: courses.music,
    userId: busy.id,
    enrolledAt: '2026-01-01T00:00:00Z',
  })
  const page = await browser.open('/dashboard')
  expect(page.text).toMatch(
    /Overview Needs attention Inactive 1 No access for 14 days, not completed Inactive in Music: 1 Stuck 1 Below 50%, no progress for 14 days Stuck in Logic: 1 Not passed 1 Grade below the passing score Not passed in Logic: 1 Courses 3/,
  )
  const links = [...page.html.matchAll(/href="([^"]+attention=\w+)#learners"/g)].map(([, href = '']) => href)
  expect(links).toEqual([
    `/dashboard/courses/${courses.music}?attention=inactive`,
    `/dashboard/courses/${courses.logic}?attention=stuck`,
    `/dashboard/courses/${courses.logic}?attention=not_passed`,
  ])
  for (const [index, person] of [busy, stuck, busy].entries()) {
    const { html } = await browser.open(links[index] ?? '')
    expect(rows(html).filter((row) => row[0]?.includes('@'))).toEqual([
      expect.arrayContaining([person.email]),
    ])
  }
})

test('a learner sees their own open courses', { tags: ['slow'] }, async ({ courses, learner, signIn }) => {
  const { html, text } = await (await signIn(learner)).open('/dashboard')
  expect(rows(html)).toEqual([
    ['Course', 'Status', 'Completion', 'Last accessed', 'Grade'],
    ['Logic', 'Completed', '100%', '1 Mar 2026', expect.stringMatching(/^88%\s+Passed$/)],
    ['Music', 'Not started', '0%', '–', '–'],
  ])
  expect(tiles(html)).toMatchObject({ Courses: '2', Completed: '1', 'Not started': '1' })
  expect(text).toContain('1 more enrolment is in an unpublished course.')
  expect(html).not.toContain('Zoology')
  for (const { id, email } of courses.others) {
    expect(html).not.toContain(id)
    expect(html).not.toContain(email)
  }
})

test('an empty academy says how to go', { tags: ['slow'] }, async ({
  admin,
  analyst,
  browser,
  learner,
  signIn,
}) => {
  const { html, text } = await browser.open('/dashboard')
  expect(text).toContain('No courses yet. Create a course learnctl courses create --title "My first course"')
  expect(html).not.toContain('role="img"')
  expect(text).not.toMatch(/Needs attention|Average grade/)
  expect((await (await signIn(analyst)).open('/dashboard')).text).toMatch(/No courses yet\.$/)
  expect((await (await signIn(learner)).open('/dashboard')).text).toContain(
    'You are not enrolled in a course yet.',
  )
  await admin.post('/v1/courses', { title: 'Alone' })
  const { html: alone } = await browser.open('/dashboard')
  expect(alone).toContain('<title>No learners enrolled</title>')
  expect(alone).not.toContain('NaN')
})

test('two courses of one title are told apart everywhere', async ({ academy, admin, browser, learner }) => {
  const ids: string[] = []
  for (const externalId of ['LOG-1', undefined]) {
    const course = { title: 'Twins', status: 'published', ...(externalId && { externalId }) }
    const { id } = (await admin.post('/v1/courses', course)).body
    ids.push(id)
    await admin.post('/v1/enrollments', { courseId: id, userId: learner.id })
    await academy.grade({ learnerId: learner.id, courseId: id, scoreGiven: 1 })
  }
  const { text } = await browser.open('/dashboard')
  for (const name of ['LOG-1', ids[1]]) {
    expect(text).toContain(`Twins ${name} · beginner`)
    expect(text).toContain(`Twins (${name}): 1`)
  }
})

test('the courses are those of a term, the figures are not', async ({ admin, courses, signIn }) => {
  const visitor = await signIn(admin)
  expect((await visitor.open('/dashboard')).html).not.toContain('All terms')
  const { body: spring } = await admin.post('/v1/terms', { name: 'Spring <2027>' })
  const { body: empty } = await admin.post('/v1/terms', { name: 'Autumn 2027' })
  await admin.put(`/v1/courses/${courses.logic}`, { termId: spring.id })
  const { html: text } = await visitor.open(`/dashboard?term=${spring.id}`)
  expect(text).toContain(`<option value="${spring.id}" selected="">Spring &lt;2027&gt;</option>`)
  expect(text).toContain('Logic')
  expect(text).not.toContain('>Music</a>')
  expect(tiles(text)).toMatchObject({ Courses: '3' })
  expect((await visitor.open(`/dashboard?term=${empty.id}`)).html).toContain('No courses in this term.')
  expect((await visitor.open('/dashboard?term=')).html).toContain('>Music</a>')
})
