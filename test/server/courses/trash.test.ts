import fc from 'fast-check'
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import type { Database, Row } from '../../../src/server/database/database.ts'
import { sweep } from '../../../src/server/database/sweep.ts'
import { trashedTables } from '../../../src/server/database/trash.ts'
import { day, hour, type Person, start, type TestAcademy, test } from '../../helpers/academy.ts'
import { randomRuns } from '../../helpers/random.ts'

/** Creates a course with everything that is deleted with it; returns its path and id. */
async function fullCourse(academy: TestAcademy, admin: Person, learner: Person, externalId = 'bio-101') {
  const { body } = await admin.post('/v1/courses', {
    externalId,
    title: 'Marine Biology',
    status: 'published',
    tags: ['sea'],
    modules: [{ title: 'Fish' }],
  })
  const courseId = body.id
  await admin.put(`/v1/courses/${courseId}`, { difficulty: 'expert' })
  const moduleId = body.modules[0].id
  for (const title of ['Fins', 'Gills', 'Scales']) {
    await admin.post('/v1/lessons', { courseId, moduleId, title, externalId: `${externalId}-${title}` })
  }
  await admin.put(`/v1/lessons/ext:${externalId}-Fins`, { description: 'What moves a fish' })
  for (const completionPercentage of [10, 30]) {
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId, completionPercentage })
  }
  await academy.grade({ learnerId: learner.id, courseId, scoreGiven: 90 })
  return { courseId, path: `/v1/courses/${courseId}` }
}

const reads = (courseId: string, learner: Person) => [
  '/v1/courses?include_total=true',
  '/v1/courses?q=marine',
  '/v1/courses?tag=sea',
  '/v1/courses?external_id=bio-101',
  '/v1/lessons?include_total=true',
  '/v1/enrollments?include_total=true',
  `/v1/learners/${learner.id}/progress`,
  '/v1/analytics/learners?include_total=true',
  '/v1/grades?include_total=true',
  `/v1/courses/${courseId}`,
  `/v1/courses/${courseId}/versions`,
  `/v1/lessons/ext:bio-101-Fins/versions`,
  `/v1/learners/${learner.id}/progress/history?course_id=${courseId}`,
]

const columnsOf = async (database: Database, table: string): Promise<string[]> =>
  (
    await database.all<Row & { name: string }>(
      !database.dialect.hasManyWriters
        ? sql`select name || ' ' || lower(type) as name from pragma_table_info(${table}) order by cid`
        : sql`select column_name || ' ' || data_type as name from information_schema.columns
              where table_name = ${table} and table_schema = current_schema() order by ordinal_position`,
    )
  ).map(({ name }) => name)

/** Fields that follow from other rows, which may change before it is restored. */
const notKept = ['user_email text', 'search_number integer']

test('the trash has the columns of what it keeps', async ({ academy: { database } }) => {
  for (const table of trashedTables) {
    const columns = await columnsOf(database, table)
    expect(columns.length).toBeGreaterThan(1)
    const kept = columns.filter((column) => !notKept.includes(column))
    expect(await columnsOf(database, `deleted_${table}`), table).toEqual(kept)
  }
})

test('everything that is deleted with a course goes to the trash', async ({ academy: { database } }) => {
  if (database.dialect.hasManyWriters) return
  const references = await database.all<Row & { name: string; parent: string }>(sql`
    select t.name, f."table" as parent from pragma_table_list t, pragma_foreign_key_list(t.name) f
    where t.schema = 'main' and f.on_delete = 'CASCADE'`)
  const going = new Set(['courses'])
  for (const _ of references) {
    for (const { name, parent } of references) if (going.has(parent)) going.add(name)
  }
  expect([...going].sort()).toEqual([...trashedTables].sort())
})

test('a deleted course is nowhere, and comes back with all that went with it as it was', {
  tags: ['slow'],
}, async ({ academy, admin, learner, clock }) => {
  const { courseId, path } = await fullCourse(academy, admin, learner)
  const all = () => Promise.all(reads(courseId, learner).map(async (read) => (await admin.get(read)).text))
  const before = await all()
  clock.advance(hour)
  expect((await admin.delete(`${path}?force=true`)).status).toBe(204)
  for (const text of (await all()).slice(0, 9)) {
    expect(JSON.parse(text)).toMatchObject({ data: [], nextCursor: null })
  }
  for (const text of (await all()).slice(9)) expect(JSON.parse(text)).toMatchObject({ code: 'not_found' })

  const { body } = await admin.get('/v1/deleted-courses?include_total=true')
  expect(body).toEqual({
    data: [
      {
        id: courseId,
        externalId: 'bio-101',
        title: 'Marine Biology',
        status: 'published',
        lessons: 3,
        enrollments: 1,
        progress: 1,
        grades: 1,
        groups: 0,
        userId: admin.id,
        deletedAt: new Date(Date.parse(start) + hour).toISOString(),
        restorableUntil: new Date(Date.parse(start) + hour + 30 * day).toISOString(),
      },
    ],
    nextCursor: null,
    total: 1,
    totalIsExact: true,
  })

  clock.advance(29 * day)
  const restored = await admin.post('/v1/deleted-courses/bio-101/restore')
  expect(restored).toMatchObject({ status: 200, body: { id: courseId, version: 2, status: 'published' } })
  expect(await all()).toEqual(before)
  expect((await admin.get('/v1/deleted-courses')).body.data).toEqual([])
  expect(await trashRows(academy)).toBe(0)
  expect((await admin.put(path, { title: 'Sea life' })).body).toMatchObject({ version: 3 })
})

