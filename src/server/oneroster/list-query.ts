import { type Filter, invalid, parseFilter } from './filter.ts'
import { refused } from './status-info.ts'

const defaultLimit = 100
const maxLimit = 10_000
const maxOffset = 1_000_000_000

export interface ListQuery {
  readonly limit: number
  readonly offset: number
  /** Undefined for any order. */
  readonly sort: string | undefined
  readonly isDescending: boolean
  readonly filter: Filter | undefined
  /** To show; undefined for all. */
  readonly fields: readonly string[] | undefined
}

/**
 * Reads the query of a list with these fields. Throws 400 for an unknown field and a malformed value; other parameters are
 * ignored.
 */
export function readListQuery(query: URLSearchParams, fields: readonly string[]): ListQuery {
  const sort = query.get('sort') || undefined
  if (sort !== undefined && !fields.includes(sort)) throw badSelection(`sort: unknown field ${quoted(sort)}`)
  const orderBy = query.get('orderBy')?.toLowerCase() || 'asc'
  if (!['asc', 'desc'].includes(orderBy)) throw badSelection('orderBy must be asc or desc')
  const text = query.get('filter') || undefined
  const filter = text === undefined ? undefined : parseFilter(text)
  for (const { field } of filter?.flat() ?? []) {
    const [name = '', ...rest] = field.split('.')
    if (!fields.includes(name) || rest.length > 1) throw invalid(`names an unknown field: ${quoted(field)}`)
  }
  return {
    limit: readNumber(query, 'limit', { min: 1, max: maxLimit, initial: defaultLimit }),
    offset: readNumber(query, 'offset', { min: 0, max: maxOffset, initial: 0 }),
    sort,
    isDescending: orderBy === 'desc',
    filter,
    fields: readFields(query, fields),
  }
}

/** Throws 400 for an unknown one. */
export function readFields(query: URLSearchParams, known: readonly string[]): readonly string[] | undefined {
  const names = query
    .getAll('fields')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw badSelection(`fields: unknown field ${quoted(unknown)}`)
  return names.length === 0 ? undefined : names
}

export function pick(record: object, fields: readonly string[] | undefined): object {
  if (!fields) return record
  return Object.fromEntries(Object.entries(record).filter(([name]) => fields.includes(name)))
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { min, max, initial }: { readonly min: number; readonly max: number; readonly initial: number },
): number {
  const text = query.get(name) || String(initial)
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw badSelection(`${name} must be a whole number from ${min} to ${max}`)
}

/** 400: the selection cannot be made. */
export function badSelection(problem: string): Error {
  return refused('invalid_parameter', 'invalid_selection_field', `${problem}.`)
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
