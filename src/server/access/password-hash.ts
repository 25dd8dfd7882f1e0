import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, PasswordCost & { maxmem: number }, Buffer>(scrypt)

/** The parameters of scrypt (RFC 7914 §2). */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** A tenth of a second and 16 MiB, the least memory of the equivalent choices (OWASP Password Storage Cheat Sheet). */
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

/** scrypt (RFC 7914) with its parameters and salt. */
export async function hashPassword(password: string, cost = defaultCost): Promise<string> {
  if (password.length > maxPasswordLength) throw new RangeError('the password is too long to be hashed')
  const salt = randomBytes(16)
  const derived = await derive(password.normalize('NFC'), salt, 32, { ...cost, maxmem })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), derived.toString('base64url')].join(
    '$',
  )
}

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

let list: Promise<ReadonlySet<string>> | undefined

/**
 * True for a commonly used password, in any case: one in src/common-passwords, or one of these repeated. NIST
 * SP 800-63B-4 §3.1.1.2 requires to refuse them.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= readList().catch((error: unknown) => {
    // Retry with the next password: there may have been too many open files.
    list = undefined
    throw error
  })
  const common = await list
  const text = password.toLowerCase()
  return common.has(text) || common.has(unitOf(text))
}

async function readList(): Promise<ReadonlySet<string>> {
  const text = await readFile(new URL('../../common-passwords/passwords.txt', import.meta.url), 'utf8')
  return new Set(text.trimEnd().split('\n'))
}

/** `abc` for `abcabcabc`. */
function unitOf(text: string): string {
  // A repetition occurs in its doubled text before the second half.
  return text.slice(0, `${text}${text}`.indexOf(text, 1))
}
