import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { taughtCourses } from '../../../src/server/access/sight.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { test as base, onPostgres, type Person } from '../../helpers/academy.ts'

const path = '/v1/analytics/learners'

/**
 * Makes a course of each title and a learner for each address, in the courses named; Anna has progress and a grade in all
 * of hers.
 */
const test = base.extend('school', async ({ academy, admin }) => {
  const courses: Record<string, string> = {}
  for (const [title, difficulty] of [
    ['Logic', 'beginner'],
    ['Music', 'expert'],
    ['Zoology', 'expert'],
  ] as const) {
    const { body } = await admin.post('/v1/courses', {
      title,
      difficulty,
      externalId: title,
      status: 'published',
    })
    courses[title] = body.id
  }
  const learners: Record<string, string> = {}
  for (const [name, ...titles] of [
    ['anna', 'Logic', 'Music', 'Zoology'],
    ['ben', 'Zoology'],
    ['cleo', 'Music'],
  ]) {
    const user = { email: `${name}@school.example`, externalId: `x-${name}` }
    const { id } = (await admin.post('/v1/users', user)).body
    learners[name ?? ''] = id
    for (const [index, title] of titles.entries()) {
      const courseId = courses[title] ?? ''
      await admin.post('/v1/enrollments', { courseId, userId: id })
      if (name !== 'anna') continue
      await admin.put(`/v1/learners/${id}/progress`, { courseId, completionPercentage: 30 * (index + 1) })
      await academy.grade({ learnerId: id, courseId, scoreGiven: 60 + 10 * index })
    }
  }
  const teach = (userId: string, title: string) =>
    admin.post('/v1/enrollments', { courseId: courses[title], userId, role: 'instructor' })
  return { courses, learners, teach }
})

async function titlesFor(person: Person): Promise<string[]> {
  const { data } = (await person.get('/v1/courses?sort=title')).body
  return data.map(({ title }: { title: string }) => title)
}

test('instructors teach what they created, and where their enrolment as instructor counts', {
  tags: ['slow'],
}, async ({ admin, instructor, school }) => {
  expect(await titlesFor(instructor)).toEqual([])
  const made = await instructor.post('/v1/courses', { title: 'Algebra' })
  expect(made.body.createdBy).toBe(instructor.id)
  const { body: enrolment } = await school.teach(instructor.id, 'Music')
  await admin.post('/v1/enrollments', { courseId: school.courses['Zoology'], userId: instructor.id })
  for (const [status, titles] of [
    ['active', ['Algebra', 'Music']],
    ['completed', ['Algebra', 'Music']],
    ['inactive', ['Algebra']],
    ['active', ['Algebra', 'Music']],
    ['deleted', ['Algebra']],
  ] as const) {
    await admin.put(`/v1/enrollments/${enrolment.id}`, { status })
    expect(await titlesFor(instructor), status).toEqual(titles)
  }
})

test.for(['inactive', 'deleted'] as const)(
  'an enrolment as instructor that is %s takes a course from the one who created it, until it counts again',
  async (status, { admin, instructor, school: { learners } }) => {
    const { body: course } = await instructor.post('/v1/courses', { title: 'Algebra' })
    const { body: lesson } = await instructor.post('/v1/lessons', { courseId: course.id, title: 'Sets' })
    const { body: group } = await instructor.post('/v1/groups', { name: 'Section', courseId: course.id })
    const enrol = (name: string, more: object = {}) =>
      admin.post('/v1/enrollments', { courseId: course.id, userId: learners[name], ...more })
    await enrol('anna')
    const { body: own } = await enrol('', { userId: instructor.id, role: 'instructor', status: 'active' })
    const pages = [
      `/v1/courses/${course.id}`,
      `/v1/lessons/${lesson.id}`,
      `/v1/groups/${group.id}`,
      `/v1/gradebooks/${course.id}`,
      `/v1/users/${learners['anna']}`,
      `/v1/learners/${learners['anna']}/progress`,
    ]
    const ask = () => Promise.all(pages.map(async (page) => (await instructor.get(page)).status))
    expect(await ask()).toEqual(pages.map(() => 200))
    await admin.put(`/v1/enrollments/${own.id}`, { status })
    await enrol('ben')
    expect(await ask()).toEqual(pages.map(() => 404))
    expect((await instructor.get(`/v1/users/${learners['ben']}`)).status).toBe(404)
    expect(await titlesFor(instructor)).toEqual([])
    for (const answer of [
      await instructor.put(`/v1/courses/${course.id}`, { title: 'Mine' }),
      await instructor.post('/v1/lessons', { courseId: course.id, title: 'Mine' }),
      await instructor.put(`/v1/enrollments/${own.id}`, { status: 'active' }),
      await instructor.post('/v1/enrollments', {
        ...{ courseId: course.id, userId: instructor.id, role: 'instructor' },
      }),
    ])
      expect(answer.status).toBe(404)
    await admin.put(`/v1/enrollments/${own.id}`, { status: 'active' })
    expect(await ask()).toEqual(pages.map(() => 200))
  },
)

