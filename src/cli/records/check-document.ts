import { isDeepStrictEqual } from 'node:util'
import { publishedOperation } from '../../client/published-api.ts'
import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { boundText, suggestionText, withArticle } from '../../contract/validation-issues.ts'
import { type Dataset, keyOf } from '../dataset/dataset.ts'
import { valueAt } from '../output/columns.ts'
import { asWritten, type Row, type RowProblem } from './sources/rows.ts'

/** Finds what the platform's OpenAPI document refuses in a row; `known` are the problems that were found before. */
export type DocumentCheck = (row: Row, known: readonly RowProblem[], partial: boolean) => RowProblem[]

/** A value that a schema refuses. */
interface Fault {
  /** Dotted path. */
  readonly path: string
  readonly code: string
  /** Continues the name of the field. */
  readonly message: string
  /** Suggested value, as the end of the message. */
  readonly guess?: string
}

type Judge = (schema: unknown, value: unknown, path: string, depth: number) => Fault[]

/** Maximum nesting of references, members and subschemas. */
const maxDepth = 16
/** Maximum length of a text to match: the platform's patterns may backtrack exponentially. */
const maxPatternText = 256
const nestedRepetition = /\([^()]*[+*{][^()]*\)[+*{]/

/**
 * Returns a check of rows by the body that an OpenAPI document declares for new records; null where it declares none.
 * References are not checked: each platform has its own ids.
 */
export function checkByDocument(document: JsonObject | null, dataset: Dataset): DocumentCheck | null {
  if (!document) return null
  const body = follow(
    document,
    valueAt(publishedOperation(document, dataset.operations.create), 'requestBody'),
  )
  const content = isJsonObject(body) && isJsonObject(body['content']) ? body['content'] : {}
  const [, media] = Object.entries(content).find(([type]) => /json/i.test(type)) ?? []
  const schema = isJsonObject(media) ? media['schema'] : undefined
  if (schema === undefined) return null
  const judge = judgeBy(document)

  return (row, known, partial) => {
    const { record } = row
    const sent = Object.entries(record).filter(([field]) => dataset.references[field] === undefined)
    const excused = partial && keyOf(dataset, record) !== null
    return judge(schema, Object.fromEntries(sent), '', 0).flatMap(({ path, code, message, guess }) => {
      const column = dataset.columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
      // A field without a column is no problem of the file, and references are not checked.
      if (!column || dataset.references[column.path] !== undefined) return []
      if (code === 'required' && excused) return []
      const name = column.name + path.slice(column.path.length)
      if (known.some((problem) => problem.column === name)) return []
      const value = valueAt(record, path)
      const isShown = value !== undefined && !column.secret
      const text = typeof value === 'string' ? value : jsonText(value)
      const written = isShown ? asWritten(row, column, text) : {}
      return [{ column: name, code, message, ...written, ...(guess && { guess }) }]
    })
  }
}

function judgeBy(document: JsonObject): Judge {
  const patterns = new Map<string, RegExp | null>()

  const judge: Judge = (given, value, path, depth) => {
    const schema = follow(document, given)
    if (!isJsonObject(schema) || depth > maxDepth) return []
    if (value === null && schema['nullable'] === true) return []
    const parts = listIn(schema['allOf']).flatMap((part) => judge(part, value, path, depth + 1))
    for (const choices of [listIn(schema['anyOf']), listIn(schema['oneOf'])]) {
      const judged = choices.map((choice) => judge(choice, value, path, depth + 1))
      if (judged.some((faults) => faults.length === 0)) continue
      // Report the faults of the alternative that takes a value of this type.
      parts.push(...(judged.find(([first]) => first?.code !== 'invalid_type') ?? judged[0] ?? []))
    }
    return parts.length > 0 ? parts : judgePlain(schema, value, path, depth)
  }

  function judgePlain(schema: JsonObject, value: unknown, path: string, depth: number): Fault[] {
    const choices = schema['const'] === undefined ? listIn(schema['enum']) : [schema['const']]
    if (choices.length > 0 && !choices.some((choice) => isDeepStrictEqual(choice, value))) {
      const words = choices.filter((choice) => choice !== null).map(String)
      const message = `must be one of ${words.join(', ')}`
      return [{ path, code: 'invalid_choice', message, guess: suggestionText(String(value), words) }]
    }
    const types = [schema['type']].flat().map(String)
    if (schema['type'] !== undefined && !types.some((type) => isOfType(value, type))) {
      const [type = ''] = types
      const message = `must be ${withArticle(type === 'integer' ? 'int' : type)}`
      return [{ path, code: 'invalid_type', message }]
    }
    if (Array.isArray(value)) {
      return value.flatMap((item, index) => judge(schema['items'], item, `${path}.${index}`, depth + 1))
    }
    if (isJsonObject(value)) return judgeMembers(schema, value, path, depth)
    return judgeSize(schema, value).map((fault) => ({ path, ...fault }))
  }

  function judgeMembers(schema: JsonObject, value: JsonObject, path: string, depth: number): Fault[] {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
    const placeOf = (name: string) => (path === '' ? name : `${path}.${name}`)
    const missing = listIn(schema['required']).map(String)
    return [
      ...missing
        .filter((name) => value[name] === undefined)
        .map((name) => ({ path: placeOf(name), code: 'required', message: 'is required' })),
      ...Object.entries(value).flatMap(([name, member]) =>
        Object.hasOwn(properties, name) ? judge(properties[name], member, placeOf(name), depth + 1) : [],
      ),
    ]
  }

  function judgeSize(schema: JsonObject, value: unknown): Omit<Fault, 'path'>[] {
    const isText = typeof value === 'string'
    if (!isText && typeof value !== 'number' && typeof value !== 'bigint') return []
    const size = isText ? [...value].length : Number(value)
    const origin = isText ? 'string' : 'number'
    const least = schema[isText ? 'minLength' : 'minimum']
    const most = schema[isText ? 'maxLength' : 'maximum']
    if (typeof least === 'number' && size < least) {
      return [{ code: isText ? 'too_short' : 'out_of_range', message: boundText(origin, 'at least', least) }]
    }
    if (typeof most === 'number' && size > most) {
      return [{ code: isText ? 'too_long' : 'out_of_range', message: boundText(origin, 'at most', most) }]
    }
    const { pattern } = schema
    if (!isText || typeof pattern !== 'string' || value.length > maxPatternText) return []
    return patternOf(pattern)?.test(value) === false
      ? [{ code: 'invalid_format', message: `must match ${pattern}` }]
      : []
  }

  function patternOf(text: string): RegExp | null {
    const known = patterns.get(text)
    if (known !== undefined) return known
    const pattern = nestedRepetition.test(text) ? null : compile(text)
    patterns.set(text, pattern)
    return pattern
  }

  return judge
}

/** Follows the references of a value within its document. */
function follow(document: JsonObject, given: unknown): unknown {
  let value = given
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const reference = isJsonObject(value) ? value['$ref'] : undefined
    if (typeof reference !== 'string') return value
    if (!reference.startsWith('#/')) return undefined
    value = reference
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, step) => (isJsonObject(at) ? at[step] : undefined), document)
  }
  return undefined
}

function compile(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return null
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  // Ids are text in files; a platform with numeric ids takes the digits.
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value) || isDigits(value)
  if (type === 'number') return typeof value === 'bigint' || typeof value === 'number' || isDigits(value)
  if (type === 'boolean') return typeof value === 'boolean'
  return type !== 'string' || typeof value === 'string'
}

function isDigits(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value)
}
