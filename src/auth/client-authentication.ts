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

/**
 * Form-encodes a text (RFC 6749 Appendix B), but no more than necessary, for servers that forget to decode.
 */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}
