import { revoke } from '../../auth/revoke.ts'
import { assertConfidential } from '../../client/base-url.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'

/** Other processes wait meanwhile, and whoever signs out offline does as well. */
const longestMs = 10_000

/**
 * Ends the session of tokens where it was begun (RFC 7009); gives null, or why it lives on there. Throws only when the
 * run is interrupted.
 */
export async function endSession(
  { session, settings, io }: Context,
  tokens: StoredTokens,
): Promise<string | null> {
  const { revocationEndpoint, issuer } = tokens
  if (revocationEndpoint === null) return `${new URL(issuer).host} does not support revocation`
  const late = AbortSignal.timeout(longestMs)
  const signal = AbortSignal.any([io.signal, late])
  try {
    if (!settings.insecureHttp.value) assertConfidential(revocationEndpoint)
    await revoke({ ...tokens, revocationEndpoint }, (url, request) =>
      session.fetch(url, { ...request, signal }),
    )
    return null
  } catch (error) {
    io.signal.throwIfAborted()
    if (late.aborted)
      return `${new URL(revocationEndpoint).host} did not respond within ${longestMs / 1000} s`
    return error instanceof Error ? error.message : String(error)
  }
}

/** Ends the session that a new credential has taken the place of; it keeps nobody from signing in. */
export async function endSessionBefore(context: Context, tokens: StoredTokens): Promise<void> {
  const reason = await endSession(context, tokens)
  if (reason !== null) await context.output.note(`The previous session could not be revoked: ${reason}`)
}
