import sql from 'sql-template-tag'
import { keep, keptAs } from '../access/kept-attempts.ts'
import { digest } from '../access/secret.ts'
import type { Database } from '../database/database.ts'
import { within } from '../http/endpoint.ts'
import { principalOf, type SignedInEndpointRequest, writingOf } from '../pages/browser-session.ts'
import { type EndedSession, recordEnd } from '../pages/session-list.ts'
import { ProblemError, tooMany } from '../problem/problem-error.ts'

const wrongCodesPerSession = 5
const wrongCodesPerMinute = 20
const minuteMs = 60_000
/** What one wrong code takes of the minute that is left for them. */
const codeMs = minuteMs / wrongCodesPerMinute

/** Throws 429 where the user has guessed too often, at whichever server on the database. */
export async function requireTriesLeft(signedIn: SignedInEndpointRequest): Promise<void> {
  const nowMs = signedIn.request.now.getTime()
  const { nextMs } = await wrongCodesOf(signedIn.database, signedIn)
  const waitMs = nextMs - nowMs - (minuteMs - codeMs)
  if (waitMs > 0) throw tooMany('wrong codes', Math.ceil(waitMs / 1000))
}

/**
 * Counts a code that no device shows; the fifth ends the session of the browser (RFC 8628 §5.1), so that whoever
 * guesses is held to the rate at which a password can be tried.
 */
export async function countWrongCode(
  signedIn: SignedInEndpointRequest,
): Promise<{ fault: ProblemError; signedOut: boolean }> {
  const hash = digest(signedIn.visitor.token)
  const left = await signedIn.academy.database.write(async (transaction) => {
    const { place, failures, nextMs } = await wrongCodesOf(transaction, signedIn)
    const fromMs = Math.max(nextMs, signedIn.request.now.getTime())
    await keep(transaction, { place, failures: failures + 1, nextMs: fromMs + codeMs })
    await transaction.run(sql`update browser_sessions set wrong_codes = wrong_codes + 1 where hash = ${hash}`)
    const ended = await transaction.all<EndedSession>(sql`
      delete from browser_sessions where hash = ${hash} and wrong_codes >= ${wrongCodesPerSession}
      returning id, user_id`)
    const call = writingOf(within(signedIn, transaction), principalOf(signedIn.user))
    for (const one of ended) await recordEnd(call, one)
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

/** The user's wrong codes; each moves what is kept as `nextMs` on, which may be up to a minute from now. */
function wrongCodesOf(database: Database, { user, request }: SignedInEndpointRequest) {
  return keptAs(database, `user code ${user.id}`, request.now.getTime())
}
