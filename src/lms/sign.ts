import { type JsonObject, jsonText } from '../codec/json-text.ts'
import type { LmsKind } from '../contract/constants.ts'
import type { SignedDelivery, SigningMaterial } from './delivery.ts'
import { kinds } from './kinds.ts'
import { signStandard } from './standard-signature.ts'
import { bodySignatureOf } from './verify.ts'

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
