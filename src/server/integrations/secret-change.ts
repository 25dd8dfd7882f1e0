import type { IntegrationInput } from '../../contract/integration.ts'
import type { Call } from '../http/handler.ts'
import { invalid, ProblemError } from '../problem/problem-error.ts'
import { type Integration, placeOf, type StoredSecret } from './integration.ts'

/** A text of which four letters tell nothing. */
const longEnough = 24
/** How long a replaced secret may be accepted: a mistyped year would keep it for good. */
const longestOverlapMs = 366 * 24 * 60 * 60 * 1000

type SecretCall = Pick<Call, 'database' | 'sealing' | 'now'>
type Sent = Pick<IntegrationInput, 'accessToken' | 'webhookSecrets' | 'oldSecretEndsAt'>

/**
 * Throws 422 where an access token would go on to another system than it was set for: it is sent to the base URL, and whoever
 * may change that is not to read it there. Sent again, or taken away, it may.
 */
export function requireTokenAgain(
  stored: Integration | undefined,
  sent: object,
  baseUrl: string | null,
): void {
  if (!stored?.accessToken || Object.hasOwn(sent, 'accessToken')) return
  if (baseUrl === null || baseUrl === stored.baseUrl) return
  const detail = 'requires the access token again: the stored one was set for another address'
  throw invalid([{ pointer: '#/baseUrl', code: 'access_token_required', detail }])
}

/** The secrets of an integration as a change leaves them; those that are sent again stay as they were. */
export async function changedSecrets(
  call: SecretCall,
  kind: string,
  stored: Integration | undefined,
  sent: Sent,
): Promise<Pick<Integration, 'accessToken' | 'webhookSecrets'>> {
  const { now } = call
  const end = sent.oldSecretEndsAt
  if (end && Date.parse(end) - Date.parse(now) > longestOverlapMs) {
    throw invalid([
      { pointer: '#/oldSecretEndsAt', code: 'too_late', detail: 'must be within a year from now' },
    ])
  }
  const before = { accessToken: stored?.accessToken ?? null, webhookSecrets: stored?.webhookSecrets ?? [] }
  return {
    accessToken: await tokenAfter(call, kind, before.accessToken, sent.accessToken),
    webhookSecrets: await secretsAfter(call, kind, before.webhookSecrets, sent),
  }
}

async function tokenAfter(
  call: SecretCall,
  kind: string,
  before: StoredSecret | null,
  sent: string | null | undefined,
): Promise<StoredSecret | null> {
  if (sent === undefined) return before
  if (sent === null) return null
  const place = placeOf(kind, 'accessToken')
  return isStored(call, place, before, sent) ? before : sealed(call, place, sent)
}

async function secretsAfter(
  call: SecretCall,
  kind: string,
  before: readonly StoredSecret[],
  { webhookSecrets: sent, oldSecretEndsAt }: Sent,
): Promise<readonly StoredSecret[]> {
  const [newest, old] = before
  if (sent === undefined) {
    if (!newest || !old || oldSecretEndsAt === undefined) return before
    return [newest, ...until(old, oldSecretEndsAt, call.now)]
  }
  const [first, second] = sent ?? []
  if (first === undefined) return []
  if (first === second) {
    throw invalid([
      { pointer: '#/webhookSecrets/1', code: 'duplicate', detail: 'must not be the first one again' },
    ])
  }
  const place = placeOf(kind, 'webhookSecret')
  const isSame = newest !== undefined && isStored(call, place, newest, first)
  const next = isSame ? newest : await sealed(call, place, first)
  if (second !== undefined) {
    const known = before.find((secret) => isStored(call, place, secret, second))
    return [next, ...until(known ?? (await sealed(call, place, second)), oldSecretEndsAt ?? null, call.now)]
  }
  // The same once more: what was in its place before can only end earlier by that.
  if (isSame) {
    if (!old || oldSecretEndsAt === undefined) return before
    const sooner = [old.endsAt ?? '', oldSecretEndsAt ?? ''].toSorted()[0] ?? ''
    return [next, ...until(old, sooner, call.now)]
  }
  // One that cannot be opened proves nothing any more.
  const kept = newest && openedAs(call, place, newest) !== undefined ? newest : undefined
  return kept && oldSecretEndsAt ? [next, ...until(kept, oldSecretEndsAt, call.now)] : [next]
}

/** An old secret until its end, which may have come: then it is gone. Without one it ends at once. */
function until(secret: StoredSecret, endsAt: string | null, now: string): StoredSecret[] {
  return endsAt !== null && endsAt > now ? [{ ...secret, endsAt }] : []
}

function isStored(call: SecretCall, place: string, stored: StoredSecret | null, sent: string): boolean {
  return stored !== null && openedAs(call, place, stored) === sent
}

/** A stored secret in the clear; undefined for one that cannot be opened: it is replaced, by whatever that is. */
function openedAs({ sealing }: SecretCall, place: string, { sealed }: StoredSecret): string | undefined {
  try {
    return sealing.open(place, sealed)
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

async function sealed(
  { database, sealing, now }: SecretCall,
  place: string,
  text: string,
): Promise<StoredSecret> {
  return {
    sealed: await sealing.seal(database, place, text),
    setAt: now,
    last4: text.length >= longEnough ? text.slice(-4) : null,
    endsAt: null,
  }
}
