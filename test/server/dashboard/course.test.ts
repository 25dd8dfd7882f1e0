import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { test as base } from './signed-in.ts'

const test = base.extend('courseId', async ({ admin }) => {
  const course = { title: 'Logic', status: 'published', externalId: 'LOG/1', description: 'One.\n\nTwo.' }
  return (await admin.post('/v1/courses', course)).body.id as string
})

/** Returns the learners on a page by e-mail address. */
function learnersIn(html: string): string[] {
  return [...html.matchAll(/<th role="rowheader"[^>]*>.*?([\w.-]+@[\w.-]+)/g)].map(([, email = '']) => email)
}

test('its learners have name, address, status, completion, day and grade', { tags: ['slow'] }, async ({
  academy,
  admin,
  browser,
  courseId,
}) => {
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const { body } = await admin.post('/v1/users', { email: 'ada@b.example', profile })
  const progress = { courseId, completionPercentage: 43.21, lastAccessed: '2026-02-20T23:30:00Z' }
  await admin.put(`/v1/learners/${body.id}/progress`, progress)
  await academy.grade({ learnerId: body.id, courseId, scoreGiven: 61.5 })
  const { html, text } = await browser.open(`/dashboard/courses/${courseId}`)
  expect(text).toMatch(/Ada Lovelace ada@b\.example In progress 43\.2% 20 Feb 2026 61\.5% Not passed/)
  expect(html).toContain('<rect class="doing" width="43.21%" height="100%">')
  expect(html).toContain('<time datetime="2026-02-20T23:30:00.000Z" title="20 Feb 2026, 23:30 UTC">')
  expect(html).toContain('<p class="text">One.\n\nTwo.</p>')
})

test('it is found by the id of the school; what there is not is refused', async ({ browser, courseId }) => {
  const { status, text } = await browser.open(`/dashboard/courses/${encodeURIComponent('ext:LOG/1')}`)
  expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('LOG/1') })
  expect(courseId).toMatch(/^crs_/)
  expect((await browser.open(`/dashboard/courses/${courseId}?status=lazy`)).status).toBe(400)
  for (const wrong of ['attention=tired', 'sort=shoes', `q=${'x'.repeat(201)}`]) {
    expect((await browser.open(`/dashboard/courses/${courseId}?${wrong}`)).status, wrong).toBe(400)
    expect((await browser.open(`/dashboard/courses/${courseId}/learners.csv?${wrong}`)).status).toBe(400)
  }
})

test('a learner sees their own', { tags: ['slow'] }, async ({
  academy,
  admin,
  courseId,
  learner,
  signIn,
}) => {
  const other = await academy.person('learner')
  for (const { id } of [learner, other]) {
    await admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage: 50 })
  }
  const browser = await signIn(learner)
  const { html, text } = await browser.open(`/dashboard/courses/${courseId}`)
  expect(text).toMatch(/My progress .* Logic \S+ In progress 50% 1 Mar 2026/)
  expect(html).not.toContain(other.email)
  expect(html).not.toContain(other.id)
})

/** Makes learners in one course whose names, grades and days sort differently. */
const crowded = test.extend('crowd', async ({ academy, admin, courseId }) => {
  await admin.put(`/v1/courses/${courseId}`, { assessmentCriteria: { moveOn: 'NotApplicable' } })
  const people = [
    ['Éva', 'Zöld', 'm@b.example', 30, '2026-02-27', 90],
    ['Bo', 'Abel', 'z@b.example', 100, '2026-02-01', 40],
    ['', '', 'caesar@b.example', 60, '2026-02-28', null],
  ] as const
  for (const [firstName, lastName, email, completionPercentage, day, grade] of people) {
    const { body } = await admin.post('/v1/users', {
      email,
      externalId: `${completionPercentage}00`,
      profile: firstName === '' ? {} : { firstName, lastName },
    })
    const lastAccessed = `${day}T10:00:00Z`
    await admin.put(`/v1/learners/${body.id}/progress`, { courseId, completionPercentage, lastAccessed })
    if (grade !== null) await academy.grade({ learnerId: body.id, courseId, scoreGiven: grade })
  }
  // Sorting ignores case.
  await admin.post('/v1/users', { email: 'never@b.example', profile: { firstName: 'Nina' } })
  await admin.post('/v1/enrollments', { courseId, userId: 'email:never@b.example' })
  // Removed and completed enrolments need no attention, regardless of the grade.
  for (const [email, status] of [
    ['gone@b.example', 'deleted'],
    ['done@b.example', 'completed'],
  ] as const) {
    const learnerId = (await admin.post('/v1/users', { email })).body.id
    const enrolled = await admin.post('/v1/enrollments', { courseId, userId: learnerId })
    await academy.grade({ learnerId, courseId, scoreGiven: 10 })
    await admin.put(`/v1/enrollments/${enrolled.body.id}`, { status })
  }
  return `/dashboard/courses/${courseId}`
})

