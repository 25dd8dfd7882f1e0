import { expect } from 'vitest'
import type { AuditEntry } from '../../../src/contract/audit.ts'
import { linkAll } from '../../../src/server/changes/audit-entry.ts'
import { type Person, test } from '../../helpers/academy.ts'
import { checkChain, readAuditLog } from '../../helpers/audit-log.ts'

const path = '/v1/changes'
const dayMs = 24 * 60 * 60 * 1000

/** Begins a change and returns the header that names it. */
async function begin(person: Person, command = 'users import') {
  const { body } = await person.post(path, { command, source: 'users.csv' })
  return { 'change-id': String(body.id) }
}

test('a change counts what its requests do, and lists it in order', async ({ admin }) => {
  const header = await begin(admin)
  const id = header['change-id']
  const items = [
    { email: 'ada@school.example' },
    { email: 'wrong' },
    { email: 'ada@school.example', role: 'instructor' },
  ]
  await admin.post('/v1/users/batch', { items, onExists: 'update' }, header)
  await admin.post('/v1/courses', { title: 'Logic' }, header)
  await admin.post('/v1/courses', { title: 'Sets' })
  const { body: ended } = await admin.post(`${path}/${id}/end`, { state: 'partial' })
  expect(ended).toMatchObject({
    id,
    command: 'users import',
    source: 'users.csv',
    state: 'partial',
    userEmail: admin.email,
    undoneBy: null,
    undoes: null,
    createdAt: '2026-03-01T12:00:00.000Z',
    endedAt: '2026-03-01T12:00:00.000Z',
    undoableUntil: '2026-03-31T12:00:00.000Z',
    counts: [
      { noun: 'course', action: 'course.created', count: 1 },
      { noun: 'user', action: 'user.created', count: 1 },
      { noun: 'user', action: 'user.updated', count: 1 },
    ],
  })
  expect((await admin.get(path)).body.data).toEqual([ended])
  const { body: records } = await admin.get(`${path}/${id}/records`)
  expect(records.data).toMatchObject([
    { action: 'user.created', subjectName: 'ada@school.example', before: null, isErased: false },
    { action: 'user.updated', before: { role: 'learner' }, after: { role: 'instructor' } },
    { action: 'course.created', after: { title: 'Logic' } },
  ])
  const { body: entries } = await admin.get(`/v1/audit?change_id=${id}&sort=at`)
  expect(entries.data.map(({ id }: AuditEntry) => id)).toEqual(records.data.map(({ id }: AuditEntry) => id))
})

test('progress is counted, although the audit log has none', async ({ admin, learner }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const header = await begin(admin, 'progress import')
  const progress = { courseId: course.id, completionPercentage: 100 }
  await admin.put(`/v1/learners/${learner.id}/progress`, progress, header)
  const { body: change } = await admin.get(`${path}/${header['change-id']}`)
  expect(
    change.counts.map(({ action, count }: { action: string; count: number }) => [action, count]),
  ).toEqual([
    ['enrollment.completed', 1],
    ['enrollment.created', 1],
    ['progress.completed', 1],
    ['progress.updated', 1],
  ])
})

test('a request can belong to a running change of its user only', async ({ admin, instructor, clock }) => {
  const header = await begin(admin)
  const refused = {
    status: 400,
    body: {
      code: 'invalid_parameter',
      detail: 'The header Change-Id must be the id of a running change of your own.',
    },
  }
  const course = { title: 'Logic' }
  expect(await instructor.post('/v1/courses', course, header)).toMatchObject(refused)
  expect(await admin.post('/v1/courses', course, { 'change-id': 'chg_none' })).toMatchObject(refused)
  clock.advance(30 * dayMs)
  expect(await admin.post('/v1/courses', course, header)).toMatchObject(refused)
  const other = await begin(admin)
  expect((await admin.post('/v1/courses', course, other)).status).toBe(201)
  await admin.post(`${path}/${other['change-id']}/end`, { state: 'completed' })
  expect(await admin.post('/v1/courses', course, other)).toMatchObject(refused)
  expect((await admin.get('/v1/courses?include_total=true')).body.total).toBe(1)
})

