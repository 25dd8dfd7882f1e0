import { allowInsecureRequests, type ClientAuth, customFetch, revocationRequest } from 'oauth4webapi'
import { isJsonObject, parseJsonOrNull } from '../codec/json-text.ts'
import type { StoredTokens } from '../config/profiles.ts'
import { ownClientId } from '../contract/oauth.ts'
import { SignInError } from './errors.ts'

/** A request to an authorization server, as oauth4webapi makes it (its `CustomFetchOptions`). */
export interface FetchRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/** Follows no redirect. Throws network errors unchanged, and a SignInError on a response that is not HTTP or too long. */
export type Fetch = (url: string, request: FetchRequest) => Promise<Response>

export interface Refusal {
  readonly error: string
  readonly description: string | null
}

export type Answer =
  | { readonly body: Readonly<Record<string, unknown>>; readonly refusal: null }
  | { readonly body: null; readonly refusal: Refusal }

/** Throws SignInError `server_unavailable` on 429 and 503, and `answer_unusable`, with `elsewhere` as its hint. */
export async function readAnswer(url: string, response: Response, elsewhere?: string): Promise<Answer> {
  const text = await response.text()
  const body = objectIn(text)
  if (body && typeof body['error'] === 'string' && body['error'] !== '' && response.status < 500) {
    const description = body['error_description']
    return {
      body: null,
      refusal: { error: body['error'], description: typeof description === 'string' ? description : null },
    }
  }
  if (response.ok && body) return { body, refusal: null }
  throw unusableError(url, response, text, body, elsewhere)
}

function unusableError(
  url: string,
  response: Response,
  text: string,
  body: Readonly<Record<string, unknown>> | null,
  elsewhere: string | undefined,
): SignInError {
  const { status, headers } = response
  const { host, pathname } = new URL(url)
  if (status === 429 || status === 503) {
    return new SignInError('server_unavailable', `${host} is unavailable (${pathname} returned ${status})`, {
      hint: retryHintOf(headers),
    })
  }
  const location = headers.get('location')
  const answered =
    status >= 300 && status < 400
      ? `${status}${location === null ? '' : `, a redirect to ${location}`}, which is not followed`
      : isPage(headers, text)
        ? `${status === 200 ? '' : `${status}, `}a web page instead of JSON`
        : body === null && status === 200
          ? 'invalid JSON'
          : `${status}`
  const detail = ['detail', 'message'].map((name) => body?.[name]).find((said) => typeof said === 'string')
  return new SignInError('answer_unusable', `${host} returned ${answered} (${pathname})`, {
    why: typeof detail === 'string' ? [`It says: ${detail.slice(0, 300)}`] : [],
    ...(status < 500 && elsewhere !== undefined && { hint: elsewhere }),
  })
}

/** Returns a hint on when to try again, from Retry-After in seconds (RFC 9110 §10.2.3). */
export function retryHintOf(headers: Headers): string {
  const seconds = /^\d{1,5}$/.exec(headers.get('retry-after') ?? '')?.[0]
  return seconds === undefined ? 'Try again later' : `Try again in ${seconds} s`
}

function isPage(headers: Headers, text: string): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text)
}

export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJsonOrNull(text.replace(/^\uFEFF/, ''))
  return isJsonObject(value) ? value : null
}

/** `invalid_grant: The code has expired.` */
export function refusalText({ error, description }: Refusal): string {
  return description === null ? error : `${error}: ${description}`
}

const registered = 'Use an application that is registered there: --client-id <id> --redirect-uri <uri>'

const hints: Readonly<Record<string, string>> = {
  invalid_scope: 'Request other scopes: learnctl auth login --scopes read',
  invalid_client: registered,
  unauthorized_client: registered,
  invalid_grant: 'Try again: learnctl auth login',
  expired_token: 'Try again: learnctl auth login --device',
}

/** RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5. `better` replaces the usual hint. */
export function refusalError(
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
      return new SignInError('sign_in_refused', `${host} refused the sign-in: ${refusalText(refusal)}`, {
        ...(hint !== undefined && { hint }),
      })
  }
}

/** Suggests a wrong secret: an application that the user named probably exists. */
function secretHint({ secret }: ClientIdentity): string {
  const ways = '--client-secret-stdin < secret.txt, or LEARNCTL_CLIENT_SECRET'
  return secret === null ? `If the application has a secret: ${ways}` : `Check its id and secret: ${ways}`
}

/** RFC 6749 §2. */
export interface ClientIdentity {
  readonly id: string
  /** Null for a public client. */
  readonly secret: string | null
}

/** Every server must support the header (RFC 6749 §2.3.1). */
export type SecretPlace = 'header' | 'form'

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

/** RFC 6749 Appendix B, but no more than necessary, for servers that forget to decode. */
function formEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}

/** Revokes the refresh token (RFC 7009), which also ends its access tokens, else the access token. */
export async function revoke(
  tokens: StoredTokens & { readonly revocationEndpoint: string },
  fetch: Fetch,
): Promise<void> {
  const { issuer, revocationEndpoint, clientId: id, clientSecret, secretPlace = 'header' } = tokens
  const { refreshToken, accessToken } = tokens
  const authentication = clientAuthentication({ id, secret: clientSecret ?? null }, secretPlace)
  const response = await revocationRequest(
    { issuer, revocation_endpoint: revocationEndpoint },
    { client_id: id },
    authentication,
    refreshToken ?? accessToken,
    {
      [customFetch]: fetch,
      // `fetch` decides whether plain http is allowed.
      [allowInsecureRequests]: true,
      additionalParameters: { token_type_hint: refreshToken === null ? 'access_token' : 'refresh_token' },
    },
  )
  if (response.ok) return
  const { host } = new URL(revocationEndpoint)
  const { refusal } = await readAnswer(revocationEndpoint, response)
  if (refusal) throw new SignInError('token_refused', `${host} says: ${refusalText(refusal)}`)
}