test('a deleted course is hidden from its former instructor', async ({ admin, instructor }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Algebra' })
  const seen = async () => (await instructor.get('/v1/deleted-courses')).body.data.length
  const restored = (person: Person) => person.post(`/v1/deleted-courses/${course.id}/restore`)
  await admin.delete(`/v1/courses/${course.id}`)
  expect(await seen()).toBe(1)
  await restored(admin)
  const ended = { courseId: course.id, userId: instructor.id, role: 'instructor', status: 'inactive' }
  expect((await admin.post('/v1/enrollments', ended)).status).toBe(201)
  await admin.delete(`/v1/courses/${course.id}?force=true`)
  expect(await seen()).toBe(0)
  expect((await restored(instructor)).status).toBe(404)
})

test('an instructor names people whom they do not see by external id only if a setting allows it', {
  tags: ['slow'],
}, async ({ admin, instructor, school: { learners } }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Algebra' })
  const { body: other } = await instructor.post('/v1/courses', { title: 'Geometry' })
  const enrol = (courseId: string, userId: string) => instructor.post('/v1/enrollments', { courseId, userId })
  const ben = { courseId: course.id, userId: 'ext:x-ben' }
  const hidden = await enrol(course.id, 'ext:x-ben')
  const missing = await enrol(course.id, 'ext:x-nobody')
  expect(hidden.status).toBe(404)
  expect(hidden.body.detail.replace('x-ben', 'x-nobody')).toBe(missing.body.detail)
  expect((await enrol(course.id, 'x-ben')).status).toBe(404)
  const { body: batch } = await instructor.post('/v1/enrollments/batch', { items: [ben], onExists: 'update' })
  expect(batch).toMatchObject({ results: [{ status: 404 }] })
  expect(JSON.stringify([hidden.body, batch])).not.toContain('ben@school.example')

  expect((await enrol(course.id, 'email:ben@school.example')).status).toBe(201)
  expect((await enrol(other.id, 'ext:x-ben')).status).toBe(201)
  await admin.put('/v1/settings', { instructorEnrollment: 'anyone' })
  expect((await enrol(course.id, 'ext:x-cleo')).body).toMatchObject({ userId: learners['cleo'] })
})

test('a person made by an instructor is seen while enrolled', async ({ instructor }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Algebra' })
  const { body: made } = await instructor.post('/v1/users', { email: 'dora@school.example' })
  expect((await instructor.get(`/v1/users/${made.id}`)).status).toBe(404)
  const { body } = await instructor.post('/v1/enrollments', { courseId: course.id, userId: made.id })
  expect((await instructor.get(`/v1/users/${made.id}`)).status).toBe(200)
  expect((await instructor.get('/v1/users')).body.data).toHaveLength(2)
  await instructor.delete(`/v1/enrollments/${body.id}`)
  expect((await instructor.get(`/v1/users/${made.id}`)).status).toBe(404)
  const again = await instructor.post('/v1/enrollments', {
    courseId: course.id,
    userId: 'dora@school.example',
  })
  expect(again).toMatchObject({ status: 201, body: { id: body.id } })
})

test('what is taken is reported to instructors, and by whom only if they see it', async ({
  instructor,
  school: { courses, learners, teach },
}) => {
  const ask = async () => [
    (await instructor.post('/v1/users', { email: 'anna@school.example' })).body,
    (await instructor.post('/v1/courses', { title: 'Other', externalId: 'Music' })).body,
  ]
  for (const body of await ask()) {
    expect(body).toMatchObject({ code: 'duplicate', detail: expect.stringMatching(/already exists\.$/) })
    expect(body).not.toHaveProperty('id')
  }
  await teach(instructor.id, 'Music')
  expect(await ask()).toMatchObject([{ id: learners['anna'] }, { id: courses['Music'] }])
})

