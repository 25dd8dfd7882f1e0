import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { isRemark } from './body.ts'
import { bareName } from './names.ts'

/** Values of `status` that mean failure. */
const failed = /^(error|errors|fail|failed|failure)$/i
/** Members, besides the remarks, that describe an outcome rather than a record. */
const explanations: ReadonlySet<string> = new Set([
  ...['path', 'detail', 'details', 'title', 'description', 'type', 'instance', 'reason', 'success'],
])

/** Status in the body of a failure whose response has a status of success; null if the body has none. */
export interface FailureStatus {
  readonly said: number | null
}

/** Members that report an error; Moodle sends the exception and its code. */
const errorMembers = [
  'error',
  'errors',
  'exception',
  'fault',
  'errorcode',
  'errcode',
  'errormessage',
  'errormsg',
]
const successMembers = ['success', 'ok', 'succeeded']

/**
 * Returns the failure that a body reports although its status is one of success, by `success: false`, `error`, `errors`
 * and similar members; null if it reports none. A record may have errors of its own, so these do not count beside an id,
 * and `status` counts only if there is no content.
 */
export function failureIn(body: unknown): FailureStatus | null {
  if (!isJsonObject(body) || hasContentOnly(body)) return null
  const said = new Map(Object.entries(body).map(([name, value]) => [bareName(name), value]))
  const status = statusIn(body, said)
  const isThing = [said.get('id'), said.get('uuid')].some((id) => id !== undefined && id !== null)
  const bare = [...said].every(([name, value]) => value === null || isRemark(name) || explanations.has(name))
  const failing =
    successMembers.some((name) => /^(false|no|0)$/i.test(String(said.get(name)))) ||
    (!isThing && errorMembers.some((name) => isErrorValue(said.get(name)))) ||
    (bare && (status !== null || failed.test(String(said.get('status') ?? ''))))
  return failing ? { said: status } : null
}

const outcomeNames: ReadonlySet<string> = new Set([...errorMembers, ...successMembers])

/** True for a body with content and no member about the outcome: the usual case. */
function hasContentOnly(body: JsonObject): boolean {
  let shows = false
  for (const key of Object.keys(body)) {
    const name = bareName(key)
    if (outcomeNames.has(name)) return false
    shows ||= body[key] !== null && !isRemark(name) && !explanations.has(name)
  }
  return shows
}

/** Members that count the records that a write matched, and those that it changed. */
const matches = ['matchedcount', 'matched', 'found']
const changes = [
  ...['deletedcount', 'insertedcount', 'modifiedcount', 'updatedcount', 'affectedrows', 'rowsaffected'],
  ...['affected', 'rowcount', 'deleted', 'updated', 'inserted', 'modified', 'changed'],
]

/**
 * True for a response to a write without effect: `false`, `{"deletedCount": 0}`. Matched records that needed no change do
 * not count as such, nor does a record with an id.
 */
export function reportsNoEffect(body: unknown): boolean {
  if (body === false || body === 0) return true
  if (!isJsonObject(body)) return false
  if (Object.keys(body).some((name) => ['id', 'uuid'].includes(bareName(name)))) return false
  const said = new Map(Object.entries(body).map(([name, value]) => [bareName(name), value]))
  const countsIn = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = said.get(name)
      return typeof value === 'boolean' || typeof value === 'number' ? [Number(value)] : []
    })
  const found = countsIn(matches)
  const counts = found.length > 0 ? found : countsIn(changes)
  return counts.length > 0 && counts.every((count) => count === 0)
}

/** True for a response to a write with an effect: `true`, `"success": true`, `{"affectedRows": 1}`. */
export function reportsEffect(body: unknown): boolean {
  if (body === true || body === 1) return true
  if (!isJsonObject(body)) return false
  return Object.entries(body).some(([key, value]) => {
    const name = bareName(key)
    if (successMembers.includes(name) || name === 'acknowledged') return /^(true|yes|1)$/i.test(String(value))
    return (
      [...matches, ...changes].includes(name) && (value === true || (typeof value === 'number' && value > 0))
    )
  })
}

