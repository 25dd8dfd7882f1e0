import { expect } from 'vitest'
import { day, type Person, start, test } from '../../helpers/academy.ts'

async function courseOf(admin: Person): Promise<string> {
  const course = { title: 'Logic', status: 'published', externalId: 'L1' }
  return (await admin.post('/v1/courses', course)).body.id
}

async function groupOf(admin: Person, more: object = {}): Promise<string> {
  return (await admin.post('/v1/groups', { name: 'Class 5b', externalId: '5b', ...more })).body.id
}

async function namesAt(person: Person, path: string): Promise<unknown[]> {
  return (await person.get(path)).body.data.map(({ name }: { name: string }) => name)
}

async function membersAt(person: Person, path: string): Promise<unknown[]> {
  return (await person.get(path)).body.data.map(({ userEmail }: { userEmail: string }) => userEmail)
}

test('a group needs a name only, and may belong to a course', async ({ admin }) => {
  const courseId = await courseOf(admin)
  const made = await admin.post('/v1/groups', { name: ' Class 5b ' })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^grp_/),
    externalId: null,
    name: 'Class 5b',
    courseId: null,
    courseTitle: null,
    courseExternalId: null,
    managedBy: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
  const section = await admin.post('/v1/groups', { name: 'Section 1', courseId: 'ext:L1' })
  expect(section.body).toMatchObject({ courseId, courseTitle: 'Logic', courseExternalId: 'L1' })
  expect(await admin.post('/v1/groups', { name: 'Section 2', courseId: 'ext:none' })).toMatchObject({
    status: 404,
    body: { errors: [{ pointer: '#/courseId', code: 'not_found' }] },
  })
})

test('a group goes by its name, if it is the only one in sight', async ({ admin, instructor }) => {
  await courseOf(admin)
  await admin.post('/v1/enrollments', { courseId: 'ext:L1', userId: instructor.id, role: 'instructor' })
  const id = await groupOf(admin, { courseId: 'ext:L1' })
  expect((await admin.get('/v1/groups/Class%205b')).body.id).toBe(id)
  expect((await admin.get('/v1/users?group_id=Class%205b')).body.data).toEqual([])
  await groupOf(admin, { externalId: 'other' })
  expect((await admin.get('/v1/groups/Class%205b')).status).toBe(404)
  expect((await instructor.get('/v1/groups/Class%205b')).body.id).toBe(id)
  expect((await instructor.put(`/v1/groups/Class%205b/members/${instructor.id}`)).status).toBe(200)
  const member = { groupId: 'Class 5b', userId: instructor.id }
  expect((await instructor.post('/v1/memberships/batch', { items: [member] })).body.results).toMatchObject([
    { status: 200 },
  ])
})

test('a change makes a version, and a group may leave its course', async ({ admin }) => {
  await courseOf(admin)
  const id = await groupOf(admin, { courseId: 'ext:L1' })
  expect((await admin.put('/v1/groups/ext:5b', { name: 'Class 6b' })).body).toMatchObject({ id, version: 2 })
  expect((await admin.put('/v1/groups/ext:5b', { name: 'Class 6b', courseId: 'ext:L1' })).body.version).toBe(
    2,
  )
  expect((await admin.put(`/v1/groups/${id}`, { courseId: null })).body).toMatchObject({
    ...{ courseId: null, courseTitle: null, version: 3 },
  })
  const stale = await admin.put(`/v1/groups/${id}`, { name: 'Other' }, { 'if-match': '"1"' })
  expect(stale.status).toBe(412)
})

test('an external id belongs to one group, also while that can be restored', async ({ admin }) => {
  const id = await groupOf(admin)
  const taken = { status: 409, body: { code: 'duplicate', id } }
  expect(await admin.post('/v1/groups', { name: 'Other', externalId: '5b' })).toMatchObject(taken)
  await admin.delete(`/v1/groups/${id}`)
  expect(await admin.post('/v1/groups', { name: 'Other', externalId: '5b' })).toMatchObject({
    ...{ status: 409, body: { code: 'duplicate', id, existingStatus: 'deleted' } },
  })
})

