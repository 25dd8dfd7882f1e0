import { revoke } from '../auth/revoke.ts'
import type { StoredCredential, StoredTokens } from '../config/profiles.ts'
import { isCredential } from '../contract/credential-text.ts'
import type { Context } from './context.ts'
import type { SignedIn, SignInPlan } from './oauth-sign-in.ts'
import { announce } from './sign-in-place.ts'

/** Tells that it worked, and what differs from what was asked for; then ends the session that was there before. */
export async function tellSignedIn(
  context: Context,
  { place, client }: SignInPlan,
  { account, tokens, replaced }: SignedIn,
): Promise<void> {
  const { output } = context
  await announce(context, place, account)
  const missing = client.scopes.filter((scope) => !tokens.scopes.includes(scope))
  if (missing.length > 0) {
    await output.note(`granted: ${tokens.scopes.join(' ') || 'nothing'}; not granted: ${missing.join(' ')}`)
  }
  if (tokens.expiresAt === null) await output.note('the platform does not say how long this lasts')
  else if (tokens.refreshToken === null) {
    await output.note(`it cannot be renewed; it lasts until ${tokens.expiresAt}`)
  }
  await endReplaced(context, tokens, replaced)
}

/**
 * Revokes the tokens that were replaced, as far as that is sure to leave the new ones alone: an academy makes a grant
 * for each sign-in, elsewhere several may share one session, which would end as a whole.
 */
async function endReplaced(
  { session, output }: Context,
  tokens: StoredTokens,
  replaced: StoredCredential | undefined,
): Promise<void> {
  if (replaced?.kind !== 'oauth' || replaced.issuer !== tokens.issuer) return
  const { revocationEndpoint, refreshToken } = replaced
  if (revocationEndpoint === null || refreshToken === null || !isCredential('refreshToken', refreshToken))
    return
  try {
    await revoke({ ...replaced, revocationEndpoint }, session.fetch)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    await output.note(`the session before this one could not be ended: ${reason}`)
  }
}
