import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { isInstant, timeText } from '../codec/time-text.ts'
import { malformed } from './delivery-fault.ts'

const longest = 255
const decimal = /^-?\d{1,15}(\.\d{1,20})?$/

/** What stands at a path of names; undefined where nothing does. What objects inherit is not theirs. */
export function memberAt(body: JsonObject, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The object at a path; throws DeliveryFault `malformed_payload` where there is none. */
export function objectAt(body: JsonObject, path: string): JsonObject {
  const value = memberAt(body, path)
  if (isJsonObject(value)) return value
  throw malformed(`${path} must be an object.`)
}

/** The text at a path, trimmed and cut to 255 characters; empty where there is none. */
export function labelAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  return typeof value === 'string' ? cut(value.trim()) : ''
}

/** A text cut to 255 characters, none of them in half. */
export function cut(text: string): string {
  if (text.length <= longest) return text
  return text
    .slice(0, longest)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
}

/** An id at a path, text or an integer, as text of 1 to 255 characters; null where there is none. Throws otherwise. */
export function idAt(body: JsonObject, path: string): string | null {
  const value = memberAt(body, path)
  if (value === undefined || value === null || value === '') return null
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const id = isInteger ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (id.length > 0 && id.length <= longest) return id
  throw malformed(`${path} must be an id of 1 to ${longest} characters.`)
}

/** The same, where one is required. */
export function requiredIdAt(body: JsonObject, path: string): string {
  const id = idAt(body, path)
  if (id !== null) return id
  throw malformed(`${path} is required.`)
}

/**
 * The number at a path, which may be text such as `"85.00000"`; null where it is null or empty text. Throws where it is
 * missing or anything else.
 */
export function numberAt(body: JsonObject, path: string): number | null {
  const value = memberAt(body, path)
  if (value === undefined) throw malformed(`${path} is required.`)
  if (value === null) return null
  // A number of more digits than a double holds: no score needs them.
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : undefined
  if (text === '') return null
  if (text !== undefined && decimal.test(text)) return Number(text)
  throw malformed(`${path} must be a number.`)
}

/** The time at a path, RFC 3339, as UTC with milliseconds. Throws where there is none. */
export function instantAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  if (typeof value === 'string' && isInstant(value)) return timeText(new Date(value))
  throw malformed(`${path} must be a time such as 2026-01-05T10:00:00Z.`)
}

/** The time at a path, without a zone and meant as UTC, such as `2021-09-21 15:36:31.311506`; or RFC 3339. */
export function naiveTimeAt(body: JsonObject, path: string): string {
  const value = memberAt(body, path)
  const text = typeof value === 'string' ? value.replace(' ', 'T') : ''
  const zoned = /(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`
  if (isInstant(zoned)) return timeText(new Date(zoned))
  throw malformed(`${path} must be a time such as 2021-09-21 15:36:31.`)
}

/** The time at a path in whole seconds since 1970, a number or text. Throws where there is none. */
export function secondsAt(body: JsonObject, path: string): string {
  const seconds = numberAt(body, path)
  // To the end of the year 9999: what comes later has another form, and does not sort as text.
  if (seconds !== null && Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= 253_402_300_799) {
    return timeText(new Date(seconds * 1000))
  }
  throw malformed(`${path} must be a time in seconds since 1970.`)
}