test.for(['fail', 'skip', 'update'])(
  'a batch of users with onExists %s tells an instructor nothing of those whom they do not see',
  async (onExists, { admin, analyst, instructor, school: { learners, teach } }) => {
    await admin.put(`/v1/users/${analyst.id}`, { externalId: 'x-staff', email: 'staff@school.example' })
    const items = [
      { externalId: 'x-anna', email: 'q@q.example' },
      { externalId: 'x-q', email: 'ben@school.example' },
      { email: 'CLEO@school.example' },
      { externalId: 'x-staff', email: 'r@q.example' },
    ]
    const ask = async () => instructor.post('/v1/users/batch', { onExists, items })
    const hidden = await ask()
    for (const result of hidden.body.results) {
      expect(result).toMatchObject({ status: 409, code: 'duplicate' })
      expect(result).not.toHaveProperty('id')
    }
    for (const text of [...Object.values(learners), analyst.id, 'anna@', 'staff@'])
      expect(hidden.text).not.toContain(text)
    await teach(instructor.id, 'Music')
    const [seen] = (await ask()).body.results
    expect(seen).toMatchObject(
      {
        fail: { status: 409, id: learners['anna'] },
        skip: { status: 200, id: learners['anna'], code: 'skipped' },
        update: { status: 403, detail: 'Role instructor cannot change user anna@school.example.' },
      }[onExists] ?? {},
    )
  },
)

const filters = [
  '',
  '&include_total=true',
  '&status=in_progress,completed',
  '&difficulty=expert',
  '&start_date=2026-01-01',
  '&start_date=2026-01-01&include_not_started=true',
  '&enrollment_status=active',
  '&enrollment_status=active&start_date=2026-01-01',
  '&learner_id=x-anna',
]

test.for(['json', 'csv', 'ndjson'])(
  'reports as %s and their summaries are about the courses that an instructor teaches, whatever the filter',
  async (format, { admin, instructor, school }) => {
    const nothing = await instructor.get(`${path}?format=${format}`)
    expect(nothing.text).not.toContain('@school.example')
    if (format === 'json')
      expect(nothing.body).toMatchObject({ data: [], summary: { learners: 0, byCourse: [] } })
    await school.teach(instructor.id, 'Logic')
    await school.teach(instructor.id, 'Music')
    for (const filter of filters) {
      const own = await instructor.get(`${path}?format=${format}${filter}`)
      const same = await admin.get(`${path}?format=${format}${filter}&course_id=ext:Logic,ext:Music`)
      expect(own.text, filter).toBe(same.text)
      expect(own.text).toContain('anna@school.example')
      expect(own.text).not.toContain('Zoology')
    }
  },
)

test('lists and totals are of the courses one teaches', { tags: ['slow'] }, async ({
  instructor,
  school,
}) => {
  await school.teach(instructor.id, 'Logic')
  await school.teach(instructor.id, 'Music')
  const emails = async (path: string) => {
    const { body } = await instructor.get(path)
    return body.data.map((one: { userEmail?: string; email?: string }) => one.userEmail ?? one.email)
  }
  const [anna, cleo] = ['anna@school.example', 'cleo@school.example']
  expect((await instructor.get('/v1/enrollments?include_total=true')).body.total).toBe(5)
  expect(await emails('/v1/enrollments?role=learner&sort=createdAt')).toEqual([anna, anna, cleo])
  expect(await emails('/v1/users?sort=email&role=learner')).toEqual([anna, cleo])
  expect((await instructor.get('/v1/users?include_total=true')).body.total).toBe(3)
  expect(await emails('/v1/progress')).toEqual([anna, anna])
  expect(await emails(`/v1/learners/ext:x-anna/progress`)).toEqual([anna, anna])
  expect(await emails('/v1/progress/history')).toEqual([anna, anna])
  expect(await emails('/v1/grades?sort=createdAt')).toEqual([anna, anna])
  for (const { courseTitle } of (await instructor.get('/v1/grades')).body.data)
    expect(courseTitle).not.toBe('Zoology')
})

test('a lesson moves to no course of other instructors', async ({ instructor, school: { courses } }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Algebra' })
  const { body: lesson } = await instructor.post('/v1/lessons', { courseId: course.id, title: 'Sets' })
  for (const [courseId, status] of [
    [courses['Music'], 404],
    ['ext:Music', 404],
    [course.id, 200],
  ] as const) {
    expect((await instructor.put(`/v1/lessons/${lesson.id}`, { courseId })).status).toBe(status)
  }
})

