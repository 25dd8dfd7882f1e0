import { createHmac, hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 30
const checkLength = 6

/** The beginning of every API key. */
export const keyPrefix = 'lpk_'

/** A new API key: `lpk_`, 30 characters of chance (178 bits), 6 of CRC-32 over those (api.md §2, "API keys"). */
export function newKey(): string {
  const random = randomBase62(randomLength)
  return keyPrefix + random + checksum(random)
}

/** True for a text of a key's form whose check characters are right. */
export function isKey(text: string): boolean {
  const random = text.slice(keyPrefix.length, -checkLength)
  return /^lpk_[0-9A-Za-z]{36}$/.test(text) && text.endsWith(checksum(random))
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

function checksum(random: string): string {
  let value = crc32(random)
  let text = ''
  for (let index = 0; index < checkLength; index += 1) {
    text = alphabet[value % 62] + text
    value = Math.floor(value / 62)
  }
  return text
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
