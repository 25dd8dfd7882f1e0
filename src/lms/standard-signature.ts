import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { HttpHeaders } from '../contract/http.ts'
import {
  type Delivery,
  DeliveryFault,
  invalidSignature,
  type Sending,
  type SignedDelivery,
} from './delivery.ts'
import { isEqualSecret, matchesAny } from './secrets.ts'

/** As in the libraries of Standard Webhooks. */
export const toleranceSeconds = 300

/** A version and a signature; the header separates several with a space. */
const signaturePattern = /^v\d+[a-z]*,[A-Za-z0-9+/]{1,200}={0,2}$/

/** Decodes the part after `whsec_`; null for a secret of another form. */
export function decodedSecret(secret: string): Buffer | null {
  const [, text] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(secret) ?? []
  if (text === undefined) return null
  const bytes = Buffer.from(text, 'base64')
  // Buffer ignores invalid trailing characters: compare, to detect them.
  return bytes.toString('base64').replace(/=+$/, '') === text ? bytes : null
}

/** Returns `v1,…` (Standard Webhooks 1.0.0). A secret without `whsec_` is used as it is. */
export function standardSignatureOf(
  secret: string,
  message: { readonly id: string; readonly seconds: number | string; readonly body: string | Uint8Array },
): string {
  const hmac = createHmac('sha256', createHmacKey(decodedSecret(secret) ?? secret))
    .update(`${message.id}.${message.seconds}.`)
    .update(message.body)
  return `v1,${hmac.digest('base64')}`
}

/** With text or bytes, createHmac takes five times as long. */
export function createHmacKey(secret: string | Buffer): KeyObject {
  return typeof secret === 'string' ? createSecretKey(secret, 'utf8') : createSecretKey(secret)
}

/** The signature then replaces the system's own proof. */
export function hasStandardSignature(headers: HttpHeaders): boolean {
  return headers['webhook-signature'] !== undefined
}

/**
 * One of the secrets must have signed within the tolerance. Returns the id. Throws DeliveryFault `invalid_signature`,
 * or `timestamp_out_of_range` if only the time is wrong.
 */
export function verifyStandard(delivery: Delivery, secrets: readonly string[], now: number): string {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': list } = delivery.headers
  if (id === undefined || !/^[\x21-\x2B\x2D-\x7E]{1,255}$/.test(id)) {
    throw invalidSignature('webhook-id is required, once, with 1 to 255 characters.')
  }
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) {
    throw invalidSignature('webhook-timestamp is required, once, in seconds since 1970.')
  }
  // Node joins repeated headers with commas, which no valid token contains.
  const tokens = list?.split(' ', 21) ?? []
  if (tokens.length === 0 || tokens.length > 20 || !tokens.every((token) => signaturePattern.test(token))) {
    throw invalidSignature('webhook-signature is required, once, as v1,<base64>.')
  }
  const message = { id, seconds, body: delivery.rawBody }
  const matches = matchesAny(secrets, (secret) => {
    const expected = standardSignatureOf(secret, message)
    return matchesAny(tokens, (token) => isEqualSecret(token, expected))
  })
  if (!matches) throw invalidSignature('webhook-signature does not match the body and the webhook secret.')
  const apart = Math.abs(Math.floor(now / 1000) - Number(seconds))
  if (apart <= toleranceSeconds) return id
  throw new DeliveryFault(
    'timestamp_out_of_range',
    `webhook-timestamp is ${apart} s from the time of this server; at most ${toleranceSeconds} s are allowed.`,
  )
}

export function signStandard(body: string, secret: string, { id, now }: Sending): SignedDelivery {
  const seconds = Math.floor(now / 1000)
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': standardSignatureOf(secret, { id, seconds, body }),
    },
    query: {},
    body,
  }
}
