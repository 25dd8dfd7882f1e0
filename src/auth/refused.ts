import { ownClientId } from '../contract/oauth.ts'
import type { ClientIdentity } from './client-identity.ts'
import { type Refusal, sayingOf } from './endpoint-answer.ts'
import { SignInError } from './errors.ts'

const registered = 'Use an application that is registered there: --client-id <id> --redirect-uri <uri>'

const hints: Readonly<Record<string, string>> = {
  invalid_scope: 'Request other scopes: learnctl auth login --scopes read',
  invalid_client: registered,
  unauthorized_client: registered,
  invalid_grant: 'Try again: learnctl auth login',
  expired_token: 'Try again: learnctl auth login --device',
}

/**
 * The fault that a refusal means to somebody who signs in at `host` as this client (RFC 6749 §4.1.2.1 and §5.2, RFC
 * 8628 §3.5). A better hint than the usual one may be given.
 */
export function refusedBy(
  host: string,
  client: ClientIdentity,
  refusal: Refusal,
  better?: string,
): SignInError {
  const { error, description } = refusal
  const said = description === null ? [] : [`${host} says: ${description}`]
  const unknown = error === 'invalid_client' && client.id !== ownClientId
  const hint = better ?? (unknown ? secretHint(client) : hints[error])
  const options = { why: said, ...(hint !== undefined && { hint }) }
  switch (error) {
    case 'access_denied':
      return new SignInError('access_denied', `Sign-in to ${host} was denied`, options)
    case 'expired_token':
      return new SignInError('sign_in_timed_out', 'The code expired before anyone signed in', options)
    case 'temporarily_unavailable':
      return new SignInError('server_unavailable', `Sign-in to ${host} is temporarily unavailable`, options)
    default:
      return new SignInError('sign_in_refused', `${host} refused the sign-in: ${sayingOf(refusal)}`, {
        ...(hint !== undefined && { hint }),
      })
  }
}

/** An application that somebody named is likely there: what is wrong is its secret. */
function secretHint({ secret }: ClientIdentity): string {
  const ways = '--client-secret-stdin < secret.txt, or LEARNCTL_CLIENT_SECRET'
  return secret === null ? `If the application has a secret: ${ways}` : `Check its id and secret: ${ways}`
}
