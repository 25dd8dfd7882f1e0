import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { filteredRows } from '../../../src/server/analytics/export.ts'
import { rowFilterOf } from '../../../src/server/analytics/row-filter.ts'
import type { Row } from '../../../src/server/database/database.ts'
import { onPostgres, test as standard } from '../../helpers/academy.ts'

// Only for plans of SQLite.
const test = standard.skipIf(onPostgres)

const anyTime = { start: null, end: null }
const query = {
  limit: 20,
  include_total: false,
  include_deleted: false,
  include_not_started: false,
  summary: false,
  raw: false,
  bom: false,
}

/** A caller who sees everything. */
const principal = { userId: null, sees: 'all' } as const

test("an export walks the learners in their order, and each one's rows are found by indexes", async ({
  academy: { database },
}) => {
  const filter = await rowFilterOf({ database, query, principal }, anyTime)
  const statement = filteredRows(filter).statement
  const plan = await database.all<Row & { detail: string }>(sql`explain query plan ${statement}`)
  const steps = plan.map(({ detail }) => detail)
  expect(steps).toContain('SCAN u USING INDEX users_by_email')
  expect(steps).not.toContain('USE TEMP B-TREE FOR ORDER BY')
  expect(steps.filter((step) => step.startsWith('SCAN'))).toHaveLength(1)
})

type Query = Partial<Parameters<typeof rowFilterOf>[0]['query']>
const filters: Record<string, [Query, Parameters<typeof rowFilterOf>[1]]> = {
  'a course': [{ course_id: 'crs_1' }, anyTime],
  'a period': [{}, { start: '2026-01-01T00:00:00.000Z', end: null }],
}

test.for(Object.entries(filters))(
  'an export of %s with few learners begins with these',
  async ([, [filter, period]], { academy: { database } }) => {
    await database.run(sql`
    insert into courses (id, title, description, difficulty, status, attributes, version, created_at, updated_at)
    values ('crs_1', 'Logic', '', 'beginner', 'published', '{}', 1, '', '')`)
    const statement = filteredRows(
      await rowFilterOf({ database, query: { ...query, ...filter }, principal }, period),
    ).statement
    const plan = await database.all<Row & { detail: string }>(sql`explain query plan ${statement}`)
    const steps = plan.map(({ detail }) => detail)
    expect(steps).toContainEqual(expect.stringMatching(/^SEARCH u USING INDEX \S+ \(id=\?\)/))
    expect(steps).not.toContainEqual(expect.stringMatching(/^SCAN (u|e|enrollments|progress|p)\b/))
  },
)
