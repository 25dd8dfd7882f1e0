import { revoke } from '../../auth/oauth-exchange.ts'
import { assertConfidential } from '../../client/request.ts'
import type { StoredTokens } from '../../config/profiles.ts'
import type { Context } from '../command/context.ts'

/** Maximum timeout: other processes wait, and signing out must work offline. */
const maxTimeoutMs = 10_000

/** RFC 7009. Returns null, or why that failed. Throws only if the run is interrupted. */
export async function endSession(
  { session, settings, io }: Context,
  tokens: StoredTokens,
): Promise<string | null> {
  const { revocationEndpoint, issuer } = tokens
  if (revocationEndpoint === null) return `${new URL(issuer).host} does not support revocation`
  const late = AbortSignal.timeout(maxTimeoutMs)
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
      return `${new URL(revocationEndpoint).host} did not respond within ${maxTimeoutMs / 1000} s`
    return error instanceof Error ? error.message : String(error)
  }
}

/** Revokes the tokens that a new credential replaces. Only notes a failure. */
export async function endPreviousSession(context: Context, tokens: StoredTokens): Promise<void> {
  const reason = await endSession(context, tokens)
  if (reason !== null) await context.output.note(`The previous session could not be revoked: ${reason}`)
}
