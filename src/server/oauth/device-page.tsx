import sql from 'sql-template-tag'
import { oauthPaths } from '../../contract/oauth.ts'
import { readAttempts, storeAttempts } from '../access/attempts.ts'
import { digest } from '../access/secret.ts'
import type { Database } from '../database/database.ts'
import type { Reply } from '../http/reply.ts'
import { type WebRoute, withTransaction } from '../http/web-route.ts'
import {
  type EndedSession,
  endSession,
  formOf,
  principalOf,
  recordEnd,
  type SignedInVisit,
  stillSignedIn,
  type Visitor,
  writingOf,
} from '../pages/browser-session.ts'
import { hereOf, page, pageRoute, seeOther } from '../pages/page.tsx'
import { signIn, signInPage } from '../pages/sign-in.tsx'
import { ProblemError, tooMany } from '../problem-error.ts'
import { deviceConsentPage, recordAllowance } from './consent.tsx'
import { decideDevice, findWaitingDevice, formatUserCode } from './device-code.ts'
import { OAuthError } from './oauth-error.ts'
import { grantableScopesOf } from './parameters.ts'

const reason = { why: 'A device is asking to act on your behalf. Sign in to continue.' }

const endings = {
  allowed: { title: 'Device connected', text: 'The device continues automatically within a few seconds.' },
  denied: { title: 'Device denied', text: 'The device gets no access.' },
} as const

/** The user enters the code of a device, and decides (RFC 8628 §3.3). */
export const deviceRoutes: readonly WebRoute[] = [
  pageRoute({
    method: 'GET',
    path: oauthPaths.device,
    handle(visit, visitor) {
      if (!visitor.user) return signInPage(visitor, reason)
      const done = visit.query.get('done') ?? ''
      if (Object.hasOwn(endings, done)) return endPage(visitor, done as keyof typeof endings)
      // A link may contain the code; the user must compare it with the device (RFC 8628 §5.4).
      return codePage(visitor, formatUserCode(visit.query.get('user_code') ?? ''))
    },
  }),
  pageRoute({
    method: 'POST',
    path: oauthPaths.device,
    async handle(visit, visitor) {
      const form = await formOf(visit, visitor)
      if (form.get('action') === 'sign_in') return signIn(visit, visitor, form, reason)
      if (!visitor.user) return signInPage(visitor, reason)
      return answerForm({ ...visit, visitor, user: visitor.user }, form)
    },
  }),
]

async function answerForm(signedIn: SignedInVisit, form: URLSearchParams): Promise<Reply> {
  const { visitor, academy } = signedIn
  const userCode = formatUserCode(form.get('user_code') ?? '')
  try {
    switch (form.get('action')) {
      case 'other_account': {
        const headers = await academy.database.write((transaction) =>
          endSession(withTransaction(signedIn, transaction), visitor),
        )
        return seeOther(hereOf(signedIn), headers)
      }
      case 'allow':
        return await decide(signedIn, userCode, form.get('shown')?.split(' ') ?? [])
      case 'deny':
        return await decide(signedIn, userCode, null)
      default:
        return await showConsent(signedIn, userCode)
    }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return codePage(visitor, userCode, new ProblemError('forbidden', error.message))
  }
}

async function showConsent(signedIn: SignedInVisit, userCode: string): Promise<Reply> {
  await requireTriesLeft(signedIn)
  const device = await findWaitingDevice(signedIn.database, signedIn.request.now, userCode)
  return device ? deviceConsentPage(signedIn, device, userCode) : showWrongCode(signedIn)
}

/** In one transaction, so that only one decision counts. */
async function decide(
  signedIn: SignedInVisit,
  userCode: string,
  shown: readonly string[] | null,
): Promise<Reply> {
  const { academy, request, visitor } = signedIn
  const { database } = academy
  await requireTriesLeft(signedIn)
  const isDecided = await database.write(async (transaction) => {
    const inside = withTransaction(signedIn, transaction)
    const user = await stillSignedIn(inside, visitor)
    const device = await findWaitingDevice(transaction, request.now, userCode)
    if (!device) return false
    const allowed = device.scopes.filter((scope) => shown?.includes(scope))
    const scopes = shown && grantableScopesOf(allowed, user.role)
    const call = { database: transaction, now: request.now }
    const hasDecided = await decideDevice(call, userCode, user.id, scopes)
    if (hasDecided && scopes) await recordAllowance(inside, user, device.client, scopes)
    return hasDecided
  })
  if (!isDecided) return showWrongCode(signedIn)
  return seeOther(`${signedIn.base}${oauthPaths.device}?done=${shown ? 'allowed' : 'denied'}`)
}

