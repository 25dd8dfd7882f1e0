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

/** As a form encodes it (RFC 6749 Appendix B); what need not be is left, for servers that forget to decode. */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}