/** Counts the rows of the trash. */
async function trashRows({ database }: TestAcademy): Promise<number> {
  let rows = 0
  for (const table of ['deletions', ...trashedTables.map((name) => `deleted_${name}`)]) {
    rows += Number((await database.one(sql`select count(*) as rows from ${raw(table)}`))?.['rows'])
  }
  return rows
}

test('an external id stays taken while it can be restored', async ({ academy, admin, learner, clock }) => {
  const { courseId, path } = await fullCourse(academy, admin, learner)
  await admin.delete(`${path}?force=true`)
  const again = { title: 'Logic', externalId: 'bio-101' }
  expect(await admin.post('/v1/courses', again)).toMatchObject({
    status: 409,
    body: {
      code: 'duplicate',
      id: courseId,
      existingStatus: 'deleted',
      detail: `A course with externalId bio-101 already exists: ${courseId} (deleted).`,
    },
  })
  const { body: other } = await admin.post('/v1/courses', { title: 'Logic' })
  expect((await admin.put(`/v1/courses/${other.id}`, again)).body.code).toBe('duplicate')
  const lesson = { courseId: other.id, title: 'Fins', externalId: 'bio-101-Fins' }
  expect(await admin.post('/v1/lessons', lesson)).toMatchObject({ status: 409 })
  clock.advance(31 * day)
  await sweep(academy.database, clock.now())
  expect((await admin.post('/v1/courses', again)).status).toBe(201)
  expect((await admin.post('/v1/lessons', lesson)).status).toBe(201)
})

test('after 30 days nothing restores a course, and a sweep removes it in small pieces', async ({
  academy,
  admin,
  learner,
  clock,
}) => {
  const { courseId, path } = await fullCourse(academy, admin, learner)
  await admin.delete('/v1/lessons/ext:bio-101-Scales')
  clock.advance(day)
  await academy.database.run(sql`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200)
    insert into course_versions (course_id, version, attributes, modified_attributes, user_id, created_at)
    select ${courseId}, 100 + i, '{}', '[]', ${admin.id}, ${start} from n`)
  await admin.delete(`${path}?force=true`)
  const rows = await trashRows(academy)
  expect(rows).toBeGreaterThan(1200)
  clock.advance(30 * day - hour)
  await sweep(academy.database, clock.now())
  // The lesson was deleted a day earlier.
  expect(await trashRows(academy)).toBe(rows - 3)
  clock.advance(hour)
  expect((await admin.post(`/v1/deleted-courses/${courseId}/restore`)).status).toBe(404)
  expect((await admin.get('/v1/deleted-courses')).body.data).toEqual([])
  await sweep(academy.database, clock.now(), 1)
  expect(await trashRows(academy)).toBeGreaterThan(500)
  await sweep(academy.database, clock.now())
  expect(await trashRows(academy)).toBe(0)
})

test('an erased course is gone at once, also from the trash; only admins erase', { tags: ['slow'] }, async ({
  academy,
  admin,
  instructor,
  learner,
}) => {
  const first = await fullCourse(academy, admin, learner)
  await admin.delete('/v1/lessons/ext:bio-101-Scales')
  expect(await instructor.delete(`${first.path}?erase=true`)).toMatchObject({ status: 403 })
  expect(await admin.delete(`${first.path}?erase=true`)).toMatchObject({ status: 409 })
  expect((await admin.delete(`${first.path}?force=true&erase=true`)).status).toBe(204)
  expect(await trashRows(academy)).toBe(0)
  const second = await fullCourse(academy, admin, learner)
  await admin.delete(`${second.path}?force=true`)
  expect((await admin.delete(second.path)).status).toBe(404)
  const stale = await admin.send('DELETE', `${second.path}?erase=true`, undefined, { 'if-match': '"1"' })
  expect(stale.status).toBe(412)
  expect((await admin.delete('/v1/courses/ext:bio-101?erase=true')).status).toBe(204)
  expect(await trashRows(academy)).toBe(0)
  expect(await admin.delete('/v1/courses/ext:bio-101?erase=true')).toMatchObject({
    status: 404,
    body: { detail: 'Deleted course ext:bio-101 not found.' },
  })
})

