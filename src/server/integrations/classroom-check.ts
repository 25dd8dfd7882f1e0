import { classroomSignIn, missingScopes } from '../../lms/classroom.ts'
import type { Call } from '../http/handler.ts'
import type { AccessToken } from '../outgoing/access-token.ts'
import { forgetAccess, GrantError, grantAccess } from './access-grant.ts'
import type { Integration } from './integration.ts'

export const signInAgain = 'sign in with: learnctl integrations sign-in classroom'

/** A token, or why there is none, as a clause. */
export type Access =
  | { readonly grant: AccessToken; readonly trouble: null }
  | { readonly grant: null; readonly trouble: string; readonly isSignedIn: boolean }

/** Throws 503 if a secret cannot be decrypted. */
export async function checkSignIn(
  integration: Integration,
  call: Pick<Call, 'sealing' | 'outgoing' | 'now'>,
): Promise<Access> {
  // A check asks Google again whether the sign-in is still valid.
  forgetAccess(integration, call)
  try {
    const grant = await grantAccess(integration, integration.tokenUrl ?? classroomSignIn.tokenUrl, call)
    if (grant) return { grant, trouble: null }
    return { grant: null, trouble: `no user has signed in: ${signInAgain}`, isSignedIn: false }
  } catch (error) {
    if (!(error instanceof GrantError)) throw error
    const again = error.reason === 'ended' || error.reason === 'client' ? `: ${signInAgain}` : ''
    return { grant: null, trouble: error.message + again, isSignedIn: true }
  }
}

/** A clause, and whether the scopes allow to read everything. */
export function describeScopes({ scopes }: AccessToken): {
  readonly isEnough: boolean
  readonly detail: string
} {
  if (scopes === null) return { isEnough: true, detail: 'Google does not say which scopes are granted' }
  const toRead = missingScopes(scopes, classroomSignIn.readScopes)
  if (toRead.length > 0) {
    const noun = toRead.length === 1 ? 'scope' : 'scopes'
    return { isEnough: false, detail: `missing ${noun} ${toRead.join(', ')}: ${signInAgain}, and allow all` }
  }
  const toWrite = missingScopes(scopes, classroomSignIn.scopes)
  return {
    isEnough: true,
    detail:
      toWrite.length === 0
        ? 'all scopes are granted'
        : `can only read: writing requires ${toWrite.join(', ')}`,
  }
}
