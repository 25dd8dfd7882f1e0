import { ApiError } from '../../client/errors.ts'
import { shellWord } from '../../codec/display-text.ts'
import { findNearest } from '../../codec/nearest.ts'
import { parseReference } from '../../codec/reference.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { type Sources, withSources } from './refused-call.ts'

/** Lists of the records that fields and parameters refer to: `courseId`, `course_id`. */
export const nouns = {
  course: 'courses',
  lesson: 'lessons',
  user: 'users',
  learner: 'users',
  group: 'groups',
  term: 'terms',
} as const

/**
 * Returns the error for a command to end with: a refusal in terms of the command line, with the nearest record in place
 * of one that was not found.
 */
export async function withNearest(
  context: Context,
  error: unknown,
  sources: Sources,
  given: Given,
): Promise<unknown> {
  const near = await nearestRecordHint(context, sources, given, error).catch(() => null)
  return withSources(error, sources, given, near)
}

/**
 * Suggests a record of a local academy whose id, external id, name or address resembles the reference that was not
 * found; null without one. It looks at one page of records; other platforms are not called again.
 */
async function nearestRecordHint(
  { session, io }: Context,
  sources: Sources,
  given: Given,
  error: unknown,
): Promise<string | null> {
  if (!(error instanceof ApiError) || error.code !== 'not_found' || session.target().kind !== 'local')
    return null
  const [first] = referencesIn(sources, given).filter(({ value }) => error.message.includes(value))
  if (!first) return null
  const [caller, { calls }] = await Promise.all([session.caller(), import('../../contract/calls.ts')])
  const list: Operation = calls[first.noun].list
  const { data } = await caller.call(list, { query: { limit: maxPageSize }, signal: io.signal })
  const records = valueAt(data, 'data')
  const references = new Map(Array.isArray(records) ? records.flatMap(referencesTo) : [])
  const near = findNearest(parseReference(first.value).value, [...references.keys()])
  const found = [...new Set(near.map((name) => shellWord(references.get(name) ?? name)))]
  return found.length === 0 ? null : `Did you mean ${found.join(' or ')}?`
}

type Noun = (typeof nouns)[keyof typeof nouns]

function referencesIn({ positions, fields, query }: Sources, given: Given): { noun: Noun; value: string }[] {
  const typed = [
    ...positions.map(([place, { name }]) => [place, given.arguments[name]] as const),
    ...[...query, ...fields].map(({ place, flag }) => [place, given.flags[flag.name]] as const),
  ]
  return typed.flatMap(([place, values]) => {
    const [, name = ''] = /^(\w+?)_?id$/i.exec(place) ?? []
    if (!isNamed(name)) return []
    return [values].flat().flatMap((value) => {
      return typeof value === 'string' && value !== '' ? [{ noun: nouns[name], value }] : []
    })
  })
}

function isNamed(name: string): name is keyof typeof nouns {
  return Object.hasOwn(nouns, name)
}

function referencesTo(record: unknown): [name: string, reference: string][] {
  const [id, externalId, email, title, name] = ['id', 'externalId', 'email', 'title', 'name'].map((field) => {
    const value = valueAt(record, field)
    return typeof value === 'string' ? value : undefined
  })
  if (id === undefined) return []
  const reference = externalId === undefined ? (email ?? id) : `ext:${externalId}`
  return [externalId, email, title, name].flatMap((each) => (each === undefined ? [] : [[each, reference]]))
}
