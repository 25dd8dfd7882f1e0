import { createHmac, hash, randomBytes } from 'node:crypto'
import { keyAround, keyRandomLength } from '../contract/key-text.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new API key. */
export function newKey(): string {
  return keyAround(randomBase62(keyRandomLength))
}

/** SHA-256 in base64url: what is kept of a credential (ASVS 5.0, 6.5.2: enough above 112 bits of chance). */
export function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** A fresh key for HMACs, in base64url. */
export function newHmacKey(): string {
  return randomBytes(32).toString('base64url')
}

/** HMAC-SHA256 of some bytes in base64url. */
export function fingerprint(key: string, bytes: Uint8Array): string {
  return createHmac('sha256', key).update(bytes).digest('base64url')
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: above it, some letters would come up more often.
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  }
  return text
}