/** True for a value that reports an error: not empty, not a word for nothing, not a count. */
function isErrorValue(value: unknown): boolean {
  if (typeof value === 'string') return !/^(|0|false|no|none|null|ok)$/i.test(value)
  if (Array.isArray(value)) return value.length > 0
  return value === true || (isJsonObject(value) && Object.keys(value).length > 0)
}

/** Statuses by HTTP phrase (RFC 9110 §15) and by canonical gRPC code, in lower case without separators. */
const statusOfWord: ReadonlyMap<string, number> = new Map([
  ['badrequest', 400],
  ['invalidargument', 400],
  ['unauthenticated', 401],
  ['unauthorized', 401],
  ['forbidden', 403],
  ['permissiondenied', 403],
  ['notfound', 404],
  ['alreadyexists', 409],
  ['conflict', 409],
  ['resourceexhausted', 429],
  ['toomanyrequests', 429],
  ['serviceunavailable', 503],
  ['unavailable', 503],
])

/** Returns the HTTP error status in a body: a number, text, or by its phrase. */
function statusIn({ error, errors }: JsonObject, said: ReadonlyMap<string, unknown>): number | null {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const inner = [error, first].flatMap((each) =>
    isJsonObject(each) ? [each['status'], each['code'], each['type']] : [each],
  )
  const codes = [said.get('statuscode'), said.get('status'), said.get('code'), ...inner]
  const number = codes.map(Number).find((each) => Number.isInteger(each) && each >= 400 && each <= 599)
  if (number !== undefined) return number
  const words = [...codes, said.get('message')].filter((each) => typeof each === 'string')
  const named = words.map((each) => statusOfWord.get(each.replace(/[_\-\s]/g, '').toLowerCase()))
  return named.find((each) => each !== undefined) ?? null
}

/** Content of an error response in any format. */
export interface ErrorContent {
  /** The error as text; null if there is none. */
  readonly detail: string | null
  readonly faults: readonly Fault[]
  /** Error code of the platform; null if there is none. */
  readonly code: string | null
  /** All texts about the error as a whole, including `detail`. */
  readonly texts: readonly string[]
}

type Member = Readonly<Record<string, unknown>>

/** Maximum length of a text; longer ones, such as stack traces, are cut. */
const longestText = 1000
/** Maximum depth of nested errors. */
const deepest = 3

const texts = [
  ...['detail', 'message', 'error_description', 'error', 'title', 'msg', 'reason', 'description'],
  ...['errorMessage', 'error_message', 'Message', 'faultstring', 'defaultMessage', 'errors'],
]
const lists = [
  ...['errors', 'detail', 'details', 'message', 'messages', 'error', 'issues', 'violations'],
  ...['fieldViolations', 'fieldErrors', 'invalid-params', 'invalidParams', 'invalid_params'],
]
const inner = ['error', 'fault', 'errors']
const places = ['pointer', 'field', 'param', 'path', 'propertyPath', 'property', 'attribute', 'name', 'key']
const codes = ['code', 'errorCode', 'error_code', 'type', 'status', 'reason']

/**
 * Reads the error of any platform: problem details (RFC 9457), JSON:API's `errors`, `detail` as a list of `loc` and
 * `msg`, `error.message`, lists of texts, fields with their texts, or a text alone.
 */
export function readError(body: unknown): ErrorContent {
  if (typeof body === 'string')
    return { detail: clipped(body), faults: [], code: null, texts: [clipped(body)] }
  if (Array.isArray(body)) return withDetail([], faultsIn(body, deepest), null)
  if (!isJsonObject(body)) return { detail: null, faults: [], code: null, texts: [] }
  return withDetail(textsIn(body, deepest), faultsOf(body, deepest), codeIn(body, deepest))
}

function withDetail(texts: readonly string[], faults: readonly Fault[], code: string | null): ErrorContent {
  const [detail] = texts
  const [first] = faults
  return { detail: detail ?? (faults.length === 1 && first ? first.detail : null), faults, code, texts }
}

/** Returns the texts of an error, the most specific first, followed by those of nested members. */
function textsIn(body: Member, depth: number): string[] {
  const own = texts.flatMap((name) => textOf(body[name]) ?? [])
  const members = depth === 0 ? [] : inner.map((name) => body[name]).filter(isJsonObject)
  return [...own, ...members.flatMap((member) => textsIn(member, depth - 1))]
}

