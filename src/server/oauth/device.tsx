import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import { oauthPaths } from '../../contract/oauth.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { readAttempts, storeAttempts } from '../access/attempts.ts'
import { digest, fingerprint, hmacKeyOf, newCredential } from '../access/secret.ts'
import type { Database, Row } from '../database/database.ts'
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
import { deviceConsentPage, recordAllowance, type WaitingDevice } from './consent.tsx'
import { type IssuedTokens, type Issuing, openGrant } from './issue-tokens.ts'
import {
  clientReply,
  clientRoute,
  grantableScopesOf,
  type OAuthClient,
  OAuthError,
  parseScopes,
  readParameter,
} from './oauth-client.ts'

const reason = { why: 'A device is asking to act on your behalf. Sign in to continue.' }

const endings = {
  allowed: { title: 'Device connected', text: 'The device continues automatically within a few seconds.' },
  denied: { title: 'Device denied', text: 'The device gets no access.' },
} as const

/** RFC 8628 §3.3. */
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

function wrongCodesOf(database: Database, { user, request }: SignedInVisit) {
  return readAttempts(database, `user code ${user.id}`, request.now.getTime())
}

/** Added to the interval of a client that polls too fast (RFC 8628 §3.5). */
const slowDownSeconds = 5
// No vowels, which could form words, and no similar characters (RFC 8628 §6.1).
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const userCodeLength = 8

const deviceTiming = { lifetimeSeconds: 600, intervalSeconds: 5 } as const

interface DeviceRow extends Row {
  readonly client_id: string
  readonly scopes: string
  readonly expires_at: string
  readonly interval_seconds: number
  readonly polled_at: string | null
  readonly user_id: string | null
  readonly decision: string | null
  readonly role: RoleName | null
  readonly status: string | null
}

async function newDevice(
  { database, now }: Pick<Issuing, 'database' | 'now'>,
  { id }: OAuthClient,
  scopes: readonly Scope[],
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = newCredential('deviceCode')
  const expiresAt = new Date(now.getTime() + deviceTiming.lifetimeSeconds * 1000).toISOString()
  for (;;) {
    const userCode = newUserCode()
    const made = await database.run(sql`
      insert into device_codes (hash, user_code_hash, client_id, scopes, expires_at, interval_seconds)
      values (${digest(deviceCode)}, ${await hashOf(database, userCode)}, ${id}, ${JSON.stringify(scopes)}, ${expiresAt},
              ${deviceTiming.intervalSeconds})
      on conflict (user_code_hash) do nothing`)
    if (made === 1) return { deviceCode, userCode }
  }
}

/** Letters in two groups (RFC 8628 §6.1). */
function formatUserCode(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}

async function findWaitingDevice(
  database: Database,
  now: Date,
  userCode: string,
): Promise<WaitingDevice | undefined> {
  const row = await database.one<{ id: string; name: string; scopes: string }>(sql`
    select c.id, c.name, d.scopes from device_codes d join oauth_clients c on c.id = d.client_id
    where d.user_code_hash = ${await hashOf(database, userCode)} and d.expires_at > ${now.toISOString()}
      and d.decision is null`)
  return row && { client: { id: row.id, name: row.name }, scopes: JSON.parse(row.scopes) as Scope[] }
}

/** False if the device is no longer waiting. */
async function decideDevice(
  { database, now }: Pick<Issuing, 'database' | 'now'>,
  userCode: string,
  userId: string,
  scopes: readonly Scope[] | null,
): Promise<boolean> {
  const decided = await database.run(sql`
    update device_codes set user_id = ${userId}, decision = ${scopes ? 'allowed' : 'denied'},
      scopes = coalesce(${scopes && JSON.stringify(scopes)}, scopes)
    where user_code_hash = ${await hashOf(database, userCode)} and expires_at > ${now.toISOString()} and decision is null`)
  return decided === 1
}

/** RFC 8628 §3.5. An error is returned, to be thrown after the commit: polling too fast adds to the interval. */
export async function pollDevice(
  issuing: Issuing,
  client: OAuthClient,
  deviceCode: string,
): Promise<IssuedTokens | OAuthError> {
  const { database, now } = issuing
  const time = now.toISOString()
  const hash = digest(deviceCode)
  const row = await database.one<DeviceRow>(sql`
    select d.client_id, d.scopes, d.expires_at, d.interval_seconds, d.polled_at, d.user_id, d.decision, u.role, u.status
    from device_codes d left join users u on u.id = d.user_id
    where d.hash = ${hash}`)
  if (!row || row.client_id !== client.id) {
    return new OAuthError('invalid_grant', 'The device code is unknown.')
  }
  if (row.expires_at <= time) return new OAuthError('expired_token', 'The device code has expired.')
  if (row.decision === null || !row.user_id || !row.role) {
    const waitedMs = row.polled_at ? now.getTime() - Date.parse(row.polled_at) : Number.POSITIVE_INFINITY
    const isEarly = waitedMs < row.interval_seconds * 1000
    await database.run(sql`
      update device_codes set polled_at = ${time}, interval_seconds = interval_seconds + ${isEarly ? slowDownSeconds : 0}
      where hash = ${hash}`)
    return isEarly
      ? new OAuthError('slow_down', 'Polling too fast; wait five more seconds between requests.')
      : new OAuthError('authorization_pending', 'The user has not answered yet.')
  }
  await database.run(sql`delete from device_codes where hash = ${hash}`)
  if (row.decision === 'denied') return new OAuthError('access_denied', 'The request was denied.')
  if (row.status !== 'active') return new OAuthError('access_denied', 'The account is not active.')
  const scopes = grantableScopesOf(JSON.parse(row.scopes) as Scope[], row.role)
  return (await openGrant(issuing, { client, userId: row.user_id, scopes })).tokens
}

function newUserCode(): string {
  const letters = Array.from({ length: userCodeLength }, () => alphabet[randomInt(alphabet.length)] ?? '')
  return formatUserCode(letters.join(''))
}

async function hashOf(database: Database, userCode: string): Promise<string> {
  return fingerprint(await hmacKeyOf(database), Buffer.from(`user code ${formatUserCode(userCode)}`))
}

/** RFC 8628 §3.1. */
export const deviceAuthorizationRoute = clientRoute(
  oauthPaths.deviceAuthorization,
  async ({ visit, form, client }) => {
    const scopes = parseScopes(readParameter(form, 'scope'))
    const { academy, request, issuer } = visit
    const { database } = academy
    const { deviceCode, userCode } = await database.write((transaction) =>
      newDevice({ database: transaction, now: request.now }, client, scopes),
    )
    const page = issuer + oauthPaths.device
    return clientReply(200, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: deviceTiming.lifetimeSeconds,
      interval: deviceTiming.intervalSeconds,
    })
  },
)