const [eva, bo, caesar] = ['m@b.example', 'z@b.example', 'caesar@b.example']
const [never, done] = ['never@b.example', 'done@b.example']

crowded.for([
  ['', [bo, caesar, done, never, eva]],
  ['?sort=-name', [eva, never, done, caesar, bo]],
  ['?sort=completion', [done, never, eva, caesar, bo]],
  ['?sort=-completion', [bo, caesar, eva, done, never]],
  ['?sort=status', [done, never, eva, caesar, bo]],
  ['?sort=last_accessed', [bo, eva, caesar, done, never]],
  ['?sort=-last_accessed', [caesar, eva, bo, done, never]],
  ['?sort=grade', [done, bo, eva, caesar, never]],
  ['?sort=-grade', [eva, bo, done, caesar, never]],
  ['?q=z%C3%B6LD', [eva]],
  ['?q=%C3%A9va+z', [eva]],
  ['?q=CAESAR%40', [caesar]],
  ['?q=ext%3A6000', [caesar]],
  ['?q=3000', [eva]],
  ['?q=300', []],
  ['?q=b.example&status=in_progress', [caesar, eva]],
  ['?q=%25', []],
  ['?attention=not_passed', [bo, done]],
  ['?attention=stuck', []],
] as const)(
  'its table at %s has these learners in this order',
  async ([search, expected], { browser, crowd }) => {
    const { html, text } = await browser.open(crowd + search)
    expect(learnersIn(html)).toEqual(expected)
    if (expected.length === 0) return expect(text).toContain('No learners match.')
    const [, link = ''] = /href="([^"]+learners\.csv[^"]*)"/.exec(html) ?? []
    const file = await browser.open(link.replaceAll('&amp;', '&'))
    expect(fileOf(file.html).map(({ email }) => email)).toEqual(expected)
  },
)

/** Returns the rows of a downloaded file. */
function fileOf(csv: string): Record<string, string>[] {
  return parse(csv, { columns: true, bom: true })
}

crowded(
  'a downloaded file has the rows and the guard of every export',
  async ({ admin, browser, courseId, crowd }) => {
    await admin.post('/v1/users', { email: '=cmd@b.example', profile: { firstName: '=1+1' } })
    await admin.post('/v1/enrollments', { courseId, userId: 'email:=cmd@b.example' })
    const { headers, html } = await browser.open(`${crowd}/learners.csv`)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toBe('attachment; filename="learners_logic.csv"')
    expect(headers.get('cache-control')).toBe('no-store')
    const exported = await admin.get(`/v1/analytics/learners?format=csv&course_id=${courseId}`)
    const sorted = (text: string) => text.replace('\ufeff', '').split('\r\n').sort()
    expect(sorted(html)).toEqual(sorted(exported.text))
    expect(fileOf(html).map(({ firstName }) => firstName)).toContain("'=1+1")
  },
)

test('without graded work there is no verdict or grade', async ({ admin, courseId, learner, signIn }) => {
  await admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage: 100 })
  const staff = await signIn(admin)
  const own = await signIn(learner)
  const looked = [
    await staff.open('/dashboard'),
    await staff.open(`/dashboard/courses/${courseId}`),
    await staff.open(`/dashboard/learners/${learner.id}`),
    await own.open('/dashboard'),
    await own.open(`/dashboard/courses/${courseId}`),
  ]
  for (const { html, url } of looked)
    expect(html.slice(html.indexOf('<main')), url).not.toMatch(/pass|grade/i)
})

