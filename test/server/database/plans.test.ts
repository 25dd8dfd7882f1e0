import sql from 'sql-template-tag'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { operations } from '../../../src/contract/index.ts'
import { paging } from '../../../src/contract/lists.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { writeCursor } from '../../../src/server/database/page.ts'
import { exampleOf, fillIn, furnish } from '../../contract/examples.ts'
import { onPostgres, type Person } from '../../helpers/academy.ts'
import { openPlannedAcademy } from '../../helpers/plans/planned-academy.ts'

// Each operation is called in an academy that says it is large. The plan of each statement that a call causes must not read or
// sort a table from end to end: no call takes longer the larger a table is, unless it returns more.

/** All pairs of parameters; on PostgreSQL, where they take minutes, each parameter alone. */
const isFull = process.env['LEARNCTL_TEST_LENGTH'] === 'full' && !onPostgres
const { academy, plans, faultsOf, faultsAtEachSize, close } = await openPlannedAcademy()
afterAll(close)
const admin = await academy.person('admin')
const instructor = await academy.person('instructor')
const learner = await academy.person('learner')
const things = await furnish(academy, admin)
const named = await addSecondOfEach()

/** Makes a second course and group, enrols everyone, and changes a record of each kind that the feed of changes has. */
async function addSecondOfEach(): Promise<Named> {
  const { courseId = '', learnerId = '', groupId = '', termId = '', courseTermId = '' } = things
  const another = String((await admin.post('/v1/courses', { title: 'Another' })).body.id)
  const anotherGroup = String((await admin.post('/v1/groups', { name: 'Another' })).body.id)
  for (const course of [courseId, another]) {
    await admin.post('/v1/enrollments', { courseId: course, userId: instructor.id, role: 'instructor' })
  }
  await admin.post('/v1/enrollments', { courseId: another, userId: learner.id })
  for (const id of [groupId, anotherGroup]) await admin.put(`/v1/groups/${id}/members/${learner.id}`)

  const feedStart = String((await admin.get('/v1/analytics/changes')).body.until)
  await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: another, completionPercentage: 1 })
  await admin.put(`/v1/users/${learner.id}`, { profile: { firstName: 'Ada' } })
  await academy.grade({ learnerId: learner.id, courseId: another, scoreGiven: 1 })
  await admin.put(`/v1/courses/${another}`, { description: 'Changed' })
  await admin.delete(`/v1/users/${(await academy.person('learner')).id}`)
  return {
    courses: [courseId, another],
    learners: [learnerId, learner.id],
    terms: [termId, courseTermId],
    groups: [groupId, anotherGroup],
    feedStart,
  }
}

const lists = operations.filter(({ list }) => list)

/** Lists of so many filters that all of them take long; the first one stands for them. */
const heavy: readonly string[] = [
  ...[
    'analytics.learners',
    'analytics.atRisk',
    'enrollments.list',
    'users.list',
    'grades.list',
    'groups.list',
  ],
  ...['groups.memberships', 'lessons.list', 'progress.all'],
]
const isHeavy = ({ id }: Operation) => heavy.includes(id)

test.for(lists.filter(isHeavy))(
  '$id: no filter and no order makes it grow',
  { tags: ['slow'] },
  requireBounded,
)
test.for(lists.filter((list) => !isHeavy(list)))('$id: no filter and no order makes it grow', requireBounded)

async function requireBounded(operation: Operation): Promise<void> {
  // Each fault with the first request that causes it.
  const requestByFault = new Map<string, string>()
  for (const query of queriesOf(operation, named, isFull)) {
    for (const [role, person, path] of callersOf(operation, query)) {
      for (const cursor of cursorsOf(operation, query, named)) {
        const asked = new URLSearchParams([...query, ...(cursor === null ? [] : [['cursor', cursor]])])
        const request = `${path}?${asked}`
        for (const fault of await faultsAtEachSize(() => succeeds(person, request))) {
          if (!requestByFault.has(fault)) requestByFault.set(fault, `${role}: GET ${request}`)
        }
      }
    }
  }
  expect(Object.fromEntries(requestByFault)).toEqual({})
}

async function succeeds(person: Person, path: string): Promise<void> {
  const { status, text } = await person.get(path)
  expect(status, text).toBeLessThan(300)
}

