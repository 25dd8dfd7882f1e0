import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isJsonObject, JsonLimitError, type JsonObject, parseJson } from '../codec/json-text.ts'
import { isInstant, timeText } from '../codec/time-text.ts'
import { decodeUtf8, isStorableText, NotUtf8Error } from '../codec/unicode-text.ts'
import type { HttpHeaders } from '../contract/http.ts'

export interface Delivery {
  readonly headers: HttpHeaders
  readonly query: URLSearchParams
  /** At most 256 KiB; the receiver enforces this. */
  readonly rawBody: Uint8Array
}

/** Public keys of a sender by `kid`. */
export interface SigningKeys {
  /** A JWK (RFC 7517); null if no key has this id. Throws DeliveryFault `keys_unavailable`. */
  find(kid: string): Promise<JsonObject | null>
}

export interface Trust {
  /** Valid webhook secrets: two during a rotation. */
  readonly secrets: readonly string[]
  /** Canvas account whose events are accepted; without one, no event signed by Canvas is. */
  readonly rootAccountUuid: string | null
  /** Null if none are set. */
  readonly keys: SigningKeys | null
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Verified {
  /** Identifies the delivery among all of its kind, also when it is sent again. At most 300 characters. */
  readonly key: string
  /** The payload without secrets. Large integers are bigints, which jsonText in src/codec writes. */
  readonly body: JsonObject
}

/** Headers of Standard Webhooks besides the signature. */
export interface Sending {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly id: string
}

export interface SigningMaterial extends Sending {
  /** The secret shared with the integration, or the private key as a JWK for a signed JWT. */
  readonly secret: string | { readonly privateKey: JsonObject }
}

/** The query is added to the URL. */
export interface SignedDelivery {
  readonly headers: HttpHeaders
  readonly query: Readonly<Record<string, string>>
  readonly body: string
}

type DeliveryFaultCode =
  | 'invalid_signature'
  | 'timestamp_out_of_range'
  | 'malformed_payload'
  | 'keys_unavailable'

/**
 * A refused delivery: 401 for `invalid_signature` and `timestamp_out_of_range`, 400 for `malformed_payload`
 * (only of authentic deliveries), and 503 for `keys_unavailable`, if the sender's keys could not be fetched.
 * The message is a sentence for the administrator of the server or the sender and contains no secret.
 */
export class DeliveryFault extends Error {
  override readonly name = 'DeliveryFault'
  readonly code: DeliveryFaultCode

  constructor(code: DeliveryFaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The sender's system does not send such a payload. */
export function malformedPayload(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('malformed_payload', message, { cause })
}

export function invalidSignature(message: string, cause?: unknown): DeliveryFault {
  return new DeliveryFault('invalid_signature', message, { cause })
}

/** Compares in constant time. */
export function isEqualSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  // Digests have equal lengths, which timingSafeEqual requires.
  return timingSafeEqual(digest(given), digest(expected))
}

/** True if any item matches; checks all, so that the time does not reveal which. */
export function matchesAny<Each>(all: readonly Each[], isRight: (each: Each) => boolean): boolean {
  return all.filter(isRight).length > 0
}

function digest(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}

const secretBytes = 24

/** Has letters and digits only, so that it can be part of a URL. */
export function newWebhookSecret(): string {
  for (;;) {
    const text = randomBytes(secretBytes).toString('base64')
    if (!/[+/]/.test(text)) return `whsec_${text}`
  }
}

/** Limits above what the systems send. */
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

/** Limit of ids and labels. */
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
