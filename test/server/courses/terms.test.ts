import { expect } from 'vitest'
import { hour, type Person, start, test } from '../../helpers/academy.ts'

const spring = { externalId: '2027S', name: 'Spring 2027', startDate: '2027-02-01', endDate: '2027-07-31' }

async function idOf(admin: Person, term: object): Promise<string> {
  return (await admin.post('/v1/terms', term)).body.id
}

test('a term needs a name only; everything else has a default', async ({ admin }) => {
  const made = await admin.post('/v1/terms', { name: '  Spring 2027  ' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/v1/terms/${made.body.id}`)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^trm_[0-9a-z]+$/),
    externalId: null,
    name: 'Spring 2027',
    startDate: null,
    endDate: null,
    managedBy: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
  expect((await admin.get(`/v1/terms/${made.body.id}`)).body).toEqual(made.body)
})

test('the days of a term exist, and are in order', async ({ admin }) => {
  const faultsOf = async (term: object) => {
    const { status, body } = await admin.post('/v1/terms', { name: 'Spring', ...term })
    return [status, body.errors?.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)]
  }
  expect(await faultsOf({ startDate: '2027-02-30' })).toEqual([422, ['#/startDate invalid_day']])
  expect(await faultsOf({ endDate: '2027-02-01T00:00:00Z' })).toEqual([422, ['#/endDate invalid_day']])
  expect(await faultsOf({ startDate: '2027-08-01', endDate: '2027-07-31' })).toEqual([
    422,
    ['#/startDate out_of_order'],
  ])
  expect(await faultsOf({ startDate: '2027-08-01', endDate: '2027-08-01' })).toEqual([201, undefined])
  await admin.post('/v1/terms', spring)
  const changed = await admin.put('/v1/terms/ext:2027S', { startDate: '2027-09-01' })
  expect([changed.status, changed.body.errors[0].code]).toEqual([422, 'out_of_order'])
})

test('a change of a term is a version; null resets a day', async ({ admin, clock }) => {
  const id = await idOf(admin, spring)
  clock.advance(hour)
  const changed = await admin.put(`/v1/terms/${id}`, { name: 'Spring', startDate: null })
  expect(changed.body).toMatchObject({ name: 'Spring', startDate: null, endDate: '2027-07-31', version: 2 })
  expect((await admin.put('/v1/terms/2027S', { name: 'Spring' })).body).toEqual(changed.body)
  expect((await admin.put(`/v1/terms/${id}`, { name: 'S' }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.get('/v1/audit?noun=term')).body.data).toMatchObject([
    {
      action: 'term.updated',
      subjectName: 'Spring',
      before: { startDate: '2027-02-01' },
      after: { startDate: null },
    },
    { action: 'term.created', after: { name: 'Spring 2027' } },
  ])
})

test('an external id is unique among terms, and matches them in batches', async ({ admin }) => {
  const id = await idOf(admin, spring)
  const again = await admin.post('/v1/terms', spring)
  expect([again.status, again.body]).toMatchObject([409, { code: 'duplicate', id }])
  expect(again.body.detail).toBe(`A term with externalId 2027S already exists: ${id}.`)
  const items = [
    { externalId: '2027S', name: 'Spring term' },
    { externalId: '2027A', name: 'Autumn term' },
    { name: '' },
  ]
  const { body } = await admin.post('/v1/terms/batch', { items, onExists: 'update' })
  expect(body.results).toMatchObject([{ status: 200 }, { status: 201 }, { status: 422 }])
  expect((await admin.get('/v1/terms/ext:2027S')).body).toMatchObject({ name: 'Spring term', version: 2 })
})

test('terms are listed by name, first day, external id and manager', async ({ admin, learner }) => {
  await idOf(admin, { name: 'Ünder', startDate: '2026-09-01', managedBy: 'sis' })
  await idOf(admin, { name: 'Autumn', startDate: '2025-09-01' })
  await idOf(admin, spring)
  const namesIn = async (query: string) =>
    (await learner.get(`/v1/terms?${query}`)).body.data.map(({ name }: { name: string }) => name)
  expect(await namesIn('sort=name')).toEqual(['Autumn', 'Spring 2027', 'Ünder'])
  expect(await namesIn('sort=-startDate')).toEqual(['Spring 2027', 'Ünder', 'Autumn'])
  expect(await namesIn('external_id=2027S')).toEqual(['Spring 2027'])
  expect(await namesIn('managed_by=sis')).toEqual(['Ünder'])
  expect(await namesIn(`name=${encodeURIComponent('Ünder')}`)).toEqual(['Ünder'])
  expect(await namesIn('name=Under')).toEqual([])
})

test('a course belongs to a term, and shows its name', async ({ admin, instructor }) => {
  const id = await idOf(admin, spring)
  const { body: course } = await instructor.post('/v1/courses', { title: 'Logic', termId: 'ext:2027S' })
  const names = { termId: id, termName: 'Spring 2027', termExternalId: '2027S' }
  expect(course).toMatchObject(names)
  await admin.put(`/v1/terms/${id}`, { name: 'Spring' })
  const { body: shown, headers } = await instructor.get(`/v1/courses/${course.id}`)
  expect([shown, headers.get('etag')]).toMatchObject([{ ...names, termName: 'Spring', version: 1 }, '"1"'])
  const same = await instructor.put(`/v1/courses/${course.id}`, { termId: '2027S', termName: 'Spring' })
  expect(same.body).toMatchObject({ version: 1, modifiedAttributes: [] })
  const left = await instructor.put(`/v1/courses/${course.id}`, { termId: null })
  expect(left.body).toMatchObject({ version: 2, modifiedAttributes: ['termId'], course: { termName: null } })
  const unknown = await instructor.put(`/v1/courses/${course.id}`, { termId: 'ext:1066' })
  expect([unknown.status, unknown.body.errors]).toMatchObject([404, [{ pointer: '#/termId' }]])
})

test('a term with courses cannot be deleted, unless they were', async ({ admin }) => {
  const id = await idOf(admin, spring)
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', termId: id })
  const refused = await admin.delete(`/v1/terms/${id}`)
  expect([refused.status, refused.body]).toMatchObject([
    409,
    { code: 'has_courses', detail: 'Term Spring 2027 has 1 course; move it to another term first.' },
  ])
  await admin.put(`/v1/courses/${course.id}`, { termId: null })
  expect((await admin.delete(`/v1/terms/${id}`)).status).toBe(204)
  expect((await admin.get(`/v1/terms/${id}`)).status).toBe(404)
  const other = await idOf(admin, spring)
  const { body: deleted } = await admin.post('/v1/courses', { title: 'Logic', termId: other })
  await admin.delete(`/v1/courses/${deleted.id}`)
  expect((await admin.delete(`/v1/terms/${other}`)).status).toBe(204)
  const restored = await admin.post(`/v1/deleted-courses/${deleted.id}/restore`)
  expect(restored.body).toMatchObject({ termId: null, version: 2 })
  expect((await admin.get(`/v1/courses/${deleted.id}/versions/2`)).body).toMatchObject({
    modifiedAttributes: ['termId'],
    attributes: { termId: null },
  })
})

test('an earlier version brings its term back, unless it was deleted since', async ({ admin }) => {
  const [first, second] = [await idOf(admin, spring), await idOf(admin, { name: 'Autumn' })]
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', termId: first })
  const path = `/v1/courses/${course.id}`
  await admin.put(path, { termId: second })
  expect((await admin.get(`${path}/versions/1/diff`)).body.changes).toEqual([
    { pointer: '/termId', from: first, to: second },
  ])
  expect((await admin.post(`${path}/versions/1/restore`)).body.course.termId).toBe(first)
  await admin.put(path, { termId: second })
  await admin.delete(`/v1/terms/${first}`)
  expect((await admin.post(`${path}/versions/1/restore`)).body.course.termId).toBe(second)
})

test('courses, enrolments and reports are limited to the courses of terms', async ({ admin, learner }) => {
  const terms = [await idOf(admin, spring), await idOf(admin, { name: 'Autumn', externalId: '2027A' })]
  for (const [index, termId] of [...terms, null].entries()) {
    const { body } = await admin.post('/v1/courses', {
      title: `Course ${index}`,
      termId,
      status: 'published',
    })
    await admin.put(`/v1/learners/${learner.id}/progress`, {
      courseId: body.id,
      completionPercentage: 10 * index,
    })
  }
  const listed = async (path: string, field: string) =>
    (await admin.get(path)).body.data.map((item: Record<string, unknown>) => item[field]).sort()
  expect(await listed('/v1/courses?term_id=ext:2027S', 'title')).toEqual(['Course 0'])
  expect(await listed('/v1/courses?term_id=ext:2027S,ext:2027A', 'title')).toEqual(['Course 0', 'Course 1'])
  expect(await listed(`/v1/enrollments?term_id=${terms[1]}`, 'courseTitle')).toEqual(['Course 1'])
  expect(await listed(`/v1/enrollments?term_id=${terms}&sort=enrolledAt`, 'courseTitle')).toEqual([
    'Course 0',
    'Course 1',
  ])
  const report = (await admin.get('/v1/analytics/learners?term_id=ext:2027A&include_total=true')).body
  expect(report).toMatchObject({
    data: [{ courseTitle: 'Course 1', completionPercentage: 10 }],
    total: 1,
    summary: { learners: 1, enrollments: 1, byCourse: [{ courseTitle: 'Course 1' }] },
  })
  const both = (await admin.get(`/v1/analytics/learners?term_id=${terms}`)).body
  expect(both.summary).toMatchObject({ learners: 1, enrollments: 2 })
  const file = await admin.get('/v1/analytics/learners?term_id=ext:2027A', { accept: 'text/csv' })
  expect(file.text.trim().split('\r\n').slice(1)).toEqual([expect.stringContaining('Course 1')])
  const unknown = await admin.get('/v1/courses?term_id=ext:1066')
  expect([unknown.status, unknown.body.errors]).toMatchObject([404, [{ parameter: 'term_id' }]])
})
