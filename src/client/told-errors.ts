import { isJsonObject } from '../codec/json-object.ts'
import type { Fault } from '../contract/errors.ts'

/** What the body of an error says, whoever's form it has. */
export interface ToldError {
  /** The whole in words; null where it says nothing. */
  readonly detail: string | null
  readonly faults: readonly Fault[]
  /** A code in the platform's own words; null where it has none. */
  readonly code: string | null
  /** Every text about the whole, `detail` among them. */
  readonly texts: readonly string[]
}

type Member = Readonly<Record<string, unknown>>

/** Longer texts are cut: a stack trace is no message. */
const longestText = 1000
/** Faults inside faults: deeper ones are nobody's. */
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
export function toldError(body: unknown): ToldError {
  if (typeof body === 'string')
    return { detail: clipped(body), faults: [], code: null, texts: [clipped(body)] }
  if (Array.isArray(body)) return withDetail([], faultsIn(body, deepest), null)
  if (!isJsonObject(body)) return { detail: null, faults: [], code: null, texts: [] }
  return withDetail(textsIn(body, deepest), faultsOf(body, deepest), codeIn(body, deepest))
}

function withDetail(texts: readonly string[], faults: readonly Fault[], code: string | null): ToldError {
  const [detail] = texts
  const [first] = faults
  return { detail: detail ?? (faults.length === 1 && first ? first.detail : null), faults, code, texts }
}

/** The texts of an error, the most telling first; those of members inside it after its own. */
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
  // Fields with what is wrong with each; in `errors`, or alone.
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
    // Google's details are lists in a list.
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

/** Where a fault is, whatever that is called. */
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

/** A field as it is named: `title`, `profile.firstName`, `modules[0].title`, or a JSON pointer already. */
function atField(field: string): Place {
  if (/^#?\//.test(field)) return { pointer: field }
  // What Rails and Django call by these names is about no field.
  if (/^(base|non_field_errors|__all__|\$)$/.test(field)) return {}
  return pointerTo(field.replaceAll(/\[(\w+)\]/g, '.$1').split('.'))
}

function pointerTo(path: readonly unknown[]): Place {
  const steps = path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))
  return steps.length === 0 ? {} : { pointer: `#/${steps.join('/')}` }
}

/** A word that a program could tell errors apart by; a status or its phrase is none. */
function codeIn(body: Member, depth: number): string | null {
  const { error } = body
  const named = codes.map((name) => body[name]).find(isCode)
  if (named !== undefined) return String(named)
  if (isJsonObject(error) && depth > 0) return codeIn(error, depth - 1)
  return typeof error === 'string' && /^\w+([_.-]\w+)+$/.test(error) ? error : null
}

/** What stands where a code might, and tells no more than the status does. */
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
