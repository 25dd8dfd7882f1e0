import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Kinds of ids. Equal ids of two kinds have different pseudonyms. */
export type IdKind = string

/**
 * Makes the pseudonyms of one key: HMAC-SHA-256 (RFC 2104) of the kind and the id, cut to 100 bits. Among ten million ids,
 * two have the same pseudonym with a probability of 4 in 10^17.
 */
export class Pseudonyms {
  /** Node reads a KeyObject six times as fast as bytes. */
  readonly #key: KeyObject
  readonly #cache = new Map<string, string>()

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** Returns the pseudonym of an id: 20 letters and digits. */
  of(kind: IdKind, id: string): string {
    const name = `${kind}\0${id}`
    const cached = this.#cache.get(name)
    if (cached !== undefined) return cached
    const made = base32(this.#digest(name).subarray(0, pseudonymBytes)).slice(0, pseudonymLength)
    if (this.#cache.size >= maxCached) this.#cache.clear()
    this.#cache.set(name, made)
    return made
  }

  /** Returns a UUID for an id that must be one (version 8, RFC 9562 §5.8). */
  uuidOf(kind: IdKind, id: string): string {
    const bytes = Buffer.from(this.#digest(`${kind}\0${id}`).subarray(0, 16))
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const hex = bytes.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }

  /** Returns a digest by which the key is recognised, and from which it cannot be found. */
  keyDigest(): string {
    return createHmac('sha256', this.#key).update('learnctl pseudonym key 1').digest('hex').slice(0, 32)
  }

  #digest(name: string): Buffer {
    return createHmac('sha256', this.#key).update(`learnctl pseudonym 1\0${name}`).digest()
  }
}

/** Pseudonyms in memory: rows about one person often follow each other. */
const maxCached = 50_000
const pseudonymLength = 20
/** 20 digits of 5 bits each need 13 bytes. */
const pseudonymBytes = 13
/** Base32 in lower case (RFC 4648 §6). */
const digits = 'abcdefghijklmnopqrstuvwxyz234567'

function base32(bytes: Buffer): string {
  let [text, bits, held] = ['', 0, 0]
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += digits.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return text
}

export type CoarseTime = 'day' | 'week' | 'month'

/** Returns the first day of the period that contains a time (UTC; weeks begin on Monday); null for what is no time. */
export function coarsened(time: unknown, to: CoarseTime): string | null {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN
  if (Number.isNaN(ms)) return null
  const day = new Date(ms)
  if (to === 'month') day.setUTCDate(1)
  if (to === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}
