import { isJsonObject, JsonLimitError, type JsonObject, parseJson } from '../codec/json-text.ts'
import { isInstant, timeText } from '../codec/time-text.ts'
import { decodeUtf8, isStorableText, NotUtf8Error } from '../codec/unicode-text.ts'
import { malformedPayload } from './delivery.ts'

/** Above what the systems send. */
const maxDepth = 32
const maxMembers = 1000

/** Throws DeliveryFault `malformed_payload` on anything but a JSON object, and beyond the limits. */
export function parsePayload(bytes: Uint8Array): JsonObject {
  let value: unknown
  try {
    value = parseJson(decodeUtf8(bytes))
  } catch (cause) {
    // Other messages quote the text, which may contain a secret.
    const isLimit = cause instanceof JsonLimitError || cause instanceof NotUtf8Error
    throw malformedPayload(`The payload is not valid JSON${isLimit ? `: ${cause.message}` : ''}.`, cause)
  }
  if (!isJsonObject(value)) throw malformedPayload('The payload is not a JSON object.')
  requireBounded(value, 1)
  return value
}

function requireBounded(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (!isStorableText(value))
      throw malformedPayload('The payload has text that is not well-formed Unicode without U+0000.')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw malformedPayload(`The payload is nested deeper than ${maxDepth} levels.`)
  const entries = Object.entries(value)
  if (entries.length > maxMembers) {
    throw malformedPayload(`The payload has a list or object of more than ${maxMembers} members.`)
  }
  for (const [name, member] of entries) {
    requireBounded(name, depth)
    requireBounded(member, depth + 1)
  }
}

/** For ids and labels. */
const maxTextLength = 255
const decimal = /^-?\d{1,15}(\.\d{1,20})?$/

/** Undefined if there is no value. Ignores inherited properties. */
export function memberAt(body: JsonObject, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Throws DeliveryFault `malformed_payload`. */
export function objectAt(body: JsonObject, path: string): JsonObject {
  const value = memberAt(body, path)
  if (isJsonObject(value)) return value
  throw malformedPayload(`${path} must be an object.`)
}

/** Trimmed and truncated to 255 characters; empty if there is no text. */
export function labelAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  return typeof value === 'string' ? truncate(value.trim()) : ''
}

/** Truncates to 255 characters without splitting a surrogate pair. */
export function truncate(text: string): string {
  if (text.length <= maxTextLength) return text
  return text
    .slice(0, maxTextLength)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
}

/** Accepts a text or an integer of 1 to 255 characters; null if there is none. Throws on any other value. */
export function idAt(body: JsonObject, path: string): string | null {
  const value = memberAt(body, path)
  if (value === undefined || value === null || value === '') return null
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const id = isInteger ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (id.length > 0 && id.length <= maxTextLength) return id
  throw malformedPayload(`${path} must be an id of 1 to ${maxTextLength} characters.`)
}

/** Throws if there is none. */
export function requiredIdAt(body: JsonObject, path: string): string {
  const id = idAt(body, path)
  if (id !== null) return id
  throw malformedPayload(`${path} is required.`)
}

/** Accepts text such as `"85.00000"`; null for null or empty text. Throws if it is missing or any other value. */
export function numberAt(body: JsonObject, path: string): number | null {
  const value = memberAt(body, path)
  if (value === undefined) throw malformedPayload(`${path} is required.`)
  if (value === null) return null
  // A bigint has more digits than a double; no score needs them.
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : undefined
  if (text === '') return null
  if (text !== undefined && decimal.test(text)) return Number(text)
  throw malformedPayload(`${path} must be a number.`)
}

/** Returns an RFC 3339 time in UTC with milliseconds. Throws if there is none. */
export function instantAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  if (typeof value === 'string' && isInstant(value)) return timeText(new Date(value))
  throw malformedPayload(`${path} must be a time such as 2026-01-05T10:00:00Z.`)
}

/** Accepts UTC without a zone, such as `2021-09-21 15:36:31.311506`, and RFC 3339. */
export function naiveTimeAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  const text = typeof value === 'string' ? value.replace(' ', 'T') : ''
  const zoned = /(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`
  if (isInstant(zoned)) return timeText(new Date(zoned))
  throw malformedPayload(`${path} must be a time such as 2021-09-21 15:36:31.`)
}

/** Accepts whole seconds since 1970 as a number or text. Throws if there is none. */
export function secondsAt(body: JsonObject, path: string): string {
  const seconds = numberAt(body, path)
  // The maximum is the end of the year 9999; a later time does not sort as text.
  if (seconds !== null && Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= 253_402_300_799) {
    return timeText(new Date(seconds * 1000))
  }
  throw malformedPayload(`${path} must be a time in seconds since 1970.`)
}

/** Accepts any type; null if there is no id or address of 1 to 255 characters. */
export function identifierAt(body: JsonObject, path: string): string | null {
  const value = memberAt(body, path)
  const name = ['string', 'number', 'bigint'].includes(typeof value) ? String(value).trim() : ''
  return name.length > 0 && name.length <= maxTextLength ? name : null
}