function faultsOf(body: Member, depth: number): Fault[] {
  if (depth === 0) return []
  const listed = lists.map((name) => body[name]).find((list) => Array.isArray(list) && list.length > 0)
  if (Array.isArray(listed)) {
    const faults = faultsIn(listed, depth)
    if (faults.length > 0) return faults
  }
  const { errors, error, message } = body
  // Problems by field, in `errors` or at the top level.
  if (isJsonObject(errors)) return faultsByField(errors)
  const byField = [message, error, body].find((each) => isJsonObject(each) && holdsTexts(each))
  if (isJsonObject(byField)) return faultsByField(byField)
  return isJsonObject(error) ? faultsOf(error, depth - 1) : []
}

function faultsIn(list: readonly unknown[], depth: number): Fault[] {
  return list.flatMap((item) => {
    if (typeof item === 'string') return item === '' ? [] : [{ code: 'invalid', detail: clipped(item) }]
    if (!isJsonObject(item) || depth === 0) return []
    const constraints = isJsonObject(item['constraints']) ? Object.values(item['constraints']) : []
    const [constraint] = constraints.flatMap((each) => textOf(each) ?? [])
    const detail = constraint ?? textsIn(item, 1)[0] ?? codeIn(item, 0)
    // Google nests a list of details in the list.
    if (detail === null) return faultsOf(item, depth - 1)
    return [{ ...placeOf(item), code: codeIn(item, 0) ?? 'invalid', detail }]
  })
}

function faultsByField(member: Member): Fault[] {
  return Object.entries(member).flatMap(([field, value]) =>
    faultsIn(Array.isArray(value) ? value : [value], 1).map((fault) => ({ ...atField(field), ...fault })),
  )
}

function holdsTexts(member: Member): boolean {
  const values = Object.values(member)
  const areTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string')
  return values.length > 0 && values.every(areTexts)
}

type Place = Pick<Fault, 'pointer' | 'parameter'>

/** Returns the location of a problem, in any of the members that platforms use. */
function placeOf(item: Member): Place {
  const { source, loc, parameter } = item
  if (typeof parameter === 'string') return { parameter }
  if (isJsonObject(source)) {
    if (typeof source['parameter'] === 'string') return { parameter: source['parameter'] }
    const { pointer } = source
    if (typeof pointer === 'string') return { pointer: pointer.replace(/^\/data(\/attributes)?\b/, '') }
  }
  if (Array.isArray(loc)) {
    const [where, ...path] = loc.map(String)
    return where === 'query' ? { parameter: path.join('.') } : pointerTo(where === 'body' ? path : loc)
  }
  for (const name of places) {
    const place = item[name]
    if (Array.isArray(place) && place.length > 0) return pointerTo(place)
    if (typeof place === 'string' && place !== '') return atField(place)
  }
  return {}
}

/** Returns the location for a field: `title`, `profile.firstName`, `modules[0].title`, or a JSON pointer. */
function atField(field: string): Place {
  if (/^#?\//.test(field)) return { pointer: field }
  // Rails and Django use these names for problems of no field.
  if (/^(base|non_field_errors|__all__|\$)$/.test(field)) return {}
  return pointerTo(field.replaceAll(/\[(\w+)\]/g, '.$1').split('.'))
}

function pointerTo(path: readonly unknown[]): Place {
  const steps = path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))
  return steps.length === 0 ? {} : { pointer: `#/${steps.join('/')}` }
}

/** Returns a code that programs can distinguish errors by; a status or its phrase is not one. */
function codeIn(body: Member, depth: number): string | null {
  const { error } = body
  const named = codes.map((name) => body[name]).find(isCode)
  if (named !== undefined) return String(named)
  if (isJsonObject(error) && depth > 0) return codeIn(error, depth - 1)
  return typeof error === 'string' && /^\w+([_.-]\w+)+$/.test(error) ? error : null
}

/** Values of a code that only repeat the status. */
const phrase = /^(\d{3}|about:blank|error|fail(ed|ure)?|bad_?request|not_?found|unauthorized)$/i

function isCode(value: unknown): value is string | number {
  if (typeof value === 'number') return value < 100 || value > 599
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) && !phrase.test(value)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? clipped(value.trim()) : null
}

function clipped(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
