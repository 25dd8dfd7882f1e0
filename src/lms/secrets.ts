import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Compares in constant time. */
export function isEqualSecret(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  // Digests have equal lengths, which timingSafeEqual requires.
  return timingSafeEqual(digest(given), digest(expected))
}

/** True if any item matches; checks all, so that the time does not reveal which. */
export function matchesAny<Each>(all: readonly Each[], isRight: (each: Each) => boolean): boolean {
  return all.filter(isRight).length > 0
}

function digest(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}

const secretBytes = 24

/** Has letters and digits only, so that it can be part of a URL. */
export function newWebhookSecret(): string {
  for (;;) {
    const text = randomBytes(secretBytes).toString('base64')
    if (!/[+/]/.test(text)) return `whsec_${text}`
  }
}