test('admins see all changes, instructors their own', async ({ admin, instructor }) => {
  const [one, two] = [await begin(admin), await begin(instructor)]
  const idsFor = async (person: Person, query = '') =>
    (await person.get(path + query)).body.data.map(({ id }: { id: string }) => id)
  expect(await idsFor(admin)).toEqual([two['change-id'], one['change-id']])
  expect(await idsFor(admin, `?user_id=${instructor.id}`)).toEqual([two['change-id']])
  expect(await idsFor(instructor)).toEqual([two['change-id']])
  for (const rest of ['', '/records']) {
    expect((await instructor.get(`${path}/${one['change-id']}${rest}`)).status).toBe(404)
    expect((await admin.get(`${path}/${two['change-id']}${rest}`)).status).toBe(200)
  }
  expect((await admin.post(`${path}/${two['change-id']}/end`, { state: 'failed' })).status).toBe(404)
})

test('a change shows an instructor less of the unseen', { tags: ['slow'] }, async ({ admin, instructor }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Logic' })
  const { body: group } = await instructor.post('/v1/groups', { name: 'Section', courseId: course.id })
  const header = await begin(instructor)
  const { body: user } = await instructor.post('/v1/users', { email: 'ada@school.example' }, header)
  const place = { courseId: course.id, userId: user.id }
  const { body: enrolment } = await instructor.post('/v1/enrollments', place, header)
  await instructor.put(`/v1/groups/${group.id}/members/${user.id}`, undefined, header)
  const grade = { courseId: course.id, learnerId: user.id, itemId: 'exam' }
  for (const scoreGiven of [60, 70]) await instructor.put('/v1/grades', { ...grade, scoreGiven }, header)
  await instructor.put(`/v1/enrollments/${enrolment.id}`, { status: 'inactive' }, header)
  await instructor.put(`/v1/courses/${course.id}`, { title: 'Sets' }, header)
  const records = async (person: Person) => (await person.get(`${path}/${header['change-id']}/records`)).body
  const { data: all } = await records(admin)
  expect(all).toHaveLength(7)
  expect((await records(instructor)).data).toEqual(all)
  const lost = { ...place, userId: instructor.id, role: 'instructor' }
  const { body: own } = await admin.post('/v1/enrollments', { ...lost, status: 'inactive' })
  expect((await records(instructor)).data).toEqual(
    all.map((record: { noun: string }) =>
      record.noun === 'course'
        ? record
        : { ...record, subjectName: null, isErased: true, before: null, after: null },
    ),
  )
  expect(JSON.stringify(await records(instructor))).not.toContain('ada@')
  expect((await records(admin)).data).toEqual(all)
  await admin.put(`/v1/enrollments/${own.id}`, { status: 'active' })
  expect((await records(instructor)).data).toEqual(all)
})

test('what an instructor took out of a course can still be undone', async ({ instructor, learner }) => {
  const { body: course } = await instructor.post('/v1/courses', { title: 'Logic' })
  const place = { courseId: course.id, userId: learner.id }
  const { body: enrolment } = await instructor.post('/v1/enrollments', place)
  const header = await begin(instructor)
  await instructor.send('DELETE', `/v1/enrollments/${enrolment.id}`, undefined, header)
  expect((await instructor.get(`/v1/users/${learner.id}`)).status).toBe(404)
  expect((await instructor.get(`${path}/${header['change-id']}/records`)).body.data).toMatchObject([
    { action: 'enrollment.deleted', isErased: false, before: { status: 'active' } },
  ])
})

test('a change names the one that it undoes, and that one the last that has undone it', async ({ admin }) => {
  const first = (await begin(admin))['change-id']
  const undo = { command: 'undo', undoes: first }
  const { body: second } = await admin.post(path, undo)
  expect(second).toMatchObject({ command: 'undo', source: null, undoes: first })
  await admin.post('/v1/courses', { title: 'Logic' }, { 'change-id': second.id })
  expect((await admin.get(`${path}/${first}`)).body.undoneBy).toBe(null)
  await admin.post(`${path}/${second.id}/end`, { state: 'completed' })
  expect((await admin.get(`${path}/${first}`)).body.undoneBy).toBe(second.id)
  expect(await admin.post(path, { ...undo, undoes: 'chg_none' })).toMatchObject({ status: 404 })
})

