import { hash, timingSafeEqual } from 'node:crypto'

/** Compares in constant time. */
export function isEqualSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  // Digests have equal lengths, which timingSafeEqual requires.
  return timingSafeEqual(digest(given), digest(expected))
}

/** True if any item matches; checks all, so that the time does not reveal which. */
export function matchesAny<Each>(all: readonly Each[], isRight: (each: Each) => boolean): boolean {
  return all.filter(isRight).length > 0
}

/** Returns the SHA-256 in hex, which identifies a delivery without an id. */
export function digestText(data: string | Uint8Array): string {
  return digest(data).toString('hex')
}

function digest(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}
