import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import sql from 'sql-template-tag'
import {
  base62,
  type CredentialName,
  credentialRandomLength,
  formatCredential,
} from '../../codec/credential-text.ts'
import type { Database } from '../database/database.ts'

export function newCredential(name: CredentialName): string {
  return formatCredential(name, randomBase62(credentialRandomLength))
}

/**
 * Returns the SHA-256 in base64url, which is stored instead of a credential (ASVS 5.0, 6.5.2: sufficient
 * above 112 bits of entropy).
 */
export function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** Compares in constant time. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)))
}

/** In base64url. */
export function newHmacKey(): string {
  return randomBytes(32).toString('base64url')
}

export async function hmacKeyOf(database: Database): Promise<string> {
  return (
    (await database.one<{ value: string }>(sql`select value from settings where name = 'hmac_key'`))?.value ??
    ''
  )
}

/** HMAC-SHA256 in base64url. */
export function fingerprint(key: string, bytes: Uint8Array): string {
  return createHmac('sha256', key).update(bytes).digest('base64url')
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    // Reject bytes above 248, the largest multiple of 62: otherwise some letters would be more frequent.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += base62[byte % 62]
  }
  return text
}
