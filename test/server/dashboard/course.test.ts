import { expect } from 'vitest'
import { test as base, roles } from './signed-in.ts'

const test = base.extend('courseId', async ({ admin }) => {
  const course = { title: 'Logic', status: 'published', externalId: 'LOG/1', description: 'One.\n\nTwo.' }
  return (await admin.post('/v1/courses', course)).body.id as string
})

/** The learners on a page, by e-mail address. */
function learnersIn(html: string): string[] {
  return [...html.matchAll(/<th role="rowheader"[^>]*>.*?([\w.-]+@[\w.-]+)/g)].map(([, email = '']) => email)
}

test('its learners have name, address, status, completion, day and grade', async ({
  academy,
  admin,
  courseId,
  signIn,
}) => {
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const { body } = await admin.post('/v1/users', { email: 'ada@b.example', profile })
  const progress = { courseId, completionPercentage: 43.21, lastAccessed: '2026-02-20T23:30:00Z' }
  await admin.put(`/v1/learners/${body.id}/progress`, progress)
  academy.grade({ learnerId: body.id, courseId, scoreGiven: 61.5 })
  const { html, text } = await (await signIn(admin)).open(`/dashboard/courses/${courseId}`)
  expect(text).toMatch(/Ada Lovelace ada@b\.example In progress 43\.2 % 20 Feb 2026 61\.5 % not passed/)
  expect(html).toContain('<rect class="doing" width="43.21%" height="100%">')
  expect(html).toContain('<time datetime="2026-02-20T23:30:00.000Z" title="20 Feb 2026, 23:30 UTC">')
  expect(html).toContain('<p class="text">One.\n\nTwo.</p>')
})

test('an enrolment that is not active says so', async ({ admin, courseId, learner, signIn }) => {
  await admin.post('/v1/enrollments', { courseId, userId: learner.id, status: 'inactive' })
  const { text } = await (await signIn(admin)).open(`/dashboard/courses/${courseId}`)
  expect(text).toContain(`${learner.email} Not started enrolment inactive 0`)
})

test('it is found by the id of the school, too', async ({ admin, courseId, signIn }) => {
  const browser = await signIn(admin)
  const { status, text } = await browser.open(`/dashboard/courses/${encodeURIComponent('ext:LOG/1')}`)
  expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('LOG/1') })
  expect(courseId).toMatch(/^crs_/)
})

test('many learners come page by page, each of them once, whatever the filter', async ({
  admin,
  courseId,
  signIn,
}) => {
  const emails = Array.from({ length: 60 }, (_, index) => `l${String(index).padStart(2, '0')}@b.example`)
  await admin.post('/v1/users/batch', { items: emails.map((email) => ({ email })) })
  await admin.post('/v1/progress/batch', {
    items: emails.map((email, index) => ({
      learnerId: `email:${email}`,
      courseId,
      completionPercentage: index % 2 === 0 ? 100 : 50,
    })),
  })
  const browser = await signIn(admin)
  const start = `/dashboard/courses/${courseId}`
  const wanted: Readonly<Record<string, readonly string[]>> = {
    [start]: emails,
    [`${start}?status=completed`]: emails.filter((_, index) => index % 2 === 0),
    [`${start}?status=not_started`]: [],
  }
  for (const [first, expected] of Object.entries(wanted)) {
    const seen: string[] = []
    for (let path: string | undefined = first; path; ) {
      const { html }: { html: string } = await browser.open(path)
      seen.push(...learnersIn(html))
      path = /<a rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(seen).toEqual(expected)
  }
  const { html } = await browser.open(`${start}?status=completed`)
  expect(html).toMatch(/status=completed" aria-current="true">Completed <span>30<\/span>/)
  expect(html).toContain('In progress <span>30</span>')
})

test('a filter or a cursor that there is not is refused', async ({ admin, courseId, signIn }) => {
  const browser = await signIn(admin)
  expect((await browser.open(`/dashboard/courses/${courseId}?status=lazy`)).status).toBe(400)
  expect((await browser.open(`/dashboard/courses/${courseId}?cursor=x`)).status).toBe(400)
})

test('to a learner it shows their own progress, and nobody else', async ({
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
  expect(text).toMatch(/My progress .* Logic In progress 50 % 1 Mar 2026 –/)
  expect(html).not.toContain(other.email)
  expect(html).not.toContain(other.id)
})

test('to a learner who does not take it, it says so', async ({ courseId, learner, signIn }) => {
  const { text } = await (await signIn(learner)).open(`/dashboard/courses/${courseId}`)
  expect(text).toContain('You are not enrolled in this course.')
})

test.for(roles)('who is %s finds a draft as the API has it', async (role, { academy, admin, signIn }) => {
  const { id } = (await admin.post('/v1/courses', { title: 'Secret plans' })).body
  const browser = await signIn(await academy.person(role))
  const { status, html } = await browser.open(`/dashboard/courses/${id}`)
  expect(status).toBe(role === 'learner' ? 404 : 200)
  expect(html.includes('Secret plans')).toBe(role !== 'learner')
})

test.for(roles)('who is %s is told when there is no such course', async (role, { academy, signIn }) => {
  const browser = await signIn(await academy.person(role))
  const { status, text } = await browser.open('/dashboard/courses/crs_none')
  expect({ status, text }).toMatchObject({
    status: 404,
    text: expect.stringContaining('There is no course crs_none.'),
  })
  expect(text).toContain('Back to the overview')
})