test('groups are filtered by course, member, name, label and time', async ({ admin, learner, clock }) => {
  const courseId = await courseOf(admin)
  await groupOf(admin, { name: 'Äpfel', courseId, managedBy: 'sis' })
  clock.advance(day)
  const other = await groupOf(admin, { name: 'Birnen', externalId: 'B' })
  await admin.put(`/v1/groups/${other}/members/${learner.id}`)
  expect(await namesAt(admin, '/v1/groups')).toEqual(['Birnen', 'Äpfel'])
  expect(await namesAt(admin, '/v1/groups?sort=name')).toEqual(['Äpfel', 'Birnen'])
  expect(await namesAt(admin, '/v1/groups?course_id=ext:L1')).toEqual(['Äpfel'])
  expect(await namesAt(admin, `/v1/groups?user_id=${learner.id}`)).toEqual(['Birnen'])
  expect(await namesAt(admin, '/v1/groups?q=PFE')).toEqual(['Äpfel'])
  expect(await namesAt(admin, '/v1/groups?managed_by=sis')).toEqual(['Äpfel'])
  expect(await namesAt(admin, '/v1/groups?external_id=B')).toEqual(['Birnen'])
  expect(await namesAt(admin, `/v1/groups?updated_since=${clock.now().toISOString()}`)).toEqual(['Birnen'])
})

test('users are added to a group once and removed again', async ({ instructor, learner, clock }) => {
  const courseId = await courseOf(instructor)
  await instructor.post('/v1/enrollments', { courseId, userId: `email:${learner.email}` })
  const id = await groupOf(instructor, { courseId })
  const path = `/v1/groups/ext:5b/members/email:${learner.email}`
  const added = await instructor.put(path)
  expect(added).toMatchObject({ status: 200 })
  expect(added.body).toEqual({
    id: expect.stringMatching(/^mem_/),
    groupId: id,
    groupName: 'Class 5b',
    groupExternalId: '5b',
    userId: learner.id,
    userEmail: learner.email,
    userExternalId: null,
    addedAt: start,
  })
  clock.advance(day)
  expect((await instructor.put(path)).body).toEqual(added.body)
  expect((await instructor.get(`/v1/groups/${id}/members`)).body.data).toEqual([added.body])
  expect((await instructor.get(`/v1/memberships?user_id=${learner.id}`)).body.data).toEqual([added.body])
  expect((await instructor.delete(path)).status).toBe(204)
  expect((await instructor.delete(path)).status).toBe(404)
  expect(await membersAt(instructor, `/v1/groups/${id}/members`)).toEqual([])
})

test('a batch adds users to groups, each on its own', async ({ admin, learner }) => {
  await groupOf(admin)
  const items = [
    { groupId: 'ext:5b', userId: learner.id },
    { groupId: 'ext:5b', userId: `email:${learner.email}` },
    { groupId: 'ext:none', userId: learner.id },
    { groupId: 'ext:5b', userId: 'ext:none' },
  ]
  const { body } = await admin.post('/v1/memberships/batch', { items })
  expect(body.results).toMatchObject([
    { index: 0, status: 201 },
    { index: 1, status: 200, code: 'skipped' },
    { index: 2, status: 404, errors: [{ pointer: '#/groupId' }] },
    { index: 3, status: 404, errors: [{ pointer: '#/userId' }] },
  ])
  const [item] = items
  const again = await admin.post('/v1/memberships/batch', { items: [item, item], onExists: 'fail' })
  expect(again.body.results).toMatchObject([{ code: 'duplicate' }, { code: 'duplicate' }])
  const update = await admin.post('/v1/memberships/batch', { items: [item], onExists: 'update' })
  expect(update.body.results).toMatchObject([{ status: 200, code: 'unchanged' }])
})

test('a batch creates, changes and restores groups by id', async ({ admin }) => {
  const id = await groupOf(admin)
  await admin.delete(`/v1/groups/${id}`)
  const batch = (items: object[], onExists = 'update') => admin.post('/v1/groups/batch', { items, onExists })
  const first = await batch([
    { externalId: '5b', name: 'Class 5b' },
    { externalId: '5c', name: 'Class 5c' },
    { name: '' },
  ])
  expect(first.body.results).toMatchObject([
    { status: 200, id },
    { status: 201 },
    { status: 422, errors: [{ pointer: '#/name' }] },
  ])
  expect(first.body.results[0].code).toBeUndefined()
  const second = await batch([{ externalId: '5b', name: 'Class 5b' }])
  expect(second.body.results).toMatchObject([{ status: 200, code: 'unchanged' }])
  expect((await batch([{ externalId: '5b', name: 'Other' }], 'fail')).body.results).toMatchObject([
    { status: 409, code: 'duplicate' },
  ])
})

