import { CompactSign, compactVerify, importJWK } from 'jose'
import type { JsonObject } from '../codec/json-object.ts'
import type { Delivery, SigningKeys, Trust } from './delivery.ts'
import { DeliveryFault, malformed, unproved } from './delivery-fault.ts'
import { memberAt } from './member.ts'
import { parsePayload } from './payload.ts'
import { isSame } from './secrets.ts'

/** How far the clock of a signer may be from ours, in seconds. */
const clockSkew = 300

/**
 * The claims of a body that is a signed JWT, from the account that the integration names: all customers of Canvas are
 * signed for with the same keys. Throws DeliveryFault.
 */
export async function verifiedClaims(
  { rawBody }: Delivery,
  { keys, rootAccountUuid, now }: Trust,
  algorithm: string,
): Promise<JsonObject> {
  const token = compactToken(rawBody)
  if (token === null) throw unproved('The body is not a signed JWT, and no webhook-signature signs it.')
  if (keys === null)
    throw unproved('The integration has no keys (jwksUrl or jwks) to check a signed body with.')
  if (rootAccountUuid === null) throw unproved('The integration has no rootAccountUuid.')
  const claims = parsePayload(await signedPayload(token, keys, algorithm))
  const uuid = memberAt(claims, 'metadata.root_account_uuid')
  if (typeof uuid !== 'string' || !isSame(uuid, rootAccountUuid)) {
    throw unproved('metadata.root_account_uuid is not that of the integration.')
  }
  assertInTime(claims, now)
  return claims
}

/**
 * A token in compact form (RFC 7515 §7.1). A header says of the key no more than its name, and no key makes a longer
 * signature: longer ones, which anybody may send, would take long to read.
 */
const compact = /^[\w-]{1,4096}\.[\w-]+\.[\w-]{1,2048}$/

/** The token of a body, which may stand in quotes; null where it is none. */
function compactToken(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('latin1').trim()
  const token = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  return compact.test(token) ? token : null
}

async function signedPayload(token: string, keys: SigningKeys, algorithm: string): Promise<Uint8Array> {
  try {
    const { payload } = await compactVerify(
      token,
      async ({ alg, kid }) => {
        // Before the key: one made for another algorithm must not be looked at with this one.
        if (alg !== algorithm) throw unproved(`The JWT must be signed with ${algorithm}.`)
        if (typeof kid !== 'string' || kid === '') throw unproved('The JWT has no kid.')
        const key = await keys.find(kid)
        if (key === null) throw unproved('The kid of the JWT is not among the keys of the integration.')
        if (key['kty'] !== 'RSA') throw unproved('The key of the JWT is not an RSA key.')
        return importedKey(key, algorithm)
      },
      { algorithms: [algorithm] },
    )
    return payload
  } catch (cause) {
    if (cause instanceof DeliveryFault) throw cause
    // Besides errors of its own, jose throws what the platform says of a key or a text that it cannot read.
    throw unproved('The signature of the JWT does not match.', cause)
  }
}

/** Keys that were read before, by the object that each is: reading one takes longer than to verify with it. */
const imported = new WeakMap<JsonObject, ReturnType<typeof importJWK>>()

function importedKey(key: JsonObject, algorithm: string): ReturnType<typeof importJWK> {
  const known = imported.get(key) ?? importJWK(key, algorithm)
  imported.set(key, known)
  return known
}

/** Neither claim is documented by Canvas: where one is there, it counts. */
function assertInTime(claims: JsonObject, now: number): void {
  const seconds = now / 1000
  const { exp, iat, nbf } = Object.fromEntries(
    ['exp', 'iat', 'nbf'].map((name) => [name, memberAt(claims, name)]),
  )
  for (const [name, value] of Object.entries({ exp, iat, nbf })) {
    if (value !== undefined && typeof value !== 'number') throw malformed(`${name} must be a number.`)
  }
  const isOver = typeof exp === 'number' && exp + clockSkew < seconds
  const isEarly = [iat, nbf].some((from) => typeof from === 'number' && from - clockSkew > seconds)
  if (isOver || isEarly) {
    throw new DeliveryFault(
      'timestamp_out_of_range',
      `The JWT ${isOver ? 'has expired' : 'is not valid yet'}.`,
    )
  }
}

/** A JWT with these claims, as text, signed with a private key that has a `kid`. Throws TypeError on another one. */
export async function signedClaims(claims: string, privateKey: JsonObject): Promise<string> {
  const { kid } = privateKey
  if (typeof kid !== 'string' || kid === '') throw new TypeError('The signing key has no kid.')
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .sign(await importJWK(privateKey, 'RS256'))
}
