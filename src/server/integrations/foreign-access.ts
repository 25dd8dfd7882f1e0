import { classroomSignIn } from '../../lms/classroom-records.ts'
import { oneRosterScopes } from '../../lms/oneroster-records.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError, unavailable } from '../problem-error.ts'
import { forgetAccess, GrantError, grantAccess, grantClientAccess } from './access-grant.ts'
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

/** Calls `ask` once more with a new token if the other system refuses the first. */
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

/** Returns the error for another system that refuses, or for an incomplete integration. */
export function refused(
  reason: 'token' | 'permission' | 'answer',
  detail: string,
  cause?: unknown,
): ProblemError {
  return new ProblemError('other_system_refused', detail, { members: { reason }, cause })
}
