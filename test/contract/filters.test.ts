import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Call, calls } from '../../src/contract/calls.ts'
import { operations } from '../../src/contract/index.ts'
import { type Filter, paging } from '../../src/contract/lists.ts'

/** Parameters that control paging, order and form, or add items. */
const others = [
  ...Object.keys(paging),
  'sort',
  'format',
  'summary',
  'bom',
  'raw',
  'include_deleted',
  'include_not_started',
  'include_unpublished',
  'xapi_version',
  'actor',
  'home_page',
  'inactive_days',
  'stuck_days',
  'stuck_below',
  'by',
  'table',
  'after',
]

const fieldsOf = (filter: Filter): string[] => {
  if (filter.by === 'search') return [...filter.fields]
  const { ext, email } = filter.by === 'reference' ? filter : {}
  if (filter.by === 'reference' && filter.hidden) return []
  return [filter.field, ...(ext ? [ext] : []), ...(email ? [email] : [])]
}

const called = Object.values(calls).flatMap((group) => Object.values<Call>(group))

describe.for(operations.filter(({ list }) => list))('$id', ({ id, query, filters = {} }) => {
  const parameters = query ? Object.keys(query.shape) : []

  test('says of every parameter which items it asks for', () => {
    const described = [...Object.keys(filters), ...others]
    expect(parameters.filter((name) => !described.includes(name))).toEqual([])
    expect(Object.keys(filters).filter((name) => !parameters.includes(name))).toEqual([])
  })

  test('filters by fields that its items have, and by parameters that it takes', () => {
    const { answer: paths } = called.find((call) => call.id === id)?.holds ?? { answer: [] }
    for (const filter of Object.values(filters)) {
      expect(paths).toEqual(expect.arrayContaining(fieldsOf(filter)))
      if ('unlessSet' in filter) expect(parameters).toContain(filter.unlessSet)
    }
  })

  test('knows the words that a choice takes', () => {
    const { properties = {} } = z.toJSONSchema(query ?? z.object({}), { io: 'input' })
    for (const [name, filter] of Object.entries(filters)) {
      const { items, enum: words = (items as { enum?: unknown })?.enum } = properties[
        name
      ] as z.core.JSONSchema.JSONSchema
      expect(words, name).toEqual(
        filter.by === 'choice' ? [...filter.choices, ...Object.keys(filter.names ?? {})] : undefined,
      )
    }
  })
})
