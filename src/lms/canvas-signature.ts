import { CompactSign, compactVerify, importJWK } from 'jose'
import type { JsonObject } from '../codec/json-text.ts'
import {
  type Delivery,
  DeliveryFault,
  invalidSignature,
  malformedPayload,
  type SigningKeys,
  type Trust,
} from './delivery.ts'
import { memberAt, parsePayload } from './payload.ts'
import { isEqualSecret } from './secrets.ts'

const maxClockSkewSeconds = 300

/**
 * Verifies a body that is a signed JWT, and that it is from the integration's account: Canvas signs for all
 * its customers with the same keys. Returns its claims. Throws DeliveryFault.
 */
export async function verifyClaims(
  { rawBody }: Delivery,
  { keys, rootAccountUuid, now }: Trust,
  algorithm: string,
): Promise<JsonObject> {
  const token = readToken(rawBody)
  if (token === null)
    throw invalidSignature('The body is not a signed JWT, and no webhook-signature signs it.')
  if (keys === null)
    throw invalidSignature('The integration has no keys (jwksUrl or jwks) to check a signed body with.')
  if (rootAccountUuid === null) throw invalidSignature('The integration has no rootAccountUuid.')
  const claims = parsePayload(await verifySignature(token, keys, algorithm))
  const uuid = memberAt(claims, 'metadata.root_account_uuid')
  if (typeof uuid !== 'string' || !isEqualSecret(uuid, rootAccountUuid)) {
    throw invalidSignature('metadata.root_account_uuid is not that of the integration.')
  }
  requireInTime(claims, now)
  return claims
}

/**
 * A token in compact form (RFC 7515 §7.1). The lengths are bounded, because anyone can send a token: a header
 * contains little more than the key's id, and no key makes a longer signature.
 */
const compact = /^[\w-]{1,4096}\.[\w-]+\.[\w-]{1,2048}$/

/** The token may be quoted; null for a body that is no token. */
function readToken(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('latin1').trim()
  const token = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  return compact.test(token) ? token : null
}

async function verifySignature(token: string, keys: SigningKeys, algorithm: string): Promise<Uint8Array> {
  try {
    const { payload } = await compactVerify(
      token,
      async ({ alg, kid }) => {
        // Checked before the key: a key for one algorithm must not be used with another.
        if (alg !== algorithm) throw invalidSignature(`The JWT must be signed with ${algorithm}.`)
        if (typeof kid !== 'string' || kid === '') throw invalidSignature('The JWT has no kid.')
        const key = await keys.find(kid)
        if (key === null)
          throw invalidSignature('The kid of the JWT is not among the keys of the integration.')
        if (key['kty'] !== 'RSA') throw invalidSignature('The key of the JWT is not an RSA key.')
        return importKey(key, algorithm)
      },
      { algorithms: [algorithm] },
    )
    return payload
  } catch (cause) {
    if (cause instanceof DeliveryFault) throw cause
    // jose also throws errors of the platform for keys and texts that it cannot read.
    throw invalidSignature('The signature of the JWT does not match.', cause)
  }
}

/** Imported keys by their JWK: importing takes longer than verifying. */
const imported = new WeakMap<JsonObject, ReturnType<typeof importJWK>>()

function importKey(key: JsonObject, algorithm: string): ReturnType<typeof importJWK> {
  const known = imported.get(key) ?? importJWK(key, algorithm)
  imported.set(key, known)
  return known
}

/** Checks the times of the claims, if present: Canvas documents none. */
function requireInTime(claims: JsonObject, now: number): void {
  const seconds = now / 1000
  const { exp, iat, nbf } = Object.fromEntries(
    ['exp', 'iat', 'nbf'].map((name) => [name, memberAt(claims, name)]),
  )
  for (const [name, value] of Object.entries({ exp, iat, nbf })) {
    if (value !== undefined && typeof value !== 'number') throw malformedPayload(`${name} must be a number.`)
  }
  const isOver = typeof exp === 'number' && exp + maxClockSkewSeconds < seconds
  const isEarly = [iat, nbf].some((from) => typeof from === 'number' && from - maxClockSkewSeconds > seconds)
  if (isOver || isEarly) {
    throw new DeliveryFault(
      'timestamp_out_of_range',
      `The JWT ${isOver ? 'has expired' : 'is not valid yet'}.`,
    )
  }
}

/** Signs JSON text with a private key that has a `kid`. Throws TypeError on any other key. */
export async function signClaims(claims: string, privateKey: JsonObject): Promise<string> {
  const { kid } = privateKey
  if (typeof kid !== 'string' || kid === '') throw new TypeError('The signing key has no kid.')
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .sign(await importJWK(privateKey, 'RS256'))
}
