import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { JsonObject } from '../codec/json-text.ts'
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

/** An authentic delivery. */
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

export type DeliveryFaultCode =
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

/** For a payload that the sender's system does not send. */
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