test('a learner sees their groups and themselves', { tags: ['slow'] }, async ({
  academy,
  admin,
  learner,
}) => {
  const other = await academy.person('learner')
  const own = await groupOf(admin)
  const foreign = await groupOf(admin, { name: 'Class 6a', externalId: '6a' })
  for (const { id } of [learner, other]) await admin.put(`/v1/groups/${own}/members/${id}`)
  await admin.put(`/v1/groups/${foreign}/members/${other.id}`)
  expect(await namesAt(learner, '/v1/groups')).toEqual(['Class 5b'])
  expect(await namesAt(learner, '/v1/groups?q=class')).toEqual(['Class 5b'])
  expect((await learner.get(`/v1/groups/${own}`)).status).toBe(200)
  expect(await membersAt(learner, `/v1/groups/${own}/members`)).toEqual([learner.email])
  expect(await membersAt(learner, '/v1/memberships')).toEqual([learner.email])
  for (const path of ['', '/members']) {
    expect((await learner.get(`/v1/groups/${foreign}${path}`)).status).toBe(404)
  }
  expect((await learner.get(`/v1/memberships?group_id=${foreign}`)).status).toBe(404)
})

test('a deleted group comes back with its members, unless it was erased', async ({ admin, learner }) => {
  const id = await groupOf(admin)
  await admin.put(`/v1/groups/${id}/members/${learner.id}`)
  expect((await admin.delete('/v1/groups/ext:5b')).status).toBe(204)
  expect((await admin.get(`/v1/groups/${id}`)).status).toBe(404)
  expect((await admin.get('/v1/memberships')).body.data).toEqual([])
  expect((await admin.get('/v1/deleted-groups')).body.data).toEqual([
    {
      ...{ id, externalId: '5b', name: 'Class 5b', courseId: null, members: 1, userId: admin.id },
      ...{ deletedAt: start, restorableUntil: expect.any(String) },
    },
  ])
  expect((await admin.post('/v1/deleted-groups/ext:5b/restore')).body).toMatchObject({ id, version: 1 })
  expect(await membersAt(admin, `/v1/groups/${id}/members`)).toEqual([learner.email])
  await admin.delete(`/v1/groups/${id}`)
  expect((await admin.delete(`/v1/groups/${id}?erase=true`)).status).toBe(204)
  expect((await admin.post(`/v1/deleted-groups/${id}/restore`)).status).toBe(404)
  expect((await admin.post('/v1/groups', { name: 'Class 5b', externalId: '5b' })).status).toBe(201)
})

test('the groups of a course are deleted and restored with it', async ({ admin, learner }) => {
  const courseId = await courseOf(admin)
  const [early, late] = [
    await groupOf(admin, { name: 'Early', externalId: 'early', courseId }),
    await groupOf(admin, { courseId }),
  ]
  await admin.put(`/v1/groups/${late}/members/${learner.id}`)
  await admin.delete(`/v1/groups/${early}`)
  await admin.delete(`/v1/courses/${courseId}`)
  expect((await admin.get(`/v1/groups/${late}`)).status).toBe(404)
  expect((await admin.get('/v1/deleted-courses')).body.data).toMatchObject([{ id: courseId, groups: 1 }])
  expect(await admin.post(`/v1/deleted-groups/${early}/restore`)).toMatchObject({
    ...{ status: 409, body: { code: 'course_deleted', id: courseId } },
  })
  await admin.post(`/v1/deleted-courses/${courseId}/restore`)
  expect(await membersAt(admin, `/v1/groups/${late}/members`)).toEqual([learner.email])
  // It was deleted before its course.
  expect((await admin.get(`/v1/groups/${early}`)).status).toBe(404)
  expect((await admin.post(`/v1/deleted-groups/${early}/restore`)).status).toBe(200)
})

