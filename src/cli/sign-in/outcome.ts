import { commonScopes } from '../../auth/default-scopes.ts'
import { isCredential } from '../../codec/credential-text.ts'
import type { StoredCredential, StoredTokens } from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'
import type { SignedIn, SignInPlan } from './by-oauth.ts'
import { endSessionBefore } from './end-session.ts'
import { announce } from './place.ts'

/** Tells that it worked, and what differs from what was asked for; then ends the session that was there before. */
export async function tellSignedIn(
  context: Context,
  { place, client }: SignInPlan,
  { account, tokens, replaced }: SignedIn,
): Promise<void> {
  const { output } = context
  await announce(context, place, account)
  // What nobody asked for, nobody misses.
  const missing = (client.scopes ?? commonScopes).filter((scope) => !tokens.scopes.includes(scope))
  if (missing.length > 0) {
    await output.note(
      `Granted scopes: ${tokens.scopes.join(' ') || 'none'}; not granted: ${missing.join(' ')}`,
    )
  }
  if (tokens.expiresAt === null) await output.note('The platform does not say when the access token expires')
  else if (tokens.refreshToken === null) {
    await output.note(`The access token cannot be refreshed; it expires at ${tokens.expiresAt}`)
  }
  await endReplaced(context, tokens, replaced)
}

/**
 * Revokes the tokens that were replaced, as far as that is sure to leave the new ones alone: an academy makes a grant
 * for each sign-in, elsewhere several with one issuer may share one session, which would end as a whole.
 */
async function endReplaced(
  context: Context,
  { issuer }: StoredTokens,
  replaced: StoredCredential | undefined,
): Promise<void> {
  if (replaced?.kind !== 'oauth') return
  const { refreshToken } = replaced
  const own = refreshToken !== null && isCredential('refreshToken', refreshToken)
  if (replaced.issuer === issuer && !own) return
  await endSessionBefore(context, replaced)
}
