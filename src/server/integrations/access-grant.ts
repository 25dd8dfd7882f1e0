import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Call } from '../http/handler.ts'
import { OutgoingError, type OutgoingResponse } from '../outgoing/outgoing.ts'
import { type Integration, secretOf } from './integration.ts'

/** Granted for a refresh token (RFC 6749 §6). */
export interface AccessGrant {
  readonly token: string
  /** Null if the system does not say. */
  readonly scopes: readonly string[] | null
}

/** The message is a clause without a secret. */
export class GrantError extends Error {
  override readonly name = 'GrantError'
  /** `ended`: a user has to sign in again; `client`: the client is unknown; `scope`: the scopes are unknown; `busy`: another attempt may work. */
  readonly reason: 'ended' | 'client' | 'scope' | 'busy' | 'answer'
  /** Seconds; for a busy system. */
  readonly retryAfter: number

  constructor(
    reason: GrantError['reason'],
    message: string,
    options: ErrorOptions & { retryAfter?: number } = {},
  ) {
    super(message, options)
    this.reason = reason
    this.retryAfter = options.retryAfter ?? 5
  }
}

type GrantCall = Pick<Call, 'sealing' | 'outgoing' | 'now'>

const timeoutMs = 10_000
const maximumBytes = 64 * 1024
/** If the response does not say it. */
const assumedSeconds = 300
/** Time before its end at which a token is replaced. */
const marginMs = 60_000

interface Cached {
  readonly grant: Promise<AccessGrant & { readonly endsAtMs: number }>
}

/** Maximum number of tokens in memory: an academy has an integration for each kind of system. */
const maxGrants = 20

/** By academy and the sealed secrets that they are granted for. */
const grantsByAcademy = new WeakMap<Sealing, Map<string, Cached>>()

/**
 * Returns an access token for the user who signed in; undefined if none has. Tokens stay in memory until a minute
 * before they end. Throws GrantError, and 503 if a secret cannot be decrypted.
 */
export async function grantAccess(
  integration: Integration,
  tokenUrl: string,
  call: GrantCall,
): Promise<AccessGrant | undefined> {
  const { refreshToken } = integration
  if (!refreshToken) return undefined
  const grants = grantsOf(call.sealing)
  const nowMs = Date.parse(call.now)
  const cached = await grants.get(refreshToken.sealed)?.grant.catch(() => undefined)
  if (cached && cached.endsAtMs - marginMs > nowMs) return cached
  const grant = requestGrant(integration, tokenUrl, call)
  if (grants.size >= maxGrants) grants.clear()
  grants.set(refreshToken.sealed, { grant })
  grant.catch(() => grants.delete(refreshToken.sealed))
  return grant
}

/**
 * Returns an access token for the client itself (RFC 6749 §4.4), by HTTP Basic; undefined without a client id, a client
 * secret and a token URL. If the provider does not know the scopes, requests the scopes of the client. Throws as `grantAccess`.
 */
export async function grantClientAccess(
  integration: Integration,
  scopes: readonly string[],
  call: GrantCall,
): Promise<AccessGrant | undefined> {
  const { clientId, clientSecret, tokenUrl } = integration
  if (clientId === null || clientSecret === null || tokenUrl === null) return undefined
  const grants = grantsOf(call.sealing)
  const key = [clientSecret.sealed, clientId, tokenUrl].join('\n')
  const cached = await grants.get(key)?.grant.catch(() => undefined)
  if (cached && cached.endsAtMs - marginMs > Date.parse(call.now)) return cached
  const grant = requestClientGrant(integration, tokenUrl, scopes, call)
  if (grants.size >= maxGrants) grants.clear()
  grants.set(key, { grant })
  grant.catch(() => grants.delete(key))
  return grant
}

async function requestClientGrant(
  integration: Integration,
  tokenUrl: string,
  scopes: readonly string[],
  call: GrantCall,
): Promise<AccessGrant & { readonly endsAtMs: number }> {
  const secret = secretOf(integration, 'clientSecret', call.sealing) ?? ''
  // RFC 6749 §2.3.1
  const pair = [integration.clientId ?? '', secret].map(encodeURIComponent).join(':')
  const headers = { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
  const ask = (form: Readonly<Record<string, string>>) =>
    requestToken(tokenUrl, { ...form, grant_type: 'client_credentials' }, headers, call)
  try {
    return await ask({ scope: scopes.join(' ') })
  } catch (error) {
    if (error instanceof GrantError && error.reason === 'scope') return ask({})
    throw error
  }
}

export function forgetAccess(
  { refreshToken, clientSecret, clientId, tokenUrl }: Integration,
  { sealing }: Pick<Call, 'sealing'>,
): void {
  if (refreshToken) grantsOf(sealing).delete(refreshToken.sealed)
  if (clientSecret) grantsOf(sealing).delete([clientSecret.sealed, clientId, tokenUrl].join('\n'))
}

function grantsOf(sealing: Sealing): Map<string, Cached> {
  const known = grantsByAcademy.get(sealing) ?? new Map<string, Cached>()
  grantsByAcademy.set(sealing, known)
  return known
}

async function requestGrant(
  integration: Integration,
  tokenUrl: string,
  { sealing, outgoing, now }: GrantCall,
): Promise<AccessGrant & { readonly endsAtMs: number }> {
  const clientSecret = secretOf(integration, 'clientSecret', sealing)
  const form = {
    grant_type: 'refresh_token',
    refresh_token: secretOf(integration, 'refreshToken', sealing) ?? '',
    client_id: integration.clientId ?? '',
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  }
  return requestToken(tokenUrl, form, {}, { outgoing, now })
}

async function requestToken(
  tokenUrl: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  { outgoing, now }: Pick<GrantCall, 'outgoing' | 'now'>,
): Promise<AccessGrant & { readonly endsAtMs: number }> {
  let response: OutgoingResponse
  try {
    response = await outgoing({
      method: 'POST',
      url: tokenUrl,
      headers: {
        ...{ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        ...headers,
      },
      body: String(new URLSearchParams(form)),
      timeoutMs,
      maximumBytes,
    })
  } catch (error) {
    if (error instanceof OutgoingError) throw new GrantError('busy', error.message, { cause: error })
    throw error
  }
  return { ...grantIn(response, new URL(tokenUrl).host, Date.parse(now)) }
}

function grantIn(
  { status, headers, body }: OutgoingResponse,
  host: string,
  nowMs: number,
): AccessGrant & { readonly endsAtMs: number } {
  if (status === 429 || status >= 500) {
    const seconds = Number(/^\d{1,5}$/.exec(String(headers['retry-after'] ?? ''))?.[0] ?? 5)
    throw new GrantError('busy', `${host} is unavailable (HTTP ${status})`, {
      retryAfter: Math.max(1, seconds),
    })
  }
  const answer = parseJsonOrNull(body.toString())
  if (!isJsonObject(answer))
    throw new GrantError('answer', `${host} did not answer with a token (HTTP ${status})`)
  const { error, access_token: token, expires_in: seconds, scope } = answer
  if (error === 'invalid_grant') throw new GrantError('ended', 'the sign-in has expired or was revoked')
  if (error === 'invalid_client' || error === 'unauthorized_client' || status === 401) {
    throw new GrantError('client', 'the client id or the client secret is wrong')
  }
  if (error === 'invalid_scope') throw new GrantError('scope', 'the client has none of the scopes')
  if (status !== 200 || typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) {
    throw new GrantError('answer', `${host} did not answer with a token (HTTP ${status})`)
  }
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds : assumedSeconds
  return {
    token,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : null,
    endsAtMs: nowMs + lifetime * 1000,
  }
}
