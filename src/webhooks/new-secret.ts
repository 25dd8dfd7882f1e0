import { randomBytes } from 'node:crypto'

const secretBytes = 24

/** A new secret as Standard Webhooks writes it, of letters and digits alone: it may have to stand in a URL as it is. */
export function newWebhookSecret(): string {
  for (;;) {
    const text = randomBytes(secretBytes).toString('base64')
    if (!/[+/]/.test(text)) return `whsec_${text}`
  }
}
