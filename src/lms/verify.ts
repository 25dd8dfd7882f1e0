import { createHmac, hash } from 'node:crypto'
import { type JsonObject, jsonText } from '../codec/json-text.ts'
import type { LmsKind } from '../contract/constants.ts'
import {
  type Delivery,
  DeliveryFault,
  idAt,
  invalidSignature,
  isEqualSecret,
  matchesAny,
  memberAt,
  parsePayload,
  type SignedDelivery,
  type SigningMaterial,
  type Trust,
  type Verified,
} from './delivery.ts'
import { type Kind, kinds, type Proof } from './kinds.ts'
import { createHmacKey, hasStandardSignature, signStandard, verifyStandard } from './standard.ts'

/** Throws DeliveryFault; `malformed_payload` only of an authentic delivery. */
export async function verify(kind: LmsKind, delivery: Delivery, trust: Trust): Promise<Verified> {
  const { proof, id } = kinds[kind]
  if (hasStandardSignature(delivery.headers)) {
    const webhookId = verifyStandard(delivery, trust.secrets, trust.now)
    return { key: `webhook-id:${webhookId}`, body: removeSecret(proof, parsePayload(delivery.rawBody)) }
  }
  const body = removeSecret(proof, await verifyBody(proof, delivery, trust))
  return { key: keyOf(body, id), body }
}

async function verifyBody(proof: Proof, delivery: Delivery, trust: Trust): Promise<JsonObject> {
  const { secrets } = trust
  switch (proof.by) {
    case 'jwt': {
      const { verifyClaims } = await import('./canvas-signature.ts')
      return verifyClaims(delivery, trust, proof.algorithm)
    }
    case 'member':
      return parseBodyWithSecret(delivery, proof.member, secrets)
    case 'address':
      if (matches(secrets, addressSecrets(delivery, proof.parameter))) break
      throw invalidSignature(
        `?${proof.parameter}= or the password of the address must be the webhook secret.`,
      )
    case 'hmac': {
      const given = delivery.headers[proof.header] ?? ''
      const signatures = secrets.map((secret) => bodySignatureOf(proof, secret, delivery.rawBody))
      if (matches(signatures, [given.toLowerCase()])) break
      throw invalidSignature(`${proof.header} must be the signature of the body with the webhook secret.`)
    }
    case 'standard':
      throw invalidSignature('webhook-signature is required.')
  }
  return parsePayload(delivery.rawBody)
}

function bodySignatureOf(
  { hash: algorithm, encoding }: Extract<Proof, { by: 'hmac' }>,
  secret: string,
  body: string | Uint8Array,
): string {
  return createHmac(algorithm, createHmacKey(secret)).update(body).digest(encoding)
}

/** A body that cannot be parsed is not authentic. */
function parseBodyWithSecret({ rawBody }: Delivery, member: string, secrets: readonly string[]): JsonObject {
  const message = `${member} in the body must be the webhook secret.`
  let body: JsonObject
  try {
    body = parsePayload(rawBody)
  } catch (cause) {
    if (cause instanceof DeliveryFault) throw invalidSignature(message, cause)
    throw cause
  }
  const given = memberAt(body, member)
  if (typeof given === 'string' && matches(secrets, [given])) return body
  throw invalidSignature(message)
}

function matches(expected: readonly string[], given: readonly string[]): boolean {
  return matchesAny(expected, (right) => matchesAny(given, (each) => isEqualSecret(each, right)))
}

/** A repeated parameter is ignored as ambiguous. */
function addressSecrets({ headers, query }: Delivery, parameter: string): readonly string[] {
  const tokens = query.getAll(parameter)
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers['authorization'] ?? '') ?? []
  const credentials = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  return [...(tokens.length === 1 ? tokens : []), ...(colon < 0 ? [] : [credentials.slice(colon + 1)])]
}

/** They may change when the same event is signed again (RFC 7519 §4.1). */
const registeredClaims = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti']

function removeSecret(proof: Proof, body: JsonObject): JsonObject {
  const dropped = proof.by === 'jwt' ? registeredClaims : proof.by === 'member' ? [proof.member] : []
  return Object.fromEntries(Object.entries(body).filter(([name]) => !dropped.includes(name)))
}

function keyOf(body: JsonObject, path: Kind['id']): string {
  const id = path === null ? null : idAt(body, path)
  return id === null ? `sha256:${hash('sha256', jsonText(body))}` : `id:${id}`
}

/**
 * Canvas signs with a private key, or with Standard Webhooks if a secret is given instead. Throws TypeError on a key
 * that cannot sign.
 */
export async function sign(
  kind: LmsKind,
  payload: JsonObject,
  { secret, ...material }: SigningMaterial,
): Promise<SignedDelivery> {
  const { proof } = kinds[kind]
  const body = jsonText(payload)
  const json = { 'content-type': 'application/json' }
  if (typeof secret !== 'string') {
    const { signClaims } = await import('./canvas-signature.ts')
    // Canvas sends the token as a JSON string.
    return { headers: json, query: {}, body: JSON.stringify(await signClaims(body, secret.privateKey)) }
  }
  switch (proof.by) {
    case 'member':
      return { headers: json, query: {}, body: jsonText({ ...payload, [proof.member]: secret }) }
    case 'address':
      return { headers: json, query: { [proof.parameter]: secret }, body }
    case 'hmac':
      return { headers: { ...json, [proof.header]: bodySignatureOf(proof, secret, body) }, query: {}, body }
    case 'jwt':
    case 'standard':
      return signStandard(body, secret, material)
  }
}
