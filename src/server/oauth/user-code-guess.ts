import sql from 'sql-template-tag'
import { digest } from '../access/secret.ts'
import type { SignedInEndpointRequest } from '../pages/browser-session.ts'
import { ProblemError, tooMany } from '../problem/problem-error.ts'

const wrongCodesPerSession = 5

/** Throws 429 where the user has guessed too often. */
export function requireTriesLeft({ limits, user }: SignedInEndpointRequest): void {
  const { allowed, resetSeconds } = limits.userCodes.peek(user.id)
  if (!allowed) throw tooMany('wrong codes', resetSeconds)
}

/**
 * Counts a code that no device shows; the fifth ends the session of the browser (RFC 8628 §5.1), so that whoever
 * guesses is held to the rate at which a password can be tried.
 */
export async function countWrongCode({
  academy,
  limits,
  user,
  visitor,
}: SignedInEndpointRequest): Promise<{ fault: ProblemError; signedOut: boolean }> {
  const hash = digest(visitor.token)
  limits.userCodes.take(user.id)
  const left = await academy.database.write(async (transaction) => {
    await transaction.run(sql`update browser_sessions set wrong_codes = wrong_codes + 1 where hash = ${hash}`)
    await transaction.run(
      sql`delete from browser_sessions where hash = ${hash} and wrong_codes >= ${wrongCodesPerSession}`,
    )
    return transaction.one(sql`select 1 from browser_sessions where hash = ${hash}`)
  })
  if (left) {
    const detail =
      'No device is waiting for this code. Check it and try again; codes expire after ten minutes.'
    return { fault: new ProblemError('forbidden', detail), signedOut: false }
  }
  const detail = `${wrongCodesPerSession} wrong codes. You have been signed out.`
  return { fault: new ProblemError('forbidden', detail), signedOut: true }
}