test('no kept answer names what was erased', async ({ academy: { database }, admin }) => {
  const create = (title: string) => admin.post('/v1/courses', { title }, { 'idempotency-key': `"${title}"` })
  const [kept, erased] = [await create('Logic'), await create('Rhetoric')]
  const answers = async () => await database.all(sql`select key from idempotency`)
  await admin.delete(`/v1/courses/${kept.body.id}`)
  expect(await answers()).toHaveLength(2)
  await admin.delete(`/v1/courses/${erased.body.id}?erase=true`)
  expect(await answers()).toEqual([{ key: 'Logic' }])
})

test('a deleted lesson comes back to its place with its versions', async ({ academy, admin, learner }) => {
  const { courseId } = await fullCourse(academy, admin, learner)
  const list = async () => (await admin.get(`/v1/lessons?course_id=${courseId}`)).text
  const versions = '/v1/lessons/ext:bio-101-Fins/versions'
  const before = [await list(), (await admin.get(versions)).text]
  await admin.delete('/v1/lessons/ext:bio-101-Fins')
  expect((await admin.get('/v1/lessons/ext:bio-101-Fins')).status).toBe(404)
  const { body } = await admin.get(`/v1/deleted-lessons?course_id=${courseId}`)
  expect(body.data).toMatchObject([
    { externalId: 'bio-101-Fins', courseId, title: 'Fins', order: 1, status: 'published', userId: admin.id },
  ])
  const restored = await admin.post('/v1/deleted-lessons/ext:bio-101-Fins/restore')
  expect(restored).toMatchObject({ status: 200, body: { title: 'Fins', version: 2, order: 1 } })
  expect([await list(), (await admin.get(versions)).text]).toEqual(before)
})

test('a restored lesson moves others down, outside a lost module', async ({ academy, admin, learner }) => {
  const { courseId, path } = await fullCourse(academy, admin, learner)
  await admin.delete('/v1/lessons/ext:bio-101-Gills')
  await admin.put('/v1/lessons/ext:bio-101-Scales', { order: 2 })
  await admin.put(path, { modules: [] })
  const { body } = await admin.post('/v1/deleted-lessons/bio-101-Gills/restore')
  expect(body).toMatchObject({ order: 2, moduleId: null, version: 2 })
  const lessons = (await admin.get(`/v1/lessons?course_id=${courseId}`)).body.data
  expect(lessons.map(({ title }: { title: string }) => title)).toEqual(['Fins', 'Gills', 'Scales'])
})

test('a lesson of a deleted or archived course is not restored', async ({ academy, admin, learner }) => {
  const { courseId, path } = await fullCourse(academy, admin, learner)
  await admin.delete('/v1/lessons/ext:bio-101-Fins')
  const restore = () => admin.post('/v1/deleted-lessons/ext:bio-101-Fins/restore')
  await admin.put(path, { status: 'archived' })
  expect(await restore()).toMatchObject({ status: 409, body: { code: 'course_archived' } })
  await admin.delete(`${path}?force=true`)
  expect(await restore()).toMatchObject({
    status: 409,
    body: {
      code: 'course_deleted',
      detail: 'Course Marine Biology of lesson Fins is deleted; restore the course first.',
      id: courseId,
    },
  })
  await admin.post(`/v1/deleted-courses/${courseId}/restore`)
  await admin.put(path, { status: 'published' })
  // It was deleted before the course, which was restored without it.
  expect((await admin.get('/v1/lessons')).body.data).toHaveLength(2)
  expect((await restore()).status).toBe(200)
  expect(await trashRows(academy)).toBe(0)
})

test('lessons come back in any order to where they were', async ({ academy, admin, learner }) => {
  const { courseId } = await fullCourse(academy, admin, learner)
  const ids = (await admin.get('/v1/lessons')).body.data.map(({ id }: { id: string }) => id)
  const text = async () => (await admin.get(`/v1/lessons?course_id=${courseId}`)).text
  const before = await text()
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray<string>(ids, { minLength: 1 }),
      fc.boolean(),
      async (some, reversed) => {
        for (const id of some) await admin.delete(`/v1/lessons/${id}`)
        for (const id of reversed ? some.toReversed() : some) {
          await admin.post(`/v1/deleted-lessons/${id}/restore`)
        }
        expect(await text()).toBe(before)
      },
    ),
    { numRuns: randomRuns(5, 20) },
  )
})

test('instructors see their trash, others have none', async ({ academy, admin, instructor, learner }) => {
  await admin.delete(`/v1/courses/${(await admin.post('/v1/courses', { title: 'Music' })).body.id}`)
  const { body } = await admin.post('/v1/courses', { title: 'Logic' })
  await admin.post('/v1/enrollments', { courseId: body.id, userId: instructor.id, role: 'instructor' })
  await instructor.delete(`/v1/courses/${body.id}`)
  const analyst = await academy.person('analyst')
  for (const person of [learner, analyst]) {
    expect((await person.get('/v1/deleted-courses')).status).toBe(403)
  }
  expect((await instructor.get('/v1/deleted-courses')).body.data).toMatchObject([{ userId: instructor.id }])
  expect((await instructor.post(`/v1/deleted-courses/${body.id}/restore`)).status).toBe(200)
})