test('a deleted user is no member until restored, an erased one never again', async ({ admin, learner }) => {
  const id = await groupOf(admin)
  const other = await groupOf(admin, { externalId: '5c' })
  const member = `/v1/groups/${id}/members/${learner.id}`
  await admin.put(member)
  await admin.put(`/v1/groups/${other}/members/${learner.id}`)
  await admin.delete(`/v1/users/${learner.id}`)
  expect(await membersAt(admin, `/v1/groups/${id}/members`)).toEqual([])
  expect((await admin.put(member)).status).toBe(404)
  await admin.put(`/v1/users/${learner.id}`, { status: 'active' })
  expect(await membersAt(admin, `/v1/groups/${id}/members`)).toEqual([learner.email])
  await admin.delete(`/v1/groups/${other}`)
  await admin.delete(`/v1/users/${learner.id}?erase=true`)
  await admin.post(`/v1/deleted-groups/${other}/restore`)
  expect((await admin.get('/v1/memberships')).body.data).toEqual([])
})

test('groups and members are in the audit log, erased ones not', async ({ admin, learner }) => {
  const id = await groupOf(admin)
  await admin.put(`/v1/groups/${id}`, { name: 'Class 6b' })
  await admin.put(`/v1/groups/${id}/members/${learner.id}`)
  await admin.delete(`/v1/groups/${id}/members/${learner.id}`)
  await admin.delete(`/v1/groups/${id}`)
  await admin.post(`/v1/deleted-groups/${id}/restore`)
  const recorded = ['created', 'updated', 'deleted', 'restored'].map((verb) => `group.${verb}`)
  recorded.push('membership.created', 'membership.deleted')
  const actions = async () =>
    (await admin.get(`/v1/audit?action=${recorded.join(',')}`)).body.data.map(
      ({ action, subjectName }: { action: string; subjectName: string | null }) => [action, subjectName],
    )
  expect(await actions()).toEqual([
    ['group.restored', 'Class 6b'],
    ['group.deleted', 'Class 6b'],
    ['membership.deleted', `Class 6b · ${learner.email}`],
    ['membership.created', `Class 6b · ${learner.email}`],
    ['group.updated', 'Class 6b'],
    ['group.created', 'Class 5b'],
  ])
  await admin.delete(`/v1/users/${learner.id}?erase=true`)
  expect((await actions()).slice(2, 4)).toEqual([
    ['membership.deleted', null],
    ['membership.created', null],
  ])
})

test('lists are filtered by members of groups', { tags: ['slow'] }, async ({ academy, admin, learner }) => {
  const courseId = await courseOf(admin)
  const other = await academy.person('learner')
  for (const { id: learnerId } of [learner, other]) {
    await admin.put(`/v1/learners/${learnerId}/progress`, { courseId, completionPercentage: 10 })
    await academy.grade({ learnerId, courseId, scoreGiven: 50 })
  }
  const id = await groupOf(admin)
  await groupOf(admin, { externalId: 'empty' })
  await admin.put(`/v1/groups/${id}/members/${learner.id}`)
  for (const [path, field] of [
    ['/v1/users', 'id'],
    ['/v1/enrollments', 'userId'],
    ['/v1/progress', 'learnerId'],
    ['/v1/progress/history', 'learnerId'],
    ['/v1/grades', 'learnerId'],
    ['/v1/analytics/learners', 'learnerId'],
  ]) {
    const { body } = await admin.get(`${path}?group_id=ext:5b`)
    expect(body.data, path).toMatchObject([{ [field ?? '']: learner.id }])
    expect((await admin.get(`${path}?group_id=ext:5b,ext:empty`)).body.data, path).toHaveLength(1)
    expect((await admin.get(`${path}?group_id=ext:empty`)).body.data, path).toEqual([])
    expect((await admin.get(`${path}?group_id=ext:none`)).body, path).toMatchObject({
      code: 'not_found',
      errors: [{ parameter: 'group_id' }],
    })
  }
  const csv = await admin.get('/v1/analytics/learners?format=csv&group_id=ext:5b')
  expect(csv.text.trim().split('\r\n')).toHaveLength(2)
})
