import type { ClientAuth } from 'oauth4webapi'

/** Who this program is to an authorization server (RFC 6749 §2). */
export interface ClientIdentity {
  readonly id: string
  /** Null for a public client. */
  readonly secret: string | null
}

/** Where a secret is sent: in the header that every server has to take, or in the form (RFC 6749 §2.3.1). */
export type SecretPlace = 'header' | 'form'

/** How a client says who it is, to the token endpoint and the others that it calls by itself. */
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

/** An answer, and where the secret was sent for it. */
export interface Placed<Answer> {
  readonly answer: Answer
  readonly place: SecretPlace
}

/**
 * Asks with the secret in each of these places, until the client is known there: a server that reads the form alone says
 * `invalid_client` to the header, or `invalid_request` for want of a client, and looks at the code only once it knows the
 * client (RFC 6749 §4.1.3, §5.2). Where no place will do, the answer is that to the first.
 */
export async function inEachPlace<Answer extends Refusable>(
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

/** The places for a secret that a server may take, at least one, in the order in which they are tried. */
export type SecretPlaces = readonly [SecretPlace, ...SecretPlace[]]

function isUnknownClient({ answer: { refusal } }: Placed<Refusable>): boolean {
  return refusal !== null && ['invalid_client', 'invalid_request'].includes(refusal.error)
}

/** As a form encodes it (RFC 6749 Appendix B); what need not be is left, for servers that forget to decode. */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}
