import { oauthPaths } from '../../contract/oauth.ts'
import { type Endpoint, within } from '../http/endpoint.ts'
import type { Reply } from '../http/reply.ts'
import {
  endSession,
  formOf,
  type SignedInEndpointRequest,
  stillSignedIn,
  type Visitor,
} from '../pages/browser-session.ts'
import { hereOf, page, seeOther } from '../pages/page.tsx'
import { pageEndpoint } from '../pages/page-endpoint.ts'
import { signIn, signInPage } from '../pages/sign-in.tsx'
import { ProblemError } from '../problem/problem-error.ts'
import { recordAllowance } from './allowance.ts'
import { deviceConsentPage } from './consent.tsx'
import { decideDevice, shownUserCode, waitingDevice } from './device-code.ts'
import { OAuthError } from './oauth-error.ts'
import { givableScopes } from './scope-text.ts'
import { countWrongCode, requireTriesLeft } from './user-code-guess.ts'

const reason = { why: 'A device is asking to act on your behalf. Sign in to continue.' }

/** What a person is told once they have answered. */
const ends = {
  allowed: { title: 'Device connected', text: 'The device continues automatically within a few seconds.' },
  denied: { title: 'Device denied', text: 'The device gets no access.' },
} as const

/** Where a person types in the code that a device shows, and answers it (RFC 8628 §3.3). */
export const deviceEndpoints: readonly Endpoint[] = [
  pageEndpoint({
    method: 'GET',
    path: oauthPaths.device,
    handle(visit, visitor) {
      if (!visitor.user) return signInPage(visitor, reason)
      const done = visit.query.get('done') ?? ''
      if (Object.hasOwn(ends, done)) return endPage(visitor, done as keyof typeof ends)
      // A link may fill in the code; that it is the one on the device is for the person to say (RFC 8628 §5.4).
      return codePage(visitor, shownUserCode(visit.query.get('user_code') ?? ''))
    },
  }),
  pageEndpoint({
    method: 'POST',
    path: oauthPaths.device,
    async handle(visit, visitor) {
      const form = await formOf(visit, visitor)
      if (form.get('action') === 'sign_in') return signIn(visit, visitor, form, reason)
      if (!visitor.user) return signInPage(visitor, reason)
      return answered({ ...visit, visitor, user: visitor.user }, form)
    },
  }),
]

async function answered(signedIn: SignedInEndpointRequest, form: URLSearchParams): Promise<Reply> {
  const { visitor, academy } = signedIn
  const userCode = shownUserCode(form.get('user_code') ?? '')
  try {
    switch (form.get('action')) {
      case 'other_account': {
        const headers = await academy.database.write((transaction) =>
          endSession(within(signedIn, transaction), visitor),
        )
        return seeOther(hereOf(signedIn), headers)
      }
      case 'allow':
        return await decide(signedIn, userCode, form.get('shown')?.split(' ') ?? [])
      case 'deny':
        return await decide(signedIn, userCode, null)
      default:
        return await ask(signedIn, userCode)
    }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return codePage(visitor, userCode, new ProblemError('forbidden', error.message))
  }
}

async function ask(signedIn: SignedInEndpointRequest, userCode: string): Promise<Reply> {
  await requireTriesLeft(signedIn)
  const device = await waitingDevice(signedIn.database, signedIn.request.now, userCode)
  return device ? deviceConsentPage(signedIn, device, userCode) : wrong(signedIn)
}

/** Allows what was shown, or denies where nothing was; inside one transaction, so that one answer counts. */
async function decide(
  signedIn: SignedInEndpointRequest,
  userCode: string,
  shown: readonly string[] | null,
): Promise<Reply> {
  const { academy, request, visitor } = signedIn
  const { database } = academy
  await requireTriesLeft(signedIn)
  const decided = await database.write(async (transaction) => {
    const inside = within(signedIn, transaction)
    const user = await stillSignedIn(inside, visitor)
    const device = await waitingDevice(transaction, request.now, userCode)
    if (!device) return false
    const left = device.scopes.filter((scope) => shown?.includes(scope))
    const scopes = shown && givableScopes(left, user.role)
    const call = { database: transaction, now: request.now }
    const isDecided = await decideDevice(call, userCode, user.id, scopes)
    if (isDecided && scopes) await recordAllowance(inside, user, device.client, scopes)
    return isDecided
  })
  if (!decided) return wrong(signedIn)
  return seeOther(`${signedIn.base}${oauthPaths.device}?done=${shown ? 'allowed' : 'denied'}`)
}

async function wrong(signedIn: SignedInEndpointRequest): Promise<Reply> {
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

function endPage(visitor: Visitor, end: keyof typeof ends): Reply {
  const { title, text } = ends[end]
  return page(
    { title, narrow: true, headers: visitor.headers },
    <div class="card" role="status">
      <h1>{title}</h1>
      <p>{text} You can close this page.</p>
    </div>,
  )
}