/** Returns the callers that see different rows of a list, each with the path of the list. */
function callersOf(
  operation: Operation,
  query: URLSearchParams,
): (readonly [role: string, person: Person, path: string])[] {
  const { id, roles } = operation
  const path = fillIn(operation.path, things)
  const ownPath = id.startsWith('progress.') ? path.replace(named.learners[0], learner.id) : path
  // Grants and changes are the caller's own.
  const isOwn = ['grants.list', 'changes.records'].includes(id)
  // A learner's rows are narrowed in the same way in each order; other users, drafts and histories are hidden.
  const isHidden =
    id === 'grades.history' || ['sort', 'user_id', 'learner_id', 'course_id'].some((name) => query.has(name))
  return [
    ...(roles.includes('admin') ? [['admin', admin, path] as const] : []),
    ...(roles.includes('instructor') && !isOwn ? [['instructor', instructor, path] as const] : []),
    ...(roles.includes('learner') && !isHidden ? [['learner', learner, ownPath] as const] : []),
  ]
}

const others = operations.filter(({ list, media }) => !list && !media)

test.for(others)('$id: nothing that it does grows', async (operation) => {
  const { method, target, body = '{}' } = exampleOf(operation, things)
  const headers = {
    ...(operation.body && { 'content-type': 'application/json' }),
    'idempotency-key': `"${operation.id}"`,
  }
  const isOfTeachers = operation.roles.includes('instructor') && operation.scope !== 'admin'
  const callers = isOfTeachers && !target.includes('?') ? [instructor, admin] : [admin]
  const faults = await faultsOf(async () => {
    for (const person of callers) await person.send(method, target, operation.body && body, headers)
  })
  expect(faults).toEqual([])
})

test('enrolling a learner by their first progress, and ending that, does not grow', async () => {
  const { id } = await academy.person('learner')
  const faults = await faultsOf(async () => {
    const progress = { courseId: named.courses[1], completionPercentage: 20 }
    expect((await admin.put(`/v1/learners/${id}/progress`, progress)).status).toBe(200)
    const { body } = await admin.get(`/v1/enrollments?user_id=${id}`)
    expect((await admin.delete(`/v1/enrollments/${body.data[0].id}`)).status).toBe(204)
  })
  expect(faults).toEqual([])
})

const growing = [
  sql`select id from users where profile ->> 'city' = ${'x'}`,
  sql`select count(*) from enrollments e`,
  sql`select 1 from users where status <> 'draft' limit 1`,
  sql`select id from users u order by u.version, u.id limit ${21}`,
  sql`update users set role = ${'x'} where password_hash = ${'x'}`,
]
/** A page that passes rows must find what it tests in the index; PostgreSQL estimates how many it would fetch. */
const fetching = sql`select u.id from users u where case when u.username in ('x') then 1 else 0 end = 1 order by u.created_at, u.id limit ${21}`
/** A statement that SQLite alone plans badly: it reads all learners of the course, or all courses of the learner. */
const halfOfPair = sql`select 1 from enrollments e where e.user_id in (select id from users where external_id = ${'x'})
    and e.course_id in (select id from courses where external_id = ${'x'}) and e.role = 'learner' and e.status in ('active')`
const bounded = [
  sql`select id from users where email_key = ${'x'}`,
  sql`select value from settings where value = ${'x'}`,
  sql`select u.id from users u where u.status <> 'deleted' order by u.created_at, u.id limit ${21}`,
  sql`select u.id from users u where case when u.role in ('admin') then 1 else 0 end = 1 order by u.created_at, u.id limit ${21}`,
]

test('a statement that reads or sorts a whole table is reported, and no other', async () => {
  for (const statement of onPostgres ? growing : [...growing, fetching, halfOfPair]) {
    expect(await plans.faultsOf(statement), statement.sql).not.toEqual([])
  }
  for (const statement of bounded) expect(await plans.faultsOf(statement), statement.sql).toEqual([])
})

/** Ids of two records of each kind that filters name, and a place in the feed of changes. */
interface Named {
  readonly courses: readonly [string, string]
  readonly learners: readonly [string, string]
  readonly terms: readonly [string, string]
  readonly groups: readonly [string, string]
  readonly feedStart: string
}

type Parameter = readonly [name: string, value: string]

/**
 * Returns the queries of a list: without a filter, in each order, and with each filter alone. In full, also each filter in each
 * order, and all pairs of filters.
 */
