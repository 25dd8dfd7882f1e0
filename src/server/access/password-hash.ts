import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, PasswordCost & { maxmem: number }, Buffer>(scrypt)

/** Cost of checking a password: the parameters of scrypt (RFC 7914 §2). */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/**
 * A tenth of a second and 16 MiB: N = 2^14, r = 8, p = 5 needs the least memory of the equivalent choices
 * (OWASP Password Storage Cheat Sheet).
 */
const defaultCost: PasswordCost = { N: 2 ** 14, r: 8, p: 5 }
const maxmem = 64 * 1024 * 1024

/** Returns a stored password that no text matches. */
export function unmatchablePassword({ N, r, p } = defaultCost): string {
  return ['scrypt', N, r, p, 'A'.repeat(22), 'A'.repeat(43)].join('$')
}

/**
 * Maximum UTF-16 units of a password. Normalizing accents takes time that grows with the square of their
 * number (Unicode Standard Annex #15 §13.2), so longer passwords are refused before.
 */
export const maxPasswordLength = 256

/** Hashes a password for storage: scrypt (RFC 7914) with its parameters and salt. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  if (password.length > maxPasswordLength) throw new RangeError('the password is too long to be hashed')
  const salt = randomBytes(16)
  const derived = await derive(password.normalize('NFC'), salt, 32, { ...cost, maxmem })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), derived.toString('base64url')].join(
    '$',
  )
}

/** True if the password matches the stored hash. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  if (password.length > maxPasswordLength) return false
  const [, N, r, p, salt = '', derived = ''] = stored.split('$')
  const expected = Buffer.from(derived, 'base64url')
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem }
  const actual = await derive(
    password.normalize('NFC'),
    Buffer.from(salt, 'base64url'),
    expected.length,
    options,
  )
  return timingSafeEqual(actual, expected)
}
