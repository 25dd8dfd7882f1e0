import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, PasswordCost & { maxmem: number }, Buffer>(scrypt)

/** What checking a password costs: the parameters of scrypt (RFC 7914 §2). */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/**
 * A tenth of a second and 16 MiB: N = 2^14, r = 8, p = 5 is the one of the equal choices with little memory (OWASP
 * Password Storage Cheat Sheet).
 */
const usualCost: PasswordCost = { N: 2 ** 14, r: 8, p: 5 }
const maxmem = 64 * 1024 * 1024

/** Stored as every password is, and matched by none that anybody knows. */
export function nobodysPassword({ N, r, p } = usualCost): string {
  return ['scrypt', N, r, p, 'A'.repeat(22), 'A'.repeat(43)].join('$')
}

/**
 * The most UTF-16 units that a password may have. Making one text of the ways in which a letter and its accents can be
 * written takes a time that grows with the square of their number (Unicode Standard Annex #15 §13.2): nothing longer
 * is looked at.
 */
export const longestPassword = 256

/** A password as it is stored: scrypt (RFC 7914) with its parameters and salt. */
export async function hashPassword(password: string, cost = usualCost): Promise<string> {
  if (password.length > longestPassword) throw new RangeError('the password is too long to be hashed')
  const salt = randomBytes(16)
  const derived = await derive(password.normalize('NFC'), salt, 32, { ...cost, maxmem })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), derived.toString('base64url')].join(
    '$',
  )
}

/** True when the password is the one that was hashed. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  if (password.length > longestPassword) return false
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
