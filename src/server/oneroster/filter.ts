import { isStorableText } from '../../codec/unicode-text.ts'
import { refused } from './status-info.ts'

const maxConditions = 20

const predicates = ['!=', '>=', '<=', '=', '>', '<', '~'] as const
type Predicate = (typeof predicates)[number]

/** `status='active'`. */
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
  if (!isStorableText(text)) throw invalid('has a character that no record has')
  const alternatives: FilterCondition[][] = [[]]
  let at = 0
  for (let count = 1; ; count += 1) {
    if (count > maxConditions) throw invalid(`has more than ${maxConditions} conditions`)
    condition.lastIndex = at
    const found = condition.exec(text)
    if (!found) throw invalid(`must be conditions such as status='active', joined by AND or OR`)
    const [, field = '', predicate = '=', value = ''] = found
    // The pattern allows only these predicates.
    const read = { field, predicate: predicate as Predicate, value: value.replaceAll("''", "'") }
    alternatives.at(-1)?.push(read)
    at = condition.lastIndex
    if (text.slice(at).trim() === '') return alternatives
    operator.lastIndex = at
    const joined = operator.exec(text)
    if (!joined) throw invalid(`must be conditions such as status='active', joined by AND or OR`)
    if (joined[1]?.toUpperCase() === 'OR') alternatives.push([])
    at = operator.lastIndex
  }
}

/** 400: the filter cannot be applied. */
export function invalid(problem: string): Error {
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
