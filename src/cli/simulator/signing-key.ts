import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** A key pair as Canvas has one: RSA with 2048 bits for RS256 (RFC 7518 §3.3), both as JSON. */
export function newSigningKey(): {
  readonly kid: string
  /** A JWK (RFC 7517). */
  readonly privateKey: string
  /** A JWKS (RFC 7517 §5). */
  readonly keySet: string
} {
  const kid = `test-${randomBytes(6).toString('hex')}`
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const facts = { kid, alg: 'RS256', use: 'sig' }
  return {
    kid,
    privateKey: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...facts }, null, 2),
    keySet: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), ...facts }] }, null, 2),
  }
}
