import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import sql from 'sql-template-tag'
import {
  base62,
  type CredentialName,
  credentialRandomLength,
  formatCredential,
} from '../../codec/credential-text.ts'
import type { Database } from '../database/database.ts'

/** A new credential of this kind. */
export function newCredential(name: CredentialName): string {
  return formatCredential(name, randomBase62(credentialRandomLength))
}

/** SHA-256 in base64url: what is kept of a credential (ASVS 5.0, 6.5.2: enough above 112 bits of chance). */
export function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** True for equal texts, in a time that tells nothing of where they differ. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)))
}

/** A fresh key for HMACs, in base64url. */
export function newHmacKey(): string {
  return randomBytes(32).toString('base64url')
}

/** The academy's own key for HMACs. */
export async function hmacKeyOf(database: Database): Promise<string> {
  return (
    (await database.one<{ value: string }>(sql`select value from settings where name = 'hmac_key'`))?.value ??
    ''
  )
}

/** HMAC-SHA256 of some bytes in base64url. */
export function fingerprint(key: string, bytes: Uint8Array): string {
  return createHmac('sha256', key).update(bytes).digest('base64url')
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: above it, some letters would come up more often.
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += base62[byte % 62]
  }
  return text
}
