import { isJsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Call } from '../http/handler.ts'
import { OutgoingError, type OutgoingResponse } from '../outgoing/outgoing.ts'
import { type Integration, secretOf } from './integration.ts'

/** An access token of another system that was granted for a refresh token (RFC 6749 §6). */
export interface AccessGrant {
  readonly token: string
  /** Granted scopes; null if the system does not say. */
  readonly scopes: readonly string[] | null
}

/** A refused or failed grant. The message is a clause without a secret. */
export class GrantError extends Error {
  override readonly name = 'GrantError'
  /** `ended`: a user has to sign in again; `client`: the client is unknown; `busy`: another attempt may work. */
  readonly reason: 'ended' | 'client' | 'busy' | 'answer'
  /** Seconds to wait if the system is busy. */
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
/** Lifetime of an access token whose response does not say it. */
const assumedSeconds = 300
/** Time before its end at which a token is replaced. */
const marginMs = 60_000

interface Cached {
  readonly grant: Promise<AccessGrant & { readonly endsAtMs: number }>
}

/** Access tokens in memory, by academy and sealed refresh token. */
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
  // An integration has one user: the token before is of no use.
  grants.clear()
  grants.set(refreshToken.sealed, { grant })
  grant.catch(() => grants.delete(refreshToken.sealed))
  return grant
}

/** Forgets the access token of an integration, which the other system has refused. */
export function forgetAccess({ refreshToken }: Integration, { sealing }: Pick<Call, 'sealing'>): void {
  if (refreshToken) grantsOf(sealing).delete(refreshToken.sealed)
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
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: secretOf(integration, 'refreshToken', sealing) ?? '',
    client_id: integration.clientId ?? '',
  })
  const clientSecret = secretOf(integration, 'clientSecret', sealing)
  if (clientSecret !== undefined) form.set('client_secret', clientSecret)
  let response: OutgoingResponse
  try {
    response = await outgoing({
      method: 'POST',
      url: tokenUrl,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
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
  if (error === 'invalid_client' || error === 'unauthorized_client') {
    throw new GrantError('client', 'the client id or the client secret is wrong')
  }
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
