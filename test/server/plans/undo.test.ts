import { describe, expect } from 'vitest'
import { test } from '../../helpers/academy.ts'
import type { Person } from '../../helpers/test-academy.ts'

async function change(person: Person, command = 'courses import'): Promise<string> {
  return (await person.post('/v1/changes', { command })).body.id
}

async function plan(person: Person, id: string) {
  return (await person.get(`/v1/undo/${id}`)).body
}

async function undo(person: Person, id: string) {
  const { digest } = await plan(person, id)
  return person.post(`/v1/undo/${id}`, { digest })
}

describe('undoing a change', () => {
  test('brings a deleted term back under its id, so that its courses have it again', async ({ admin }) => {
    const { body: term } = await admin.post('/v1/terms', { name: 'Spring', externalId: 'S' })
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea', termId: term.id })
    const id = await change(admin)
    await admin.put(`/v1/courses/${course.id}`, { termId: null }, { 'change-id': id })
    await admin.delete(`/v1/terms/${term.id}`, { 'change-id': id })
    expect((await undo(admin, id)).body).toMatchObject({ isComplete: true, failed: [] })
    expect((await admin.get(`/v1/terms/${term.id}`)).body).toMatchObject({ name: 'Spring', externalId: 'S' })
    expect((await admin.get(`/v1/courses/${course.id}`)).body.termId).toBe(term.id)
  })

  test('does nothing by a plan that is not the one of now', async ({ admin }) => {
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea' })
    const id = await change(admin)
    await admin.put(`/v1/courses/${course.id}`, { title: 'Ocean', language: 'en' }, { 'change-id': id })
    const { digest } = await plan(admin, id)
    await admin.put(`/v1/courses/${course.id}`, { title: 'Lake' })
    const refused = await admin.post(`/v1/undo/${id}`, { digest })
    expect(refused).toMatchObject({ status: 409, body: { code: 'plan_outdated' } })
    expect((await admin.get(`/v1/courses/${course.id}`)).body).toMatchObject({
      title: 'Lake',
      language: 'en',
    })
    expect((await plan(admin, id)).kept).toMatchObject([{ fields: ['title'], reason: 'was changed since' }])
  })

  test('is a change with counts, which is undone like any other', async ({ admin }) => {
    const id = await change(admin)
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea' }, { 'change-id': id })
    const { change: undoId } = (await undo(admin, id)).body
    expect((await admin.get(`/v1/changes/${undoId}`)).body).toMatchObject({
      ...{ command: 'undo', source: 'courses import', undoes: id, state: 'completed' },
      counts: [{ action: 'course.deleted', count: 1 }],
    })
    expect((await admin.get(`/v1/changes/${id}`)).body.undoneBy).toBe(undoId)
    await undo(admin, undoId)
    expect((await admin.get(`/v1/courses/${course.id}`)).status).toBe(200)
  })

  test('goes on where a request ended, within its limit of writes', async ({ admin }) => {
    const id = await change(admin)
    for (const title of ['Sea', 'Lake', 'Pond'])
      await admin.post('/v1/courses', { title }, { 'change-id': id })
    const { digest } = await plan(admin, id)
    const first = (await admin.post(`/v1/undo/${id}`, { digest, limit: 2 })).body
    expect(first).toMatchObject({ isComplete: false, failed: [] })
    expect((await admin.get('/v1/courses')).body.data).toHaveLength(1)
    const next = { digest, continues: first.change, limit: 2 }
    expect((await admin.post(`/v1/undo/${id}`, next)).body).toEqual({ ...first, isComplete: true })
    expect((await admin.get('/v1/courses')).body.data).toEqual([])
    expect(await admin.post(`/v1/undo/${id}`, next)).toMatchObject({ status: 404 })
  })

  test('keeps what the caller does not see, and never says that it is gone', async ({ academy, admin }) => {
    const teacher = await academy.person('instructor')
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea' })
    const taught = { courseId: course.id, userId: teacher.id, role: 'instructor' }
    const { body: enrollment } = await admin.post('/v1/enrollments', taught)
    const id = await change(teacher)
    await teacher.put(`/v1/courses/${course.id}`, { title: 'Ocean' }, { 'change-id': id })
    await admin.delete(`/v1/enrollments/${enrollment.id}`)
    expect(await plan(teacher, id)).toMatchObject({
      ...{ actions: [], done: 0 },
      kept: [{ noun: 'course', id: course.id, reason: 'is not visible to you' }],
    })
    expect((await plan(admin, id)).actions).toMatchObject([{ action: 'update', id: course.id }])
  })

  test('takes back a single request that named its command', async ({ academy, admin }) => {
    const header = { 'change-command': 'courses create' }
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea' }, header)
    const learner = await academy.person('learner')
    await learner.put('/v1/user/profile', { profile: { bio: 'x' } }, header)
    const { data } = (await admin.get('/v1/changes')).body
    expect(data).toMatchObject([{ command: 'courses create', state: 'completed', userId: admin.id }])
    await undo(admin, data[0].id)
    expect((await admin.get(`/v1/courses/${course.id}`)).status).toBe(404)
  })

  test('of a request or an entry of the audit log is for admins', async ({ academy, admin }) => {
    const teacher = await academy.person('instructor')
    const { body: course } = await admin.post('/v1/courses', { title: 'Sea' })
    const { body } = await admin.get('/v1/audit?noun=course')
    const [{ id, requestId }] = body.data
    expect((await teacher.get(`/v1/undo/${id}`)).status).toBe(403)
    expect((await plan(admin, requestId)).actions).toMatchObject([{ action: 'delete', id: course.id }])
    await undo(admin, id)
    expect((await admin.get(`/v1/courses/${course.id}`)).status).toBe(404)
    for (const other of ['aud_none', 'req_none', 'chg_none'])
      expect((await admin.get(`/v1/undo/${other}`)).status).toBe(404)
  })
})
