import { generateKeyPairSync } from 'node:crypto'
import type { JsonObject } from '../../src/codec/json-text.ts'

/** A key pair like Canvas's: the private key, and the published key set. */
export function keyPair(kid: string): { readonly privateKey: JsonObject; readonly keySet: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    privateKey: { ...privateKey.export({ format: 'jwk' }), kid },
    keySet: JSON.stringify({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }],
    }),
  }
}