test('a change that wrote nothing marks no other as undone', async ({ instructor }) => {
  const first = await begin(instructor)
  await instructor.post('/v1/courses', { title: 'Logic' }, first)
  const undo = { command: 'undo', undoes: first['change-id'] }
  for (const state of ['completed', 'partial']) {
    const { body } = await instructor.post(path, undo)
    await instructor.post(`${path}/${body.id}/end`, { state })
  }
  expect((await instructor.get(`${path}/${first['change-id']}`)).body.undoneBy).toBe(null)
  expect((await instructor.get(path)).body.data.map((one: { undoneBy: unknown }) => one.undoneBy)).toEqual([
    ...[null, null, null],
  ])
})

test('an undo that finds nothing left to write completes one that was interrupted', async ({ admin }) => {
  const first = (await begin(admin))['change-id']
  const undo = { command: 'undo', undoes: first }
  const { body: interrupted } = await admin.post(path, undo)
  await admin.post('/v1/courses', { title: 'Logic' }, { 'change-id': interrupted.id })
  await admin.post(`${path}/${interrupted.id}/end`, { state: 'interrupted' })
  expect((await admin.get(`${path}/${first}`)).body.undoneBy).toBe(null)
  const { body: second } = await admin.post(path, undo)
  await admin.post(`${path}/${second.id}/end`, { state: 'completed' })
  expect((await admin.get(`${path}/${first}`)).body.undoneBy).toBe(second.id)
})

test('the hash of an entry covers its change, also once erased', async ({ academy, admin }) => {
  const header = await begin(admin)
  const { body: user } = await admin.post('/v1/users', { email: 'ada@school.example' }, header)
  await admin.post('/v1/courses', { title: 'Logic' }, header)
  await linkAll(academy.database)
  const report = async (change: (entry: AuditEntry) => AuditEntry) =>
    checkChain((await readAuditLog(admin)).map(change))
  expect(await report((entry) => entry)).toMatchObject({ broken: 0, unlinked: 0 })
  expect(await report((entry) => ({ ...entry, changeId: null }))).toMatchObject({ broken: 2 })
  await admin.delete(`/v1/users/${user.id}?erase=true`)
  await linkAll(academy.database)
  expect(await report((entry) => entry)).toMatchObject({ broken: 0 })
  const { body: records } = await admin.get(`${path}/${header['change-id']}/records`)
  expect(records.data[0]).toMatchObject({ subjectName: null, isErased: true, before: null, after: null })
})

test('erasing a user removes the sources of changes that name them', async ({ admin }) => {
  const { body: user } = await admin.post('/v1/users', { email: 'ada@school.example', externalId: 'S-1' })
  const sources = ['Ada@school.example.csv', 's-1_grades.csv', 'users.csv']
  for (const source of sources) await admin.post(path, { command: 'users import', source })
  await admin.delete(`/v1/users/${user.id}?erase=true`)
  const { body } = await admin.get(`${path}?sort=createdAt`)
  expect(body.data.map(({ source }: { source: string | null }) => source)).toEqual([null, null, 'users.csv'])
})

test('the entries of a request are found by its id', async ({ admin }) => {
  await admin.post('/v1/courses', { title: 'Sets' })
  const made = await admin.post('/v1/users/batch', {
    items: [{ email: 'one@school.example' }, { email: 'two@school.example' }],
  })
  const requestId = made.headers.get('x-request-id')
  const { body } = await admin.get(`/v1/audit?request_id=${requestId}&sort=at`)
  expect(body.data.map(({ subjectName }: AuditEntry) => subjectName)).toEqual([
    'one@school.example',
    'two@school.example',
  ])
  expect((await admin.get('/v1/audit?request_id=none')).body.data).toEqual([])
})
