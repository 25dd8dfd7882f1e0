import type { ClientAuth } from 'oauth4webapi'

/** This program as a client of an authorization server (RFC 6749 §2). */
export interface ClientIdentity {
  readonly id: string
  /** Null for a public client. */
  readonly secret: string | null
}

/**
 * Where the client secret is sent: in the header, which every server must support, or in the form (RFC 6749
 * §2.3.1).
 */
export type SecretPlace = 'header' | 'form'

/** Authenticates the client to the token endpoint and the others that it calls directly. */
export function clientAuthentication({ id, secret }: ClientIdentity, place: SecretPlace): ClientAuth {
  return (_server, _client, form, headers) => {
    if (secret !== null && place === 'header') {
      const pair = `${formEncoded(id)}:${formEncoded(secret)}`
      headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
      return
    }
    form.set('client_id', id)
    if (secret !== null) form.set('client_secret', secret)
  }
}

interface Refusable {
  readonly refusal: { readonly error: string } | null
}

export interface Placed<Answer> {
  readonly answer: Answer
  readonly place: SecretPlace
}

/**
 * Tries each place for the client secret until the server recognises the client. A server that only reads the
 * form answers the header with `invalid_client`, or with `invalid_request` because the client is missing, and
 * does not use up the code before it recognises the client (RFC 6749 §4.1.3, §5.2). If every place fails,
 * returns the answer to the first.
 */
export async function tryEachPlace<Answer extends Refusable>(
  { secret }: ClientIdentity,
  [first, ...others]: SecretPlaces,
  ask: (place: SecretPlace) => Promise<Answer>,
): Promise<Placed<Answer>> {
  const placed = { answer: await ask(first), place: first }
  if (secret === null || !isUnknownClient(placed)) return placed
  for (const place of others) {
    const other = { answer: await ask(place), place }
    if (!isUnknownClient(other)) return other
  }
  return placed
}

/** Places are tried in this order. */
export type SecretPlaces = readonly [SecretPlace, ...SecretPlace[]]

function isUnknownClient({ answer: { refusal } }: Placed<Refusable>): boolean {
  return refusal !== null && ['invalid_client', 'invalid_request'].includes(refusal.error)
}

/**
 * Form-encodes a text (RFC 6749 Appendix B), but no more than necessary, for servers that forget to decode.
 */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}
