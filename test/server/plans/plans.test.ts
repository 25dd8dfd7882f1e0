import sql, { raw } from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'

interface Step {
  readonly noun: string
  readonly action: string
  readonly id?: string
  readonly version?: number
  readonly record?: object
}

/** Makes a plan of these steps; returns its path. */
async function planned(person: Person, steps: readonly Step[]): Promise<string> {
  const { body } = await person.post('/v1/plans', { command: 'apply', source: 'school.yaml' })
  const path = `/v1/plans/${body.id}`
  const added = await person.put(`${path}/steps/0`, { steps })
  expect(added, added.text).toMatchObject({ status: 200, body: { steps: steps.length } })
  return path
}

async function carriedOut(person: Person, steps: readonly Step[], how: object = {}) {
  const answer = await person.post(`${await planned(person, steps)}/carry-out`, how)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}

const course = (externalId: string, more: object = {}): Step => ({
  ...{ noun: 'course', action: 'create' },
  record: { externalId, title: externalId, ...more },
})
const lesson = (courseId: string, title: string, more: object = {}): Step => ({
  ...{ noun: 'lesson', action: 'create' },
  record: { courseId: `ext:${courseId}`, title, ...more },
})

describe('a plan', () => {
  test('is one change, in which a step may name what an earlier one creates', async ({ admin }) => {
    const outcome = await carriedOut(admin, [
      course('A', { modules: [{ title: 'One' }, { title: 'Two' }] }),
      lesson('A', 'Start', { module: 'Two' }),
    ])
    expect(outcome).toMatchObject({ isComplete: true, done: 2, refused: [], restored: [] })
    const { modules } = (await admin.get('/v1/courses/ext:A')).body
    const { data } = (await admin.get('/v1/lessons?course_id=ext:A')).body
    expect(data).toMatchObject([{ id: outcome.ids[1], title: 'Start', moduleId: modules[1].id }])
    const change = (await admin.get(`/v1/changes/${outcome.change}`)).body
    expect(change).toMatchObject({ command: 'apply', source: 'school.yaml', state: 'completed' })
    const { actions } = (await admin.get(`/v1/undo/${outcome.change}`)).body
    expect(actions).toMatchObject([{ action: 'delete', noun: 'course' }])
  })

  test('of which a step is refused changes nothing, unless that is left out', async ({ admin }) => {
    const steps = [course('A'), lesson('A', 'Start', { module: 'Two' }), course('A')]
    const refused = [
      { step: 1, code: 'validation_failed', errors: [{ pointer: '#/module' }] },
      { step: 2, code: 'duplicate' },
    ]
    expect(await carriedOut(admin, steps)).toMatchObject({
      change: null,
      isComplete: false,
      done: 0,
      refused,
    })
    expect((await admin.get('/v1/courses/ext:A')).status).toBe(404)
    expect(await carriedOut(admin, steps, { isTrial: true })).toMatchObject({ done: 0, refused })
    const outcome = await carriedOut(admin, steps, { skipsRefused: true })
    expect(outcome).toMatchObject({ isComplete: true, done: 3, refused })
    expect((await admin.get(`/v1/changes/${outcome.change}`)).body.state).toBe('partial')
    expect((await admin.get('/v1/courses/ext:A')).status).toBe(200)
  })

  test('when tried leaves nothing behind: no record, event or change', async ({ academy, admin }) => {
    const counts = async () => {
      const all = await Promise.all(
        ['courses', 'audit_entries', 'changes', 'row_changes'].map((table) =>
          academy.database.one(sql`select count(*) as n from ${raw(table)}`),
        ),
      )
      return all.map((row) => row?.['n'])
    }
    const path = await planned(admin, [course('A'), course('B')])
    const before = await counts()
    expect((await admin.post(`${path}/carry-out`, { isTrial: true })).body).toMatchObject({ refused: [] })
    expect(await counts()).toEqual(before)
    expect((await admin.post(`${path}/carry-out`, {})).body).toMatchObject({ isComplete: true })
    expect((await admin.post(`${path}/carry-out`, {})).status).toBe(404)
  })

  test('is refused when a record has changed since it was made', async ({ admin }) => {
    const { body } = await admin.post('/v1/courses', { externalId: 'A', title: 'Alps' })
    const { id, version } = body
    const path = await planned(admin, [
      course('B'),
      { noun: 'course', action: 'update', id, version, record: { title: 'Andes' } },
    ])
    await admin.put(`/v1/courses/${id}`, { title: 'Atlas' })
    const answer = await admin.post(`${path}/carry-out`, {})
    expect(answer).toMatchObject({ status: 409, body: { code: 'plan_outdated' } })
    expect(answer.body.detail).toContain(`course ${id}`)
    expect((await admin.get('/v1/courses/ext:B')).status).toBe(404)
  })

  test('restores a deleted record with the external id of a new one', async ({ admin }) => {
    const record = { externalId: 'A', title: 'Alps', modules: [{ title: 'One' }] }
    const { body } = await admin.post('/v1/courses', record)
    const start = await admin.post('/v1/lessons', {
      courseId: body.id,
      externalId: 'L',
      title: 'Start',
      moduleId: body.modules[0].id,
    })
    await admin.delete(`/v1/courses/${body.id}?force=true`)
    const outcome = await carriedOut(admin, [
      course('A', { title: 'Andes', modules: [{ title: 'One' }, { title: 'Two' }] }),
      lesson('A', 'Begin', { externalId: 'L', module: 'One' }),
    ])
    expect(outcome).toMatchObject({ restored: [0, 1], ids: [body.id, start.body.id] })
    expect((await admin.get('/v1/courses/ext:A')).body.title).toBe('Andes')
    expect((await admin.get('/v1/lessons/ext:L')).body).toMatchObject({
      title: 'Begin',
      moduleId: body.modules[0].id,
    })
  })

  test('writes to closed records that it names, and to no others', async ({ admin }) => {
    await admin.post('/v1/users', { externalId: 'u', email: 'u@school.example' })
    const enrolled = { courseId: 'ext:A', userId: 'ext:u', status: 'inactive' }
    const progress = { courseId: 'ext:A', learnerId: 'ext:u', completionPercentage: 20 }
    const { ids } = await carriedOut(admin, [
      course('A', { status: 'archived' }),
      lesson('A', 'Start'),
      { noun: 'enrollment', action: 'create', record: enrolled },
      { noun: 'progress', action: 'create', record: progress },
    ])
    expect((await admin.get('/v1/courses/ext:A')).body).toMatchObject({ status: 'archived' })
    expect((await admin.get('/v1/lessons?course_id=ext:A')).body.data).toHaveLength(1)
    const alone = await carriedOut(admin, [lesson('A', 'Way')])
    expect(alone.refused).toMatchObject([{ step: 0, code: 'course_archived' }])
    const kept = await carriedOut(admin, [
      { noun: 'course', action: 'keep', id: ids[0] },
      { noun: 'course', action: 'update', id: ids[0], record: { title: 'Alps' } },
      lesson('A', 'Way'),
    ])
    expect(kept.refused).toEqual([])
  })

  test('orders the lessons of a course, new ones among the others', async ({ admin }) => {
    await admin.post('/v1/courses', { externalId: 'A', title: 'Alps' })
    const made = await Promise.all(
      ['Start', 'End'].map((title) => admin.post('/v1/lessons', { courseId: 'ext:A', title })),
    )
    const [start, end] = made.map(({ body }) => body.id)
    const places = [
      { id: end, order: 1 },
      { step: 0, order: 2 },
      { id: start, order: 3 },
    ]
    await carriedOut(admin, [
      lesson('A', 'Way'),
      { noun: 'lesson', action: 'place', record: { courseId: 'ext:A', places } },
    ])
    const { data } = (await admin.get('/v1/lessons?course_id=ext:A&sort=order')).body
    expect(data.map(({ title }: { title: string }) => title)).toEqual(['End', 'Way', 'Start'])
  })

  test('keeps no password, only its hash', async ({ academy, admin }) => {
    const password = 'correct horse battery'
    const record = { email: 'u@school.example', password }
    const path = await planned(admin, [
      { noun: 'user', action: 'create', record },
      { noun: 'user', action: 'create', record: { email: 'v@school.example', password: 'short' } },
    ])
    const rows = await academy.database.all(sql`select * from plan_steps`)
    expect(JSON.stringify(rows)).not.toMatch(/correct horse|short/)
    const outcome = (await admin.post(`${path}/carry-out`, { skipsRefused: true })).body
    expect(outcome.refused).toMatchObject([{ step: 1, errors: [{ pointer: '#/password' }] }])
    const user = await academy.database.one(
      sql`select password_hash from users where email = 'u@school.example'`,
    )
    expect(user?.['password_hash']).toMatch(/^scrypt|^\$/)
  })

  test('of an instructor has their rights, step by step', async ({ academy, admin }) => {
    const { body } = await admin.post('/v1/users', { email: 'u@school.example' })
    const instructor = await academy.person('instructor')
    const outcome = await carriedOut(instructor, [
      course('A'),
      { noun: 'user', action: 'update', id: body.id, record: { role: 'admin' } },
    ])
    expect(outcome.refused).toMatchObject([{ step: 1, code: 'forbidden' }])
  })

  test('with a step that no record takes says so', async ({ admin }) => {
    const outcome = await carriedOut(admin, [
      course('A'),
      { noun: 'lesson', action: 'place', record: { courseId: 'ext:A', places: 3 } },
      { noun: 'course', action: 'place', record: { courseId: 'ext:A', places: [] } },
      { noun: 'progress', action: 'delete', id: 'x' },
    ])
    expect(outcome).toMatchObject({
      ...{ change: null, done: 0 },
      refused: [
        { step: 1, errors: [{ pointer: '#/places' }] },
        { step: 2, errors: [{ pointer: '#/action', detail: 'is not an action of course: place' }] },
        { step: 3, errors: [{ pointer: '#/action', detail: 'is not an action of progress: delete' }] },
      ],
    })
  })

  test('of somebody else is not found', async ({ academy, admin }) => {
    const path = await planned(admin, [course('A')])
    const other = await academy.person('admin')
    expect((await other.post(`${path}/carry-out`, {})).status).toBe(404)
  })

  test('takes steps in their order, the same ones again, and none once it has begun', async ({ admin }) => {
    const path = await planned(admin, [course('A'), course('B')])
    expect((await admin.put(`${path}/steps/3`, { steps: [course('C')] })).status).toBe(422)
    expect((await admin.put(`${path}/steps/1`, { steps: [course('C')] })).body.steps).toBe(2)
    await admin.post(`${path}/carry-out`, {})
    expect((await admin.get('/v1/courses/ext:B')).status).toBe(404)
    expect((await admin.get('/v1/courses/ext:C')).status).toBe(200)
  })

  test('of more than 2,000 steps takes several transactions', { tags: ['slow'] }, async ({ admin }) => {
    const { body } = await admin.post('/v1/plans', { command: 'apply' })
    const path = `/v1/plans/${body.id}`
    for (const first of [0, 1000, 2000]) {
      const steps = Array.from({ length: first === 2000 ? 1 : 1000 }, (_, n) => ({
        ...{ noun: 'user', action: 'create' },
        record: { externalId: `${first + n}`, email: `u${first + n}@school.example` },
      }))
      await admin.put(`${path}/steps/${first}`, { steps })
    }
    const one = (await admin.post(`${path}/carry-out`, {})).body
    expect(one).toMatchObject({ isComplete: false, done: 2000 })
    expect((await admin.put(`${path}/steps/2001`, { steps: [course('A')] })).status).toBe(409)
    const two = (await admin.post(`${path}/carry-out`, {})).body
    expect(two).toMatchObject({ isComplete: true, done: 2001, change: one.change })
  })
})
