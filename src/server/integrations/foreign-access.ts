import { classroomSignIn } from '../../lms/classroom-records.ts'
import { oneRosterScopes } from '../../lms/oneroster-records.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Call } from '../http/handler.ts'
import { type AccessToken, forgetToken, keptToken, tokenIn, tokenRequest } from '../outgoing/access-token.ts'
import { OutgoingError, type OutgoingResponse } from '../outgoing/outgoing.ts'
import { ProblemError, unavailable } from '../problem-error.ts'
import { type Integration, secretOf } from './integration.ts'

export const signInAgain = 'sign in with: learnctl integrations sign-in classroom'

export interface ForeignAccess {
  readonly baseUrl: string
  readonly token: string
  /** Another token may be accepted after this one was refused. */
  readonly isRenewable: boolean
}

type AccessCall = Pick<Call, 'sealing' | 'outgoing' | 'now'>

/**
 * Returns the base URL and a token of an integration: the stored one, or one that is granted for the user who signed in or
 * for the client.
 * Throws 409 `other_system_refused` without them, and 503 if it is worth another attempt.
 */
export async function accessOf(integration: Integration, call: AccessCall): Promise<ForeignAccess> {
  const { lmsKind, baseUrl } = integration
  if (lmsKind === 'classroom') return signedInAccess(integration, call)
  if (lmsKind === 'oneroster') return clientAccess(integration, call)
  const token = secretOf(integration, 'accessToken', call.sealing)
  if (baseUrl !== null && token !== undefined) return { baseUrl, token, isRenewable: false }
  throw refused('token', `The integration ${lmsKind} needs a base URL and an access token.`)
}

async function signedInAccess(integration: Integration, call: AccessCall): Promise<ForeignAccess> {
  const { baseUrl, tokenUrl } = integration
  try {
    const grant = await grantAccess(integration, tokenUrl ?? classroomSignIn.tokenUrl, call)
    if (grant) return { baseUrl: baseUrl ?? classroomSignIn.baseUrl, token: grant.token, isRenewable: true }
  } catch (error) {
    if (!(error instanceof GrantError)) throw error
    if (error.reason === 'busy') {
      throw unavailable(`Google Classroom grants no access now: ${error.message}.`, error.retryAfter, error)
    }
    throw refused('token', `Google Classroom: ${error.message}: ${signInAgain}`, error)
  }
  throw refused('token', `Google Classroom: no user has signed in: ${signInAgain}`)
}

async function clientAccess(integration: Integration, call: AccessCall): Promise<ForeignAccess> {
  const { baseUrl } = integration
  try {
    const grant = await grantClientAccess(integration, oneRosterScopes, call)
    if (grant && baseUrl !== null) return { baseUrl, token: grant.token, isRenewable: true }
  } catch (error) {
    if (!(error instanceof GrantError)) throw error
    const detail = `The OneRoster provider grants no access: ${error.message}.`
    throw error.reason === 'busy'
      ? unavailable(detail, error.retryAfter, error)
      : refused('token', detail, error)
  }
  throw refused(
    'token',
    'The integration oneroster needs a base URL, a token URL, a client id and a client secret.',
  )
}

export async function withAccess<Answer>(
  integration: Integration,
  call: AccessCall,
  ask: (access: ForeignAccess) => Promise<Answer>,
  isRefused: (answer: Answer) => boolean,
): Promise<Answer> {
  const access = await accessOf(integration, call)
  const answer = await ask(access)
  if (!access.isRenewable || !isRefused(answer)) return answer
  forgetAccess(integration, call)
  return ask(await accessOf(integration, call))
}

export function refused(
  reason: 'token' | 'permission' | 'answer',
  detail: string,
  cause?: unknown,
): ProblemError {
  return new ProblemError('other_system_refused', detail, { members: { reason }, cause })
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

const timeoutMs = 10_000
const maximumBytes = 64 * 1024

/** RFC 6749 §6; undefined if no user has signed in. Throws GrantError, and 503 if a secret cannot be decrypted. */
export async function grantAccess(
  integration: Integration,
  tokenUrl: string,
  call: AccessCall,
): Promise<AccessToken | undefined> {
  const { refreshToken } = integration
  if (!refreshToken) return undefined
  return keptToken(call.sealing, refreshToken.sealed, Date.parse(call.now), async () => {
    const clientSecret = secretOf(integration, 'clientSecret', call.sealing)
    const form = {
      grant_type: 'refresh_token',
      refresh_token: secretOf(integration, 'refreshToken', call.sealing) ?? '',
      client_id: integration.clientId ?? '',
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    }
    return requestToken(tokenUrl, tokenRequest(form), call)
  })
}

/**
 * RFC 6749 §4.4, by HTTP Basic; undefined without a client id, a client secret and a token URL. If the provider does not
 * know the scopes, requests those of the client. Throws as `grantAccess`.
 */
export async function grantClientAccess(
  integration: Integration,
  scopes: readonly string[],
  call: AccessCall,
): Promise<AccessToken | undefined> {
  const { clientId, clientSecret, tokenUrl } = integration
  if (clientId === null || clientSecret === null || tokenUrl === null) return undefined
  return keptToken(call.sealing, clientKeyOf(integration), Date.parse(call.now), async () => {
    const client = { id: clientId, secret: secretOf(integration, 'clientSecret', call.sealing) ?? '' }
    const ask = (form: Readonly<Record<string, string>>) =>
      requestToken(tokenUrl, tokenRequest({ ...form, grant_type: 'client_credentials' }, client), call)
    try {
      return await ask({ scope: scopes.join(' ') })
    } catch (error) {
      if (error instanceof GrantError && error.reason === 'scope') return ask({})
      throw error
    }
  })
}

export function forgetAccess(integration: Integration, { sealing }: { readonly sealing: Sealing }): void {
  if (integration.refreshToken) forgetToken(sealing, integration.refreshToken.sealed)
  forgetToken(sealing, clientKeyOf(integration))
}

function clientKeyOf({ clientSecret, clientId, tokenUrl }: Integration): string {
  return [clientSecret?.sealed, clientId, tokenUrl].join('\n')
}

async function requestToken(
  tokenUrl: string,
  request: ReturnType<typeof tokenRequest>,
  { outgoing, now }: Pick<AccessCall, 'outgoing' | 'now'>,
): Promise<AccessToken> {
  let response: OutgoingResponse
  try {
    response = await outgoing({ ...request, method: 'POST', url: tokenUrl, timeoutMs, maximumBytes })
  } catch (error) {
    if (error instanceof OutgoingError) throw new GrantError('busy', error.message, { cause: error })
    throw error
  }
  const { status, headers, body } = response
  const { host } = new URL(tokenUrl)
  if (status === 429 || status >= 500) {
    const seconds = Number(/^\d{1,5}$/.exec(String(headers['retry-after'] ?? ''))?.[0] ?? 5)
    throw new GrantError('busy', `${host} is unavailable (HTTP ${status})`, {
      retryAfter: Math.max(1, seconds),
    })
  }
  const found = tokenIn(status, body.toString(), Date.parse(now))
  if (found !== null && typeof found !== 'string') return found
  if (found === 'invalid_grant') throw new GrantError('ended', 'the sign-in has expired or was revoked')
  if (found === 'invalid_client' || found === 'unauthorized_client' || (found !== null && status === 401)) {
    throw new GrantError('client', 'the client id or the client secret is wrong')
  }
  if (found === 'invalid_scope') throw new GrantError('scope', 'the client has none of the scopes')
  throw new GrantError('answer', `${host} did not answer with a token (HTTP ${status})`)
}
