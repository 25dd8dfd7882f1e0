import { ApiError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { findNearest } from '../../codec/nearest.ts'
import { parseReference } from '../../codec/reference.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import type { BoundCall } from './operation-spec.ts'

/** Lists of the records that path parameters refer to. */
const nouns = {
  courseId: 'courses',
  lessonId: 'lessons',
  userId: 'users',
  learnerId: 'users',
  termId: 'terms',
} as const

/**
 * Suggests a record of a local academy whose id, external id, title or address resembles the reference that was not
 * found; null without one. It looks at one page of records; other platforms are not called again.
 */
export async function nearestRecordHint(
  { session, io }: Context,
  { positions }: Pick<BoundCall, 'positions'>,
  given: Given,
  error: unknown,
): Promise<string | null> {
  if (!(error instanceof ApiError) || error.code !== 'not_found' || session.target().kind !== 'local')
    return null
  const missing = positions.flatMap(([parameter, { name }]) => {
    const value = given.arguments[name]
    return isNamed(parameter) && value && error.message.includes(value)
      ? [[nouns[parameter], value] as const]
      : []
  })
  const [first] = missing
  if (!first) return null
  const [noun, typed] = first
  const [caller, { calls }] = await Promise.all([session.caller(), import('../../contract/calls.ts')])
  const list: Operation = calls[noun].list
  const { data } = await caller.call(list, { query: { limit: maxPageSize }, signal: io.signal })
  const records = valueAt(data, 'data')
  const references = new Map(Array.isArray(records) ? records.flatMap(referencesTo) : [])
  const near = findNearest(parseReference(typed).value, [...references.keys()])
  const found = [...new Set(near.map((name) => shellWord(references.get(name) ?? name)))]
  return found.length === 0 ? null : `Did you mean ${found.join(' or ')}?`
}

function isNamed(parameter: string): parameter is keyof typeof nouns {
  return Object.hasOwn(nouns, parameter)
}

/** Returns the reference to a record by each of its names. */
function referencesTo(record: unknown): [name: string, reference: string][] {
  const [id, externalId, email, title] = ['id', 'externalId', 'email', 'title'].map((field) => {
    const value = valueAt(record, field)
    return typeof value === 'string' ? value : undefined
  })
  if (id === undefined) return []
  const reference = externalId === undefined ? (email ?? id) : `ext:${externalId}`
  return [externalId, email, title].flatMap((name) => (name === undefined ? [] : [[name, reference]]))
}
