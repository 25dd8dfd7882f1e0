import { hash, timingSafeEqual } from 'node:crypto'

/** True for the same text or bytes, in a time that tells nothing of either. */
export function isSame(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  // Digests have one length, whatever that of the texts is.
  return timingSafeEqual(digest(given), digest(expected))
}

/** True if any of them is right; each is looked at, so that the time does not tell which. */
export function anyOf<Each>(all: readonly Each[], isRight: (each: Each) => boolean): boolean {
  return all.filter(isRight).length > 0
}

/** SHA-256 in hex, by which a delivery without an id is told from others. */
export function digestText(data: string | Uint8Array): string {
  return digest(data).toString('hex')
}

function digest(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}
