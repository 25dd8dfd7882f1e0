import { isStorableText } from '../../codec/unicode-text.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem-error.ts'

const defaultLimit = 100
const maxLimit = 10_000

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

/** Throws 400 for an unknown field and a malformed value; other parameters are ignored. */
export function readListQuery(query: URLSearchParams, fields: readonly string[]): ListQuery {
  const sort = query.get('sort') || undefined
  if (sort !== undefined && !fields.includes(sort)) throw badSelection(`sort: unknown field ${quoted(sort)}`)
  const orderBy = query.get('orderBy')?.toLowerCase() || 'asc'
  if (!['asc', 'desc'].includes(orderBy)) throw badSelection('orderBy must be asc or desc')
  const text = query.get('filter') || undefined
  const filter = text === undefined ? undefined : parseFilter(text)
  for (const { field } of filter?.flat() ?? []) {
    const [name = '', ...rest] = field.split('.')
    if (!fields.includes(name) || rest.length > 1)
      throw invalidFilter(`names an unknown field: ${quoted(field)}`)
  }
  return {
    limit: readNumber(query, 'limit', { min: 1, max: maxLimit, initial: defaultLimit }),
    offset: readNumber(query, 'offset', { min: 0, max: 1_000_000_000, initial: 0 }),
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

export function badSelection(problem: string): Error {
  return refused('invalid_parameter', 'invalid_selection_field', `${problem}.`)
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}

const maxConditions = 20

const predicates = ['!=', '>=', '<=', '=', '>', '<', '~'] as const
type Predicate = (typeof predicates)[number]

export interface FilterCondition {
  /** `class.sourcedId` for a field of a reference. */
  readonly field: string
  readonly predicate: Predicate
  readonly value: string
}

/** Alternatives, each with conditions that must all be met. */
export type Filter = readonly (readonly FilterCondition[])[]

const condition = /\s*([A-Za-z][\w.]*)\s*(!=|>=|<=|=|>|<|~)\s*'((?:[^']|'')*)'/y
const operator = /\s+(AND|OR)\s+/iy

/**
 * Parses a filter (OneRoster 1.2, 3.4.3): conditions joined by AND or OR, of which AND binds closer. A quote in a value is
 * written twice. Throws 400 `invalid_filter_field`.
 */
export function parseFilter(text: string): Filter {
  if (!isStorableText(text)) throw invalidFilter('has a character that no record has')
  const alternatives: FilterCondition[][] = [[]]
  let at = 0
  for (let count = 1; ; count += 1) {
    if (count > maxConditions) throw invalidFilter(`has more than ${maxConditions} conditions`)
    condition.lastIndex = at
    const found = condition.exec(text)
    if (!found) throw invalidFilter(`must be conditions such as status='active', joined by AND or OR`)
    const [, field = '', predicate = '=', value = ''] = found
    const read = { field, predicate: predicate as Predicate, value: value.replaceAll("''", "'") }
    alternatives.at(-1)?.push(read)
    at = condition.lastIndex
    if (text.slice(at).trim() === '') return alternatives
    operator.lastIndex = at
    const joined = operator.exec(text)
    if (!joined) throw invalidFilter(`must be conditions such as status='active', joined by AND or OR`)
    if (joined[1]?.toUpperCase() === 'OR') alternatives.push([])
    at = operator.lastIndex
  }
}

function invalidFilter(problem: string): Error {
  return refused('invalid_parameter', 'invalid_filter_field', `The filter ${problem}.`)
}

export function meets(record: object, filter: Filter): boolean {
  return filter.some((conditions) => conditions.every((condition) => isMet(record, condition)))
}

function isMet(record: object, { field, predicate, value }: FilterCondition): boolean {
  const values = valuesAt(record, field.split('.'))
  // Ids differ by case, other texts do not.
  const compare = field.endsWith('sourcedId') ? compareExactly : compareValues
  if (predicate === '!=') return !values.some((one) => compare(one, value) === 0)
  return values.some((one) => {
    if (predicate === '~') return String(one).toLowerCase().includes(value.toLowerCase())
    const order = compare(one, value)
    if (order === 0) return predicate.includes('=')
    return order < 0 ? predicate.startsWith('<') : order > 0 && predicate.startsWith('>')
  })
}

/** Several of a list, none of an absent field. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): (string | number)[] {
  if (Array.isArray(value))
    return value.flatMap((one) => valuesAt(one, name === undefined ? [] : [name, ...rest]))
  if (name === undefined) return typeof value === 'string' || typeof value === 'number' ? [value] : []
  // A filter may name a member that every object inherits.
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? valuesAt((value as Readonly<Record<string, unknown>>)[name], rest)
    : []
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/
const day = /^\d{4}-\d\d-\d\d$/

/** Numbers and times by value, other texts without case. */
function compareValues(one: string | number, text: string): number {
  if (typeof one === 'number') return one - Number(text)
  const [first, second] = [timeIn(one), timeIn(text)]
  return first !== undefined && second !== undefined
    ? compareExactly(first, second)
    : compareExactly(one.toLowerCase(), text.toLowerCase())
}

function compareExactly(one: string | number, other: string): number {
  const text = String(one)
  return text < other ? -1 : text > other ? 1 : 0
}

/** ISO 8601 in UTC; undefined for other text. */
export function timeIn(text: string): string | undefined {
  const ms = time.test(text)
    ? Date.parse(text)
    : day.test(text)
      ? Date.parse(`${text}T00:00:00Z`)
      : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** OneRoster 1.2 (`imsx_CodeMinorFieldDType`). */
type CodeMinor =
  | 'invalid_filter_field'
  | 'invalid_selection_field'
  | 'invaliddata'
  | 'unauthorisedrequest'
  | 'forbidden'
  | 'server_busy'
  | 'unknownobject'
  | 'internal_server_error'

export function refused(code: ErrorCode, codeMinor: CodeMinor, detail: string): ProblemError {
  return new ProblemError(code, detail, { members: { codeMinor } })
}

export function unknownRecord(noun: string, sourcedId: string): ProblemError {
  return refused('not_found', 'unknownobject', `There is no ${noun} ${JSON.stringify(sourcedId)}.`)
}

const byStatus: Readonly<Record<number, CodeMinor>> = {
  401: 'unauthorisedrequest',
  403: 'forbidden',
  404: 'unknownobject',
  405: 'unknownobject',
  429: 'server_busy',
  500: 'internal_server_error',
  503: 'server_busy',
}

export function statusInfoReply(fault: ProblemError): Reply {
  const { status, code, message, headers, members, errors = [] } = fault
  const codeMinor = members['codeMinor'] ?? byStatus[status] ?? 'invaliddata'
  const places = errors.map(({ pointer = '', detail }) => ` ${pointer.replace(/^#\//, '')} ${detail}.`)
  const body = {
    imsx_codeMajor: 'failure',
    imsx_severity: 'error',
    imsx_description: message + places.join(''),
    imsx_CodeMinor: {
      imsx_codeMinorField: [
        { imsx_codeMinorFieldName: 'TargetEndSystem', imsx_codeMinorFieldValue: codeMinor },
      ],
    },
  }
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    code,
  }
}
