import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { HttpHeaders } from '../contract/http.ts'
import type { Delivery, Sending, SignedDelivery } from './delivery.ts'
import { DeliveryFault, unproved } from './delivery-fault.ts'
import { anyOf, isSame } from './secrets.ts'

/** How far the time of a delivery may be from now, either way, in seconds; that of the Standard Webhooks libraries. */
export const toleranceSeconds = 300

/** One identifier of a version and what it signs with; several are separated by one space each. */
const signaturePattern = /^v\d+[a-z]*,[A-Za-z0-9+/]{1,200}={0,2}$/

/** True for a secret in the form of Standard Webhooks 1.0.0: `whsec_` and 24 to 64 bytes in base64. */
export function isStandardSecret(secret: string): boolean {
  const bytes = decodedSecret(secret)
  return bytes !== null && bytes.length >= 24 && bytes.length <= 64
}

/** What stands after `whsec_`, decoded; null for a secret of another form. */
function decodedSecret(secret: string): Buffer | null {
  const [, text] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret) ?? []
  if (text === undefined) return null
  const bytes = Buffer.from(text, 'base64')
  // Decoding drops what is left over: only what encodes to the same text was read in full.
  return bytes.toString('base64').replace(/=+$/, '') === text ? bytes : null
}

/** The signature of a delivery (Standard Webhooks 1.0.0), `v1,…`. A secret that is no `whsec_…` signs as it is written. */
export function standardSignature(
  secret: string,
  message: { readonly id: string; readonly seconds: number | string; readonly body: string | Uint8Array },
): string {
  const hmac = createHmac('sha256', hmacKey(decodedSecret(secret) ?? secret))
    .update(`${message.id}.${message.seconds}.`)
    .update(message.body)
  return `v1,${hmac.digest('base64')}`
}

/** A secret as a key: of text or bytes, Node makes one in five times as long. */
export function hmacKey(secret: string | Buffer): KeyObject {
  return typeof secret === 'string' ? createSecretKey(secret, 'utf8') : createSecretKey(secret)
}

/** True where a delivery bears a signature of Standard Webhooks, which alone decides then. */
export function isStandard(headers: HttpHeaders): boolean {
  return headers['webhook-signature'] !== undefined
}

/**
 * The id of a delivery that one of the secrets has signed within the tolerance. Throws DeliveryFault
 * `invalid_signature`, and `timestamp_out_of_range` where only the time is wrong.
 */
export function checkStandard(delivery: Delivery, secrets: readonly string[], now: number): string {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': list } = delivery.headers
  if (id === undefined || !/^[\x21-\x2B\x2D-\x7E]{1,255}$/.test(id)) {
    throw unproved('webhook-id is required, once, with 1 to 255 characters.')
  }
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) {
    throw unproved('webhook-timestamp is required, once, in seconds since 1970.')
  }
  // Repeated headers arrive as one, joined by commas: none of these tokens has one of those.
  const tokens = list?.split(' ', 21) ?? []
  if (tokens.length === 0 || tokens.length > 20 || !tokens.every((token) => signaturePattern.test(token))) {
    throw unproved('webhook-signature is required, once, as v1,<base64>.')
  }
  const message = { id, seconds, body: delivery.rawBody }
  const matches = anyOf(secrets, (secret) => {
    const expected = standardSignature(secret, message)
    return anyOf(tokens, (token) => isSame(token, expected))
  })
  if (!matches) throw unproved('webhook-signature does not match the body and the webhook secret.')
  const apart = Math.abs(Math.floor(now / 1000) - Number(seconds))
  if (apart <= toleranceSeconds) return id
  throw new DeliveryFault(
    'timestamp_out_of_range',
    `webhook-timestamp is ${apart} s from the time of this server; at most ${toleranceSeconds} s are allowed.`,
  )
}

/** A delivery signed as Standard Webhooks has it. */
export function signStandard(body: string, secret: string, { id, now }: Sending): SignedDelivery {
  const seconds = Math.floor(now / 1000)
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': standardSignature(secret, { id, seconds, body }),
    },
    query: {},
    body,
  }
}
