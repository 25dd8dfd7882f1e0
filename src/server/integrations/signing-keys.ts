import type { SigningKeys } from '../../webhooks/delivery.ts'
import { canvasKeysUrl, knownKeys, publishedKeys } from '../../webhooks/key-set.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Integration } from './integration.ts'

const timeoutMs = 5000
const maximumBytes = 256 * 1024

/**
 * Finds the keys that a system signs its events with: those that are stored here, else those at its address, which are kept
 * between requests. One is made for all requests to an academy.
 *
 * @param now milliseconds since 1970
 */
export function signingKeys(
  outgoing: Outgoing,
  now: () => number,
): (integration: Pick<Integration, 'jwks' | 'jwksUrl'>) => SigningKeys {
  const published = publishedKeys((url) => keySetAt(url, outgoing), now)
  let stored: { readonly text: string; readonly keys: SigningKeys } | undefined
  return ({ jwks, jwksUrl }) => {
    if (jwks === null) return published(jwksUrl ?? canvasKeysUrl)
    // What has been read once is not read anew with each delivery.
    if (stored?.text !== jwks) stored = { text: jwks, keys: knownKeys(jwks) }
    return stored.keys
  }
}

/** The text of a key set. It is fetched by https alone: whoever could change it could sign any event. */
async function keySetAt(url: string, outgoing: Outgoing): Promise<string> {
  if (!url.startsWith('https:')) throw new TypeError(`${url} is not an https URL`)
  const headers = { accept: 'application/json' }
  const response = await outgoing({ method: 'GET', url, headers, timeoutMs, maximumBytes })
  const { status, body, isCut } = response
  if (status !== 200) throw new TypeError(`${url} answered ${status}`)
  if (isCut) throw new TypeError(`${url} is larger than ${maximumBytes} bytes`)
  return body.toString('utf8')
}
