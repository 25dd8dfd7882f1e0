import { createHmac } from 'node:crypto'
import type { JsonObject } from '../codec/json-object.ts'
import { jsonText } from '../codec/json-text.ts'
import type { LmsKind } from '../contract/integration-choices.ts'
import type { Delivery, Trust, Verified } from './delivery.ts'
import { DeliveryFault, unproved } from './delivery-fault.ts'
import { type Kind, kinds, type Proof } from './kinds.ts'
import { idAt, memberAt } from './member.ts'
import { memberTexts } from './member-texts.ts'
import { parsePayload } from './payload.ts'
import { anyOf, digestText, isSame } from './secrets.ts'
import { checkStandard, hmacKey, isStandard } from './standard-signature.ts'

/**
 * What a delivery says, once it is proved who sent it. Throws DeliveryFault: `invalid_signature`,
 * `timestamp_out_of_range`, and after these `malformed_payload`; `keys_unavailable` where that cannot be told now.
 */
export async function verify(kind: LmsKind, delivery: Delivery, trust: Trust): Promise<Verified> {
  const { proof, id } = kinds[kind]
  if (isStandard(delivery.headers)) {
    const webhookId = checkStandard(delivery, trust.secrets, trust.now)
    return { key: `webhook-id:${webhookId}`, body: withoutSecret(proof, parsePayload(delivery.rawBody)) }
  }
  const body = withoutSecret(proof, await provedBody(proof, delivery, trust))
  return { key: keyOf(body, id), body }
}

async function provedBody(proof: Proof, delivery: Delivery, trust: Trust): Promise<JsonObject> {
  const { secrets } = trust
  switch (proof.by) {
    case 'jwt': {
      const { verifiedClaims } = await import('./signed-jwt.ts')
      return verifiedClaims(delivery, trust, proof.algorithm)
    }
    case 'member':
      return bodyWithSecret(delivery, proof.member, secrets)
    case 'address':
      if (matches(secrets, addressSecrets(delivery, proof.parameter))) break
      throw unproved(`?${proof.parameter}= or the password of the address must be the webhook secret.`)
    case 'hmac': {
      const given = delivery.headers[proof.header] ?? ''
      const signatures = secrets.map((secret) => bodySignature(proof, secret, delivery.rawBody))
      if (matches(signatures, [given.toLowerCase()])) break
      throw unproved(`${proof.header} must be the signature of the body with the webhook secret.`)
    }
    case 'standard':
      throw unproved('webhook-signature is required.')
  }
  return parsePayload(delivery.rawBody)
}

/** The signature that a header has of a body. */
export function bodySignature(
  { hash, encoding }: Extract<Proof, { by: 'hmac' }>,
  secret: string,
  body: string | Uint8Array,
): string {
  return createHmac(hash, hmacKey(secret)).update(body).digest(encoding)
}

/** The secret stands in the body, so that is read first; what cannot be read proves nothing. */
function bodyWithSecret({ rawBody }: Delivery, member: string, secrets: readonly string[]): JsonObject {
  const message = `${member} in the body must be the webhook secret.`
  // Reading a body takes a hundred times as long as looking for a secret in it: anybody may send one.
  if (!matches(secrets, memberTexts(rawBody, member))) throw unproved(message)
  let body: JsonObject
  try {
    body = parsePayload(rawBody)
  } catch (cause) {
    if (cause instanceof DeliveryFault) throw unproved(message, cause)
    throw cause
  }
  const given = memberAt(body, member)
  if (typeof given === 'string' && matches(secrets, [given])) return body
  throw unproved(message)
}

function matches(expected: readonly string[], given: readonly string[]): boolean {
  return anyOf(expected, (right) => anyOf(given, (each) => isSame(each, right)))
}

/** What an address gives as its secret. Each stands once: which one would count is not for a guess. */
function addressSecrets({ headers, query }: Delivery, parameter: string): readonly string[] {
  const tokens = query.getAll(parameter)
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers['authorization'] ?? '') ?? []
  const credentials = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  return [...(tokens.length === 1 ? tokens : []), ...(colon < 0 ? [] : [credentials.slice(colon + 1)])]
}

/** Claims that say something of the signature; the same event signed again may have others (RFC 7519 §4.1). */
const registeredClaims = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']

function withoutSecret(proof: Proof, body: JsonObject): JsonObject {
  const dropped = proof.by === 'jwt' ? registeredClaims : proof.by === 'member' ? [proof.member] : []
  return Object.fromEntries(Object.entries(body).filter(([name]) => !dropped.includes(name)))
}

function keyOf(body: JsonObject, path: Kind['id']): string {
  const id = path === null ? null : idAt(body, path)
  return id === null ? `sha256:${digestText(jsonText(body))}` : `id:${id}`
}
