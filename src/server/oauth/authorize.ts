import { oauthPaths } from '../../contract/oauth.ts'
import type { Reply } from '../http/reply.ts'
import { type Visit, type WebRoute, withTransaction } from '../http/web-route.ts'
import { endSession, formOf, type SignedIn, stillSignedIn, type Visitor } from '../pages/browser-session.ts'
import { hereOf, pageRoute, seeOther } from '../pages/page.tsx'
import { type SignInReason, signIn, signInPage } from '../pages/sign-in.tsx'
import { ProblemError } from '../problem-error.ts'
import {
  type AuthorizationRequest,
  answerClient,
  authorizationRequestOf,
  formTargetOf,
  newCode,
  type Recipient,
  recipientOf,
} from './authorization-code.ts'
import { codeConsentPage, recordAllowance } from './consent.tsx'
import { grantableScopesOf, OAuthError } from './oauth-client.ts'

/** RFC 6749 §3.1. The request stays in the query, which each form submits again. */
export const authorizationRoutes: readonly WebRoute[] = [
  pageRoute({
    method: 'GET',
    path: oauthPaths.authorize,
    handle: (visit, visitor) =>
      answerRequest(visit, (recipient, request) => {
        if (request.prompts.includes('none')) throw interactionRequired(visitor)
        const user = userOf(visitor, request)
        if (!user) return signInPage(visitor, reasonOf(visit, recipient))
        return codeConsentPage({ ...visit, visitor, user }, recipient, request.scopes)
      }),
  }),
  pageRoute({
    method: 'POST',
    path: oauthPaths.authorize,
    async handle(visit, visitor) {
      const form = await formOf(visit, visitor)
      return answerRequest(visit, async (recipient, request) => {
        const action = form.get('action')
        const reason = reasonOf(visit, recipient)
        if (action === 'sign_in') return signIn(visit, visitor, form, reason)
        if (!userOf(visitor, request)) return signInPage(visitor, reason)
        if (action === 'other_account') {
          const headers = await visit.academy.database.write((transaction) =>
            endSession(withTransaction(visit, transaction), visitor),
          )
          return seeOther(hereOf(visit), headers)
        }
        if (action === 'deny') throw new OAuthError('access_denied', 'The user denied the request.')
        if (action !== 'allow')
          throw new ProblemError(
            'invalid_parameter',
            'The form is incomplete; reload the page and submit again.',
          )
        return allow(visit, visitor, recipient, request, form.get('shown')?.split(' ') ?? [])
      })
    },
  }),
]

/** Sends an error to the client, if the redirect URI is valid. */
async function answerRequest(
  visit: Visit,
  work: (recipient: Recipient, request: AuthorizationRequest) => Reply | Promise<Reply>,
): Promise<Reply> {
  const recipient = await recipientOf(visit)
  try {
    return await work(recipient, authorizationRequestOf(visit, recipient))
  } catch (error) {
    if (error instanceof OAuthError) return answerClient(visit, recipient, error)
    throw error
  }
}

/** Null if the client requires a new sign-in. */
function userOf({ user }: Visitor, { prompts }: AuthorizationRequest): SignedIn | null {
  return prompts.includes('login') ? null : user
}

/**
 * Returns the error for a request without pages: every request needs consent (OpenID Connect Core §3.1.2.6).
 */
function interactionRequired({ user }: Visitor): OAuthError {
  return user
    ? new OAuthError('consent_required', 'The user must be asked for consent.')
    : new OAuthError('login_required', 'The user must sign in.')
}

function reasonOf({ base, request, query }: Visit, { client, redirectUri }: Recipient): SignInReason {
  const next = new URLSearchParams(query)
  next.delete('prompt')
  return {
    next: `${base}${request.path}?${next}`,
    why: `${client.name} is asking to act on your behalf. Sign in to continue.`,
    // After signing in, the browser may be redirected at once, if the account cannot grant the scopes.
    formTarget: formTargetOf(redirectUri),
  }
}

/** Grants what the page showed, even if the role has gained scopes since. */
async function allow(
  visit: Visit,
  visitor: Visitor,
  recipient: Recipient,
  { scopes, codeChallenge }: AuthorizationRequest,
  shown: readonly string[],
): Promise<Reply> {
  const { client, redirectUri } = recipient
  const code = await visit.academy.database.write(async (transaction) => {
    const inside = withTransaction(visit, transaction)
    const user = await stillSignedIn(inside, visitor)
    const { id: userId, role } = user
    const given = grantableScopesOf(
      scopes.filter((scope) => shown.includes(scope)),
      role,
    )
    await recordAllowance(inside, user, client, given)
    const allowed = { clientId: client.id, userId, redirectUri, scopes: given, codeChallenge }
    return newCode(transaction, visit.request.now, allowed)
  })
  return answerClient(visit, recipient, { code })
}
