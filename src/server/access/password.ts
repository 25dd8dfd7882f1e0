import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)

// OWASP Password Storage Cheat Sheet: N = 2^14, r = 8, p = 5 is the one of its equal choices with little memory.
const cost = { N: 2 ** 14, r: 8, p: 5 }
const maxmem = 64 * 1024 * 1024

/** Stored as every password is, and matched by none that anybody knows. */
export const nobodysPassword = ['scrypt', cost.N, cost.r, cost.p, 'A'.repeat(22), 'A'.repeat(43)].join('$')

/** A password as it is stored: scrypt (RFC 7914) with its parameters and salt. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const derived = await derive(password.normalize('NFC'), salt, 32, { ...cost, maxmem })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), derived.toString('base64url')].join(
    '$',
  )
}

/** True when the password is the one that was hashed. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
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
