import * as z from 'zod'
import { paging } from '../../../src/contract/lists.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { writeCursor } from '../../../src/server/database/page.ts'

/** Ids of two records of each kind that filters name, and a place in the feed of changes. */
export interface Named {
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
export function queriesOf(operation: Operation, named: Named, isFull: boolean): URLSearchParams[] {
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
export function cursorsOf(operation: Operation, query: URLSearchParams, named: Named): (string | null)[] {
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
  'analytics.learnerChanges': feedStart,
  'analytics.statements': writeCursor('history', '1', '1', '1', 1, 0),
  'users.data': writeCursor('personal', 'gradeHistory', '["1","1","1",1]'),
  'analytics.grades': writeCursor('items', '1', '1', '1'),
  'analytics.learners': writeCursor('learners', '1', '1', '1', '1'),
  'analytics.atRisk': writeCursor('learners', '1', '1', '1', '1'),
  'grades.report': writeCursor('learners', '1', '1', '1', '1'),
})
