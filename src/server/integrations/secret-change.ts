import type { IntegrationInput } from '../../contract/integrations.ts'
import type { Call } from '../http/handler.ts'
import { invalid, ProblemError } from '../problem-error.ts'
import { type Integration, type SingleSecret, type StoredSecret, secretPlaceOf } from './integration.ts'

/** Minimum length of a secret whose last four characters may be shown. */
const minLengthToShowEnd = 24
/** Maximum time for which a replaced secret stays valid, in case of a mistyped year. */
const maxOverlapMs = 366 * 24 * 60 * 60 * 1000

type SecretCall = Pick<Call, 'database' | 'sealing' | 'now'>
type Sent = Pick<IntegrationInput, SingleSecret | 'webhookSecrets' | 'oldSecretEndsAt'>

/** Secrets that are sent to an address, by the field with the address. */
const recipients = {
  baseUrl: ['accessToken', 'refreshToken'],
  tokenUrl: ['clientSecret', 'refreshToken'],
} as const
const secretWords: Readonly<Record<SingleSecret, string>> = {
  accessToken: 'access token',
  clientSecret: 'client secret',
  refreshToken: 'refresh token',
}

/**
 * Throws 422 if a new address would receive the secrets that were set for the previous one: a user who can change
 * the address must not be able to read them. They must be sent again or removed.
 */
export function requireSecretsAgain(
  stored: Integration | undefined,
  sent: object,
  next: Pick<Integration, 'baseUrl' | 'tokenUrl'>,
): void {
  for (const [field, secrets] of Object.entries(recipients) as [
    keyof typeof recipients,
    readonly SingleSecret[],
  ][]) {
    if (next[field] === null || next[field] === (stored?.[field] ?? null)) continue
    // The token of a client goes to the system, and belongs to its secret.
    const isClient = stored?.lmsKind === 'oneroster' && field === 'baseUrl'
    const missing = [...secrets, ...(isClient ? (['clientSecret'] as const) : [])].find(
      (secret) => stored?.[secret] && !Object.hasOwn(sent, secret),
    )
    if (missing === undefined) continue
    const detail = `requires the ${secretWords[missing]} again: the stored one was set for another address`
    const code = `${secretWords[missing].replace(' ', '_')}_required`
    throw invalid([{ pointer: `#/${field}`, code, detail }])
  }
}

/** Unchanged secrets keep their metadata. */
export async function changedSecrets(
  call: SecretCall,
  kind: string,
  stored: Integration | undefined,
  sent: Sent,
): Promise<Pick<Integration, SingleSecret | 'webhookSecrets'>> {
  const { now } = call
  const end = sent.oldSecretEndsAt
  if (end && Date.parse(end) - Date.parse(now) > maxOverlapMs) {
    throw invalid([
      { pointer: '#/oldSecretEndsAt', code: 'too_late', detail: 'must be within a year from now' },
    ])
  }
  const changed = async (field: SingleSecret) =>
    changeSecret(call, secretPlaceOf(kind, field), stored?.[field] ?? null, sent[field])
  return {
    accessToken: await changed('accessToken'),
    clientSecret: await changed('clientSecret'),
    refreshToken: await changed('refreshToken'),
    webhookSecrets: await changeSecrets(call, kind, stored?.webhookSecrets ?? [], sent),
  }
}

async function changeSecret(
  call: SecretCall,
  place: string,
  before: StoredSecret | null,
  sent: string | null | undefined,
): Promise<StoredSecret | null> {
  if (sent === undefined) return before
  if (sent === null) return null
  return isStored(call, place, before, sent) ? before : sealSecret(call, place, sent)
}

async function changeSecrets(
  call: SecretCall,
  kind: string,
  before: readonly StoredSecret[],
  { webhookSecrets: sent, oldSecretEndsAt }: Sent,
): Promise<readonly StoredSecret[]> {
  const [newest, old] = before
  if (sent === undefined) {
    if (!newest || !old || oldSecretEndsAt === undefined) return before
    return [newest, ...withEnd(old, oldSecretEndsAt, call.now)]
  }
  const [first, second] = sent ?? []
  if (first === undefined) return []
  if (first === second) {
    throw invalid([
      { pointer: '#/webhookSecrets/1', code: 'duplicate', detail: 'must not be the first one again' },
    ])
  }
  const place = secretPlaceOf(kind, 'webhookSecret')
  const isSame = newest !== undefined && isStored(call, place, newest, first)
  const next = isSame ? newest : await sealSecret(call, place, first)
  if (second !== undefined) {
    const known = before.find((secret) => isStored(call, place, secret, second))
    return [
      next,
      ...withEnd(known ?? (await sealSecret(call, place, second)), oldSecretEndsAt ?? null, call.now),
    ]
  }
  // The same secret again: only the end of the previous one can change, to an earlier time.
  if (isSame) {
    if (!old || oldSecretEndsAt === undefined) return before
    const sooner = [old.endsAt ?? '', oldSecretEndsAt ?? ''].toSorted()[0] ?? ''
    return [next, ...withEnd(old, sooner, call.now)]
  }
  // A secret that cannot be decrypted cannot verify anything, so it is dropped.
  const previous = newest && decryptOrNone(call, place, newest) !== undefined ? newest : undefined
  return previous && oldSecretEndsAt ? [next, ...withEnd(previous, oldSecretEndsAt, call.now)] : [next]
}

/** Nothing if the end has passed or is not set. */
function withEnd(secret: StoredSecret, endsAt: string | null, now: string): StoredSecret[] {
  return endsAt !== null && endsAt > now ? [{ ...secret, endsAt }] : []
}

function isStored(call: SecretCall, place: string, stored: StoredSecret | null, sent: string): boolean {
  return stored !== null && decryptOrNone(call, place, stored) === sent
}

/** Undefined if that fails, since any new secret replaces it. */
function decryptOrNone({ sealing }: SecretCall, place: string, { sealed }: StoredSecret): string | undefined {
  try {
    return sealing.open(place, sealed)
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

async function sealSecret(
  { database, sealing, now }: SecretCall,
  place: string,
  text: string,
): Promise<StoredSecret> {
  return {
    sealed: await sealing.seal(database, place, text),
    setAt: now,
    last4: text.length >= minLengthToShowEnd ? text.slice(-4) : null,
    endsAt: null,
  }
}
