import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { Row, Store } from '../../../src/server/database/database.ts'
import { test } from '../../helpers/academy.ts'

interface EntryRow extends Row {
  readonly place: number | null
  readonly action: string
  readonly subject_id: string
  readonly details: string
  readonly credential: string
}

/** Returns the entries about a record, in order. */
async function entriesAbout(database: Store, id: string): Promise<EntryRow[]> {
  return database.all<EntryRow>(
    sql`select place, action, subject_id, details, credential from audit_entries where subject_id = ${id} order by id`,
  )
}

/** Returns `before` and `after` of an entry. */
function changeIn({ details }: EntryRow): unknown[] {
  return (JSON.parse(details) as unknown[]).slice(3)
}

test('a course changed and published at once gets two entries', async ({ academy, admin }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
  await admin.put(`/v1/courses/${course.id}`, { title: 'Modal logic', status: 'published' })
  await admin.put(`/v1/courses/${course.id}`, { title: 'Modal logic' })
  const entries = await entriesAbout(academy.database, course.id)
  expect(entries.map(({ action }) => action)).toEqual([
    'course.created',
    'course.updated',
    'course.published',
  ])
  expect(entries.map(changeIn)).toEqual([
    [null, expect.objectContaining({ title: 'Logic', status: 'draft' })],
    [
      { title: 'Logic', version: 1 },
      { title: 'Modal logic', version: 2 },
    ],
    [
      { status: 'draft', publishedAt: null },
      { status: 'published', publishedAt: '2026-03-01T12:00:00.000Z' },
    ],
  ])
  expect(entries.every(({ credential }) => credential.startsWith('key_'))).toBe(true)
})

test('each item of a batch is recorded, unless it was refused', async ({ academy, admin }) => {
  const items = [{ email: 'one@school.example' }, { email: 'none' }, { email: 'two@school.example' }]
  const { body } = await admin.post('/v1/users/batch', { items })
  const ids: string[] = body.results.flatMap(({ id }: { id?: string }) => (id === undefined ? [] : [id]))
  const told = await Promise.all(ids.map((id) => entriesAbout(academy.database, id)))
  expect(told.flat().map(({ action }) => action)).toEqual(['user.created', 'user.created'])
  if (academy.database.dialect.hasManyWriters) return
  expect(Number(told[1]?.[0]?.place)).toBe(Number(told[0]?.[0]?.place) + 1)
})

test('progress is not recorded, but its enrolments are', async ({ academy, admin, learner }) => {
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  for (const completionPercentage of [50, 100]) {
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage })
  }
  const { data } = (await admin.get(`/v1/enrollments?user_id=${learner.id}`)).body
  const entries = await entriesAbout(academy.database, data[0].id)
  const { updatedAt, ...enrollment } = data[0]
  expect(entries.map(({ action }) => action)).toEqual(['enrollment.created', 'enrollment.completed'])
  expect(Object.assign({}, ...entries.map((entry) => changeIn(entry)[1]))).toEqual({
    ...enrollment,
    updatedAt,
  })
  expect((await entriesAbout(academy.database, learner.id)).map(({ action }) => action)).toEqual([
    'user.created',
  ])
})

test('a new password and what it ends is recorded, no secret', async ({ academy, admin, learner }) => {
  const password = 'a long enough one'
  await admin.put(`/v1/users/${learner.id}`, { password })
  const entries = await entriesAbout(academy.database, learner.id)
  expect(entries.at(-1)).toMatchObject({ action: 'user.password_changed' })
  expect(JSON.stringify(await academy.database.all(sql`select * from audit_entries`))).not.toContain(password)
})
