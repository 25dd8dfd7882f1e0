import type { Child } from 'hono/jsx'
import { scopeInWords } from '../../contract/oauth.ts'
import type { Scope } from '../../contract/operation.ts'
import { recordChange } from '../changes/change.ts'
import type { Reply } from '../http/reply.ts'
import { type SignedIn, type SignedInVisit, type WritingVisit, writingOf } from '../pages/browser-session.ts'
import { page } from '../pages/page.tsx'
import { formTargetOf, placeOf, type Recipient } from './authorization-code.ts'
import { grantDays } from './issue-tokens.ts'
import { grantableScopesOf } from './oauth-client.ts'

/** Before a code is created. Throws OAuthError `invalid_scope`. */
export function codeConsentPage(
  signedIn: SignedInVisit,
  { client, redirectUri }: Recipient,
  asked: readonly Scope[],
): Reply {
  return consentPage(signedIn, {
    clientName: client.name,
    asked,
    formTarget: formTargetOf(redirectUri),
    next: (
      <>
        <dt>You will be sent to</dt>
        <dd>{placeOf(redirectUri)}</dd>
      </>
    ),
    // Any program can use the name of a public client (RFC 8252 §8.6).
    caution: client.isPublic
      ? `Allow this only if you have just started it yourself in ${client.name}.`
      : null,
    hidden: null,
  })
}

export interface WaitingDevice {
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly Scope[]
}

/** For a device that shows a code (RFC 8628 §5.4). Throws OAuthError `invalid_scope`. */
export function deviceConsentPage(
  signedIn: SignedInVisit,
  { client, scopes }: WaitingDevice,
  userCode: string,
): Reply {
  return consentPage(signedIn, {
    clientName: client.name,
    asked: scopes,
    next: (
      <>
        <dt>Code on the device</dt>
        <dd>
          <code>{userCode}</code>
        </dd>
      </>
    ),
    caution:
      'Allow this only if you started it yourself and the device in front of you shows this code. Anyone who sent you the code or a link would get your access.',
    hidden: <input type="hidden" name="user_code" value={userCode} />,
  })
}

interface ConsentOptions {
  readonly clientName: string
  readonly asked: readonly Scope[]
  readonly next: Child
  readonly caution: string | null
  readonly hidden: Child
  readonly formTarget?: string
}

function consentPage({ visitor, user, request }: SignedInVisit, options: ConsentOptions): Reply {
  const { clientName, asked, next, caution, hidden, formTarget } = options
  const scopes = grantableScopesOf(asked, user.role)
  const beyond = asked.filter((scope) => !scopes.includes(scope))
  return page(
    { title: `Allow ${clientName}?`, narrow: true, headers: visitor.headers, formTarget },
    <form method="post" class="card consent">
      <h1>Allow {clientName} to act on your behalf?</h1>
      <h2 id="scopes">It will be able to</h2>
      <ul class="scopes" aria-labelledby="scopes">
        {scopes.map((scope) => (
          <li>
            {scopeInWords[scope]} <small>{scope}</small>
          </li>
        ))}
      </ul>
      {beyond.length > 0 ? (
        <p class="note">It also asked for {beyond.join(' and ')}, which your role does not allow.</p>
      ) : null}
      <dl class="facts">
        <dt>Your account</dt>
        <dd>
          {user.email} <small>{user.role}</small>
          <button type="submit" name="action" value="other_account" class="quiet small">
            Use another account
          </button>
        </dd>
        {next}
      </dl>
      {caution === null ? null : <p>{caution}</p>}
      <input type="hidden" name="csrf" value={visitor.csrf} />
      {hidden}
      <input type="hidden" name="shown" value={scopes.join(' ')} />
      <div class="actions">
        <button type="submit" name="action" value="allow">
          Allow
        </button>
        <button type="submit" name="action" value="deny" class="quiet">
          Deny
        </button>
      </div>
      <p class="note">
        Until {lastDay(request.now)} or earlier, if you revoke it on your account page or it is not used for{' '}
        {grantDays.unused} days.
      </p>
    </form>,
  )
}

function lastDay(now: Date): string {
  const end = new Date(now.getTime() + grantDays.max * 24 * 60 * 60 * 1000)
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(end)
}

/** The grant is created when the client fetches its tokens. */
export function recordAllowance(
  visit: WritingVisit,
  { id: userId }: Pick<SignedIn, 'id'>,
  { id: clientId, name: clientName }: { readonly id: string; readonly name: string },
  scopes: readonly Scope[],
): Promise<void> {
  const after = { userId, clientId, clientName, scopes }
  const call = writingOf(visit, { userId, credential: 'browser' })
  return recordChange(call, { action: 'grant.allowed', id: clientId, before: null, after })
}