async function showWrongCode(signedIn: SignedInVisit): Promise<Reply> {
  const { fault, signedOut } = await countWrongCode(signedIn)
  return signedOut
    ? signInPage(signedIn.visitor, { ...reason, fault })
    : codePage(signedIn.visitor, '', fault)
}

function codePage(visitor: Visitor, userCode: string, fault?: ProblemError): Reply {
  return page(
    {
      title: fault ? 'Error: connect a device' : 'Connect a device',
      narrow: true,
      headers: visitor.headers,
      fault,
    },
    <form method="post" class="card">
      <h1>Connect a device</h1>
      {fault ? (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      ) : null}
      <input type="hidden" name="csrf" value={visitor.csrf} />
      <label for="user_code">Code shown on the device</label>
      <input
        id="user_code"
        name="user_code"
        class="user-code"
        value={userCode}
        placeholder="XXXX-XXXX"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxlength={20}
        required
      />
      <div class="actions">
        <button type="submit" name="action" value="continue">
          Continue
        </button>
        <button type="submit" name="action" value="other_account" class="quiet" formnovalidate>
          Use another account
        </button>
      </div>
    </form>,
  )
}

function endPage(visitor: Visitor, end: keyof typeof endings): Reply {
  const { title, text } = endings[end]
  return page(
    { title, narrow: true, headers: visitor.headers },
    <div class="card" role="status">
      <h1>{title}</h1>
      <p>{text} You can close this page.</p>
    </div>,
  )
}

const maxWrongCodesPerSession = 5
const maxWrongCodesPerMinute = 20
const minuteMs = 60_000
/** Part of a minute that each wrong code uses up. */
const codeMs = minuteMs / maxWrongCodesPerMinute

/** Throws 429 after too many wrong codes, at any server on the database. */
async function requireTriesLeft(signedIn: SignedInVisit): Promise<void> {
  const nowMs = signedIn.request.now.getTime()
  const { nextMs } = await wrongCodesOf(signedIn.database, signedIn)
  const waitMs = nextMs - nowMs - (minuteMs - codeMs)
  if (waitMs > 0) throw tooMany('wrong codes', Math.ceil(waitMs / 1000))
}

/**
 * Counts a wrong code. The fifth ends the browser session (RFC 8628 §5.1), so that guessing is limited to the
 * rate of password attempts.
 */
async function countWrongCode(signedIn: SignedInVisit): Promise<{ fault: ProblemError; signedOut: boolean }> {
  const hash = digest(signedIn.visitor.token)
  const left = await signedIn.academy.database.write(async (transaction) => {
    const { place, failures, nextMs } = await wrongCodesOf(transaction, signedIn)
    const fromMs = Math.max(nextMs, signedIn.request.now.getTime())
    await storeAttempts(transaction, { place, failures: failures + 1, nextMs: fromMs + codeMs })
    await transaction.run(sql`update browser_sessions set wrong_codes = wrong_codes + 1 where hash = ${hash}`)
    const ended = await transaction.all<EndedSession>(sql`
      delete from browser_sessions where hash = ${hash} and wrong_codes >= ${maxWrongCodesPerSession}
      returning id, user_id`)
    const call = writingOf(withTransaction(signedIn, transaction), principalOf(signedIn.user))
    for (const one of ended) await recordEnd(call, one)
    return transaction.one(sql`select 1 from browser_sessions where hash = ${hash}`)
  })
  if (left) {
    const detail =
      'No device is waiting for this code. Check it and try again; codes expire after ten minutes.'
    return { fault: new ProblemError('forbidden', detail), signedOut: false }
  }
  const detail = `${maxWrongCodesPerSession} wrong codes. You have been signed out.`
  return { fault: new ProblemError('forbidden', detail), signedOut: true }
}

/** Each advances `nextMs`, up to a minute from now. */
function wrongCodesOf(database: Database, { user, request }: SignedInVisit) {
  return readAttempts(database, `user code ${user.id}`, request.now.getTime())
}