function queriesOf(operation: Operation, named: Named, isFull: boolean): URLSearchParams[] {
  const { sort, include_total, ...others } = parametersOf(operation)
  const filters = Object.entries(others).flatMap(([name, schema]) =>
    Object.hasOwn(paging, name)
      ? []
      : valuesOf(name, schema, operation, named).map((value): Parameter => [name, value]),
  )
  const orders = (sort?.enum ?? []).map((order): Parameter => ['sort', String(order)])
  const pairs = filters.flatMap((one, index) => filters.slice(index + 1).map((other) => [one, other]))
  const inFull = [...orders.flatMap((order) => filters.map((filter) => [order, filter])), ...pairs]
  const always: readonly Parameter[] = [
    ...(requiredBy(named)[operation.id] ?? []),
    ...(include_total ? [['include_total', 'true'] as const] : []),
  ]
  return [
    [],
    ...orders.map((order) => [order]),
    ...filters.map((filter) => [filter]),
    ...(isFull ? inFull : []),
  ].map((chosen) => new URLSearchParams(Object.fromEntries([...always, ...chosen])))
}

/** Returns a cursor of a list in the order of a query; null for its first page. */
function cursorsOf(operation: Operation, query: URLSearchParams, named: Named): (string | null)[] {
  const { sort } = parametersOf(operation)
  const order = query.get('sort') ?? sort?.default ?? usualOrders[operation.id] ?? '-createdAt'
  return [null, ownCursors(named)[operation.id] ?? writeCursor(String(order), '1', '1')]
}

function parametersOf({ query }: Operation): Record<string, z.core.JSONSchema.JSONSchema> {
  const { properties = {} } = z.toJSONSchema(query ?? z.object({}), { io: 'input' })
  return properties as Record<string, z.core.JSONSchema.JSONSchema>
}

/** Parameters without which an operation is refused. */
const requiredBy = ({ courses }: Named): Readonly<Record<string, readonly Parameter[]>> => ({
  'progress.history': [['course_id', courses[0]]],
  'analytics.rows': [['table', 'progress']],
})

/** Returns the values of a parameter that lead to different statements. */
function valuesOf(
  name: string,
  schema: z.core.JSONSchema.JSONSchema,
  { filters = {} }: Operation,
  { courses, learners, terms, groups }: Named,
): string[] {
  const filter = filters[name]
  const oneAndBoth = (ids: readonly [string, string]) =>
    filter?.by === 'reference' && filter.several ? [ids[0], ids.join()] : [ids[0]]
  if (name === 'course_id') return oneAndBoth(courses)
  if (name === 'user_id' || name === 'learner_id') return oneAndBoth(learners)
  if (name === 'term_id') return oneAndBoth(terms)
  if (name === 'group_id') return oneAndBoth(groups)
  if (name === 'format') return ['json', 'csv']
  if (filter?.by === 'choice') {
    const [first = '', second = ''] = filter.choices
    return schema.enum ? [first] : [`${first},${second}`]
  }
  if (filter?.by === 'search') return ['x', 'somebody']
  // The large academy on PostgreSQL has few rows beyond these.
  if (filter?.by === 'start') return ['2026-07-21T00:00:00Z']
  if (filter?.by === 'end') return ['2026-07-21T00:01:00Z']
  if (name === 'home_page' || name === 'after') return []
  if (name === 'table') return schema.enum ? [] : ['progress,grades', 'users']
  if (schema.type === 'integer' || schema.type === 'number') return ['7']
  return schema.enum ? [schema.enum.includes('true') ? 'true' : String(schema.enum[0])] : ['something']
}

/** Orders of the lists that have one order only, by operation. */
const usualOrders: Readonly<Record<string, string>> = {
  'integrations.list': 'lmsKind',
  'deliveries.list': '-receivedAt',
  'courses.versions': '-version',
  'lessons.versions': '-version',
  'progress.history': '-version',
  'grades.history': '-version',
  'progress.list': '-lastAccessed',
  'progress.all': 'createdAt',
}

/** Cursors of the lists that have cursors of their own, by operation. */
const ownCursors = ({ feedStart }: Named): Readonly<Record<string, string>> => ({
  'progress.steps': writeCursor('steps', writeCursor('createdAt', '1', '1'), '1', 1),
  'analytics.rows': writeCursor('progress', '1', '1', 1),
  'analytics.changes': feedStart,
  'analytics.statements': writeCursor('history', '1', '1', '1', 1, 0),
  'users.data': writeCursor('personal', 'gradeHistory', '["1","1","1",1]'),
  'analytics.grades': writeCursor('items', '1', '1', '1'),
  'analytics.learners': writeCursor('learners', '1', '1', '1', '1'),
  'analytics.atRisk': writeCursor('learners', '1', '1', '1', '1'),
  'grades.report': writeCursor('learners', '1', '1', '1', '1'),
})