test('instructors read groups without a course as far as members are in their courses, and change none', {
  tags: ['slow'],
}, async ({ admin, instructor, school }) => {
  const { body: cohort } = await admin.post('/v1/groups', { name: '5b', externalId: '5b' })
  const { body: section } = await admin.post('/v1/groups', { name: 'Section 1', courseId: 'ext:Zoology' })
  const add = (groupId: string, name: string) => admin.put(`/v1/groups/${groupId}/members/ext:x-${name}`)
  for (const name of ['anna', 'ben', 'cleo']) await add(section.id, name)
  await add(cohort.id, 'ben')
  await school.teach(instructor.id, 'Music')
  expect((await instructor.get('/v1/groups')).body.data).toEqual([])
  expect((await instructor.get('/v1/memberships')).body.data).toEqual([])
  expect((await instructor.get(`/v1/groups/${cohort.id}`)).status).toBe(404)
  await add(cohort.id, 'anna')
  expect((await instructor.get('/v1/groups')).body.data).toMatchObject([{ name: '5b' }])
  for (const path of [`/v1/groups/${cohort.id}/members`, '/v1/memberships', '/v1/users?group_id=ext:5b'])
    expect((await instructor.get(path)).body.data, path).toHaveLength(1)
  for (const answer of [
    await instructor.put('/v1/groups/ext:5b', { name: '6b' }),
    await instructor.delete('/v1/groups/ext:5b'),
    await instructor.put('/v1/groups/ext:5b/members/ext:x-cleo'),
    await instructor.delete('/v1/groups/ext:5b/members/ext:x-anna'),
    await instructor.post('/v1/groups', { name: '6b' }),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  }
})

test('members of groups of a course are shown to its instructor', async ({ admin, instructor, school }) => {
  await school.teach(instructor.id, 'Music')
  const { body: section } = await instructor.post('/v1/groups', { name: 'Section 1', courseId: 'ext:Music' })
  await admin.put(`/v1/groups/${section.id}/members/ext:x-ben`)
  await instructor.put(`/v1/groups/${section.id}/members/ext:x-anna`)
  expect((await instructor.put(`/v1/groups/${section.id}/members/ext:x-ben`)).status).toBe(404)
  expect((await instructor.get(`/v1/groups/${section.id}/members`)).body.data).toHaveLength(2)
})

test('the setting applies from the next request on, to reads and writes, and is audited', async ({
  academy,
  admin,
  instructor,
  school: { courses },
}) => {
  const course = `/v1/courses/${courses['Music']}`
  expect((await admin.get('/v1/settings')).body).toEqual({
    ...{ instructorAccess: 'taught', instructorEnrollment: 'known', version: 1, updatedAt: null },
  })
  expect((await instructor.put(course, { title: 'Song' })).status).toBe(404)
  await admin.put('/v1/settings', { instructorAccess: 'all' })
  expect((await instructor.put(course, { title: 'Song' })).status).toBe(200)
  expect((await instructor.get('/v1/users')).body.data).toHaveLength(6)
  // As another server on the same database does.
  await academy.database.run(sql`delete from settings where name = 'instructor_access'`)
  expect((await instructor.put(course, { title: 'Dance' })).status).toBe(404)
  expect((await admin.get('/v1/audit?action=settings.updated')).body.data).toMatchObject([
    { before: { instructorAccess: 'taught' }, after: { instructorAccess: 'all' } },
  ])
})

test('settings are changed by admins alone, at the version that they know', async ({ admin, academy }) => {
  const update = (version: number) =>
    admin.put('/v1/settings', { instructorAccess: 'all' }, { 'if-match': `"${version}"` })
  expect((await update(1)).body).toMatchObject({ instructorAccess: 'all', version: 2 })
  expect((await update(1)).status).toBe(412)
  expect((await update(2)).headers.get('unchanged')).toBe('true')
  expect((await admin.put('/v1/settings', { instructorAccess: null })).body).toMatchObject({
    ...{ instructorAccess: 'taught', version: 3 },
  })
  expect((await admin.put('/v1/settings', { instructorAccess: 'some' })).status).toBe(422)
  const writer = await academy.person('admin', ['read', 'write'])
  expect((await writer.get('/v1/settings')).body.code).toBe('insufficient_scope')
})

test.skipIf(onPostgres)(
  'the courses of an instructor are found by their user',
  async ({ academy: { database } }) => {
    const seer = { principal: { sees: 'taught', userId: 'usr_1' } } as const
    for (const trash of ['', 'deleted_'] as const) {
      const plan = await database.all<Row & { detail: string }>(
        sql`explain query plan ${taughtCourses(seer, trash)}`,
      )
      const searches = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/.test(detail))
      expect(searches).toEqual([
        expect.stringMatching(/^SEARCH \w*enrollments USING .*\(user_id=\?\)$/),
        expect.stringMatching(/^SEARCH made USING .*\(created_by=\?\)$/),
        expect.stringMatching(/^SEARCH i USING .*\(user_id=\? AND course_id=\?.*\)$/),
      ])
    }
  },
)
