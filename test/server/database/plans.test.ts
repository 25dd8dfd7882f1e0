import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { paging } from '../../../src/contract/page.ts'
import { writeCursor } from '../../../src/server/database/keyset.ts'
import { examples, filled, furnish } from '../../contract/examples.ts'
import { openTestAcademy } from '../../helpers/academy.ts'
import { planFaults } from './plan-faults.ts'
import { watched } from './watched-database.ts'

/** The statements of the request that is under way, and whether lists are to think that their tables are large. */
let statements = new Set<string>()
let large = false
const faultsOfStatement = new Map<string, string[]>()

const school = await openTestAcademy({
  through: (database) =>
    watched(database, {
      seen: (statement) => statements.add(statement),
      instead: (statement) => {
        // Where lists ask how many rows a filter leaves, and whether there are more than a page looks at.
        if (/^\s*select count\(\*\) as count from \(/.test(statement) && large) return { count: 1_000_000 }
        return /limit 1 offset \?\s*$/.test(statement) ? { cursor_value: '', cursor_id: '' } : undefined
      },
    }),
})
const plans = planFaults(school.path)
afterAll(() => {
  plans.close()
  school.close()
})
const admin = await school.person('admin')
const learner = await school.person('learner')
const things = await furnish(school, admin)

/** What no statement can be asked to do at a cost that does not grow, and why that is well. */
const known: readonly (readonly [RegExp, string])[] = [
  [
    /from progress p where p\.user_id = \? .*order by p\.last_accessed/,
    'a learner has a row for each course at most',
  ],
  [/from counter_changes\) k where .* and course_id = \? group by/, 'a course has some hundred counters'],
  [/delete from idempotency .* limit \?\)/, 'erasure looks through the answers of one day'],
]

async function faultsOf(work: () => Promise<{ status: number; text: string }>): Promise<string[]> {
  const faults: string[] = []
  for (large of [false, true]) {
    statements = new Set()
    const { status, text } = await work()
    expect(status, text).toBeLessThan(300)
    expect(statements).not.toEqual(new Set())
    for (const statement of statements) {
      const found = faultsOfStatement.get(statement) ?? plans.faultsOf(statement)
      faultsOfStatement.set(statement, found)
      faults.push(...found)
    }
  }
  return faults.filter((fault) => !known.some(([pattern]) => pattern.test(fault)))
}

/** Values of a query parameter that lead to statements of their own. */
function valuesOf(name: string, { filters = {} }: Operation, schema: z.core.JSONSchema.JSONSchema): string[] {
  const filter = filters[name]
  if (name === 'course_id') return [things['courseId'] ?? '']
  if (name === 'user_id' || name === 'learner_id') return [things['learnerId'] ?? '']
  if (filter?.by === 'choice') {
    const [first = '', second = ''] = filter.choices
    return schema.enum ? [first] : [`${first},${second}`]
  }
  if (filter?.by === 'search') return ['x', 'somebody']
  if (filter?.by === 'start' || filter?.by === 'end') return ['2026-01-01T00:00:00Z']
  return schema.enum ? ['true'] : ['something']
}

/** The queries of a list: each order without a filter and with each of them, and every two filters. */
function queriesOf(operation: Operation): URLSearchParams[] {
  const { properties = {} } = z.toJSONSchema(operation.query ?? z.object({}), { io: 'input' })
  const schemas = Object.entries(properties) as [string, z.core.JSONSchema.JSONSchema][]
  const sorts = (properties['sort'] as { enum?: string[] } | undefined)?.enum ?? []
  const given = schemas
    .filter(([name]) => name !== 'sort' && !Object.hasOwn(paging, name))
    .flatMap(([name, schema]) => valuesOf(name, operation, schema).map((value) => [name, value] as const))
  const required =
    operation.id === 'progress.history' ? [['course_id', things['courseId'] ?? ''] as const] : []
  const pairs = given.flatMap((one, index) => given.slice(index + 1).map((other) => [one, other]))
  const queryOf = (some: readonly (readonly string[])[], sort: string) =>
    new URLSearchParams({
      ...Object.fromEntries([...required, ...some]),
      ...(sort && { sort }),
      include_total: 'true',
    })
  const single = [[], ...given.map((one) => [one])]
  return [
    ...['', ...sorts].flatMap((sort) => single.map((some) => queryOf(some, sort))),
    ...pairs.map((some) => queryOf(some, '')),
  ]
}

const lists = operations.filter(({ list, id }) => list && !id.startsWith('analytics.'))

test.for(lists)('$id: no filter and no order makes it grow', async (operation) => {
  const path = filled(operation.path, things)
  const standard = {
    'courses.versions': '-version',
    'progress.history': '-version',
    'progress.list': '-lastAccessed',
  }
  const { properties = {} } = z.toJSONSchema(operation.query ?? z.object({}), { io: 'input' })
  const faults = new Set<string>()
  for (const query of queriesOf(operation)) {
    const { default: usual } = (properties['sort'] ?? {}) as { default?: string }
    const sort = query.get('sort') ?? usual ?? standard[operation.id as keyof typeof standard] ?? '-createdAt'
    for (const person of [admin, ...(operation.roles.includes('learner') ? [learner] : [])]) {
      const own = person === learner && operation.id.startsWith('progress.')
      const place = own ? path.replace(things['learnerId'] ?? '', learner.id) : path
      // To a learner, lists are narrower in each order alike; other people and drafts are not there.
      if (person === learner && (query.has('sort') || query.has('user_id') || query.has('course_id')))
        continue
      for (const cursor of ['', writeCursor(sort, 'x', 'x')]) {
        const asked = new URLSearchParams({ ...Object.fromEntries(query), ...(cursor && { cursor }) })
        for (const fault of await faultsOf(() => person.get(`${place}?${asked}`))) faults.add(fault)
      }
    }
  }
  expect([...faults]).toEqual([])
})

const others = operations.filter(({ list, media }) => !list && !media)

test.for(others)('$id: nothing that it does grows', async (operation) => {
  const { request, body } = examples[operation.id] ?? { request: '' }
  const [method = '', target = ''] = filled(request, things).split(' ')
  const faults: string[] = []
  statements = new Set()
  const sent = operation.body ? filled(JSON.stringify(body ?? {}), things) : undefined
  const headers = {
    ...(sent && { 'content-type': 'application/json' }),
    'idempotency-key': `"${operation.id}"`,
  }
  await admin.send(method, target, sent, headers)
  for (const statement of statements) faults.push(...plans.faultsOf(statement))
  expect(faults.filter((fault) => !known.some(([pattern]) => pattern.test(fault)))).toEqual([])
})

test('what reads or sorts a whole table is told', () => {
  const whole = [
    "select id from users where profile = 'x'",
    'select count(*) from enrollments e',
    "select 1 from courses where status <> 'draft' limit 1",
    'select id from users u order by u.profile, u.id limit ?',
    'update users set role = ? where profile = ?',
    "select u.id from users u where case when u.role in ('admin') then 1 else 0 end = 1 order by u.created_at, u.id limit ?",
  ]
  for (const statement of whole) expect(plans.faultsOf(statement), statement).not.toEqual([])
  const bounded = [
    'select id from users where email_key = ?',
    "select value from settings where value = 'x'",
    "select u.id from users u where u.status <> 'deleted' order by u.created_at, u.id limit ?",
  ]
  for (const statement of bounded) expect(plans.faultsOf(statement), statement).toEqual([])
})