test('a course without learners says what to do next', async ({ admin, analyst, browser, signIn }) => {
  const { body } = await admin.post('/v1/courses', { title: 'Empty' })
  const [path, asks] = [`/dashboard/courses/${body.id}`, 'No learners enrolled yet.']
  const commands = async () =>
    [...(await browser.open(path)).html.matchAll(/<code class="code">([^<]+)</g)].map(([, text]) => text)
  const enrol = `learnctl enrollments create --course ${body.id} --user email:ada@example.org`
  expect(await commands()).toEqual([
    `learnctl lessons create --course ${body.id} --title &quot;First lesson&quot;`,
    `learnctl courses publish ${body.id}`,
    enrol,
  ])
  await admin.post('/v1/lessons', { courseId: body.id, title: 'One' })
  await admin.put(`/v1/courses/${body.id}`, { status: 'published' })
  expect(await commands()).toEqual([enrol])
  expect((await (await signIn(analyst)).open(path)).text).toMatch(new RegExp(`${asks}$`))
})

test('a learner has a page with the way to each course', async ({ academy, admin, browser, courseId }) => {
  const { body } = await admin.post('/v1/users', { email: 'ada@b.example', profile: { firstName: 'Ada' } })
  await admin.put(`/v1/learners/${body.id}/progress`, { courseId, completionPercentage: 40 })
  await academy.grade({ learnerId: body.id, courseId, scoreGiven: 75 })
  const course = await browser.open(`/dashboard/courses/${courseId}`)
  const [, link = ''] = /<a href="([^"]+)">Ada<\/a>/.exec(course.html) ?? []
  const { text, html } = await browser.open(link)
  expect(text).toMatch(/Ada ada@b\.example · learner · usr_\w+ Courses Grades History Courses 1/)
  expect(text).toMatch(
    /Logic \S+ In progress 40% 1 Mar 2026 75% Passed Download CSV XLSX .* Calendar addresses$/,
  )
  expect(html).toContain(`<a href="/dashboard/courses/${courseId}">Logic</a>`)
  expect((await browser.open('/dashboard/learners/usr_none')).status).toBe(404)
})

test('its learners can be narrowed to the members of a group, also in the file and the grades', {
  tags: ['slow'],
}, async ({ academy, admin, browser, courseId, learner }) => {
  const other = await academy.person('learner')
  for (const { id: userId } of [learner, other]) await admin.post('/v1/enrollments', { courseId, userId })
  const page = `/dashboard/courses/${courseId}`
  expect((await browser.open(page)).html).not.toContain('name="group"')
  const { id } = (await admin.post('/v1/groups', { name: 'Class 5b' })).body
  await admin.post('/v1/groups', { name: 'Section 2', courseId })
  await admin.put(`/v1/groups/${id}/members/${learner.id}`)
  const all = await browser.open(page)
  expect(learnersIn(all.html)).toHaveLength(2)
  expect(all.html).toMatch(/<option[^>]*>Section 2<\/option><option[^>]*>Class 5b<\/option>/)
  for (const path of [page, `${page}/grades`]) {
    const { html } = await browser.open(`${path}?group=${id}`)
    expect(learnersIn(html), path).toEqual([learner.email])
    expect(html).toContain(`<option value="${id}" selected="">`)
  }
  // Groups of other courses do not take the places of those of no course.
  const { id: otherCourse } = (await admin.post('/v1/courses', { title: 'Other' })).body
  const items = Array.from({ length: 120 }, (_, at) => ({
    name: `A ${at}`,
    externalId: `a${at}`,
    courseId: otherCourse,
  }))
  await admin.post('/v1/groups/batch', { items })
  expect((await browser.open(page)).html).toContain('Class 5b</option>')
  await admin.post('/v1/groups/batch', {
    items: items.map(({ externalId, ...item }) => ({
      ...item,
      externalId: `b${externalId}`,
      courseId: null,
    })),
  })
  expect((await browser.open(page)).html).not.toContain('Class 5b</option>')
  expect((await browser.open(`${page}?group=${id}`)).html).toContain(
    `<option value="${id}" selected="">Class 5b</option>`,
  )
  const { html: file } = await browser.open(`${page}/learners.csv?group=${id}`)
  expect(parse(file, { bom: true })).toHaveLength(2)
  expect((await browser.open(`${page}?group=grp_none`)).status).toBe(404)
})
