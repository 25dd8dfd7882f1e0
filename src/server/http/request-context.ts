import type { HttpRequest } from '../../contract/http.ts'
import { type Attempts, attemptsIn } from '../access/attempts.ts'
import type { Credential } from '../access/identify.ts'
import { type KnownCredentials, knownCredentials } from '../access/known-credentials.ts'
import type { PasswordCost } from '../access/password.ts'
import { type Passwords, passwordsOf } from '../access/passwords.ts'
import type { Origin, Principal } from '../access/principal.ts'
import type { Store } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { type ProblemError, problemOf, tooMany } from '../problem/problem-error.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { LogEntry } from './log.ts'
import { type RateLimit, rateLimit, type TokenBuckets, tokenBuckets } from './rate-limit.ts'
import { type RefusalBounds, refusalBounds } from './refusal-bounds.ts'
import type { Reply } from './reply.ts'
import { faultOf } from './unexpected-fault.ts'

/** The most that a path and its query may have. */
export const maximumUrlBytes = 8 * 1024
const failedCredentialsPerMinute = 20

/** Deliveries of each integration, and bytes of their payloads, that a server keeps in a day. */
const inboxPerDay = { deliveries: 200_000, bytes: 64 * 1024 * 1024 } as const
const dayMs = 24 * 60 * 60 * 1000

/** What an app is made from. */
export interface AppOptions {
  readonly database: Store
  readonly now: () => Date
  /** Milliseconds that never go back; those of the process unless told otherwise. */
  readonly elapsedMs?: () => number
  readonly newId: (prefix: IdPrefix) => string
  /** Seals and opens the secrets of other systems. */
  readonly sealing: Sealing
  /** Sends requests to other systems, as far as this academy may. */
  readonly outgoing: Outgoing
  /** False where an answer without a version gets no entity tag, because nobody keeps it: it takes reading all of it. */
  readonly tagged?: boolean
  /** Requests a minute for each user, whatever their credentials; 0 for no limit. */
  readonly perMinute: number
  /**
   * Who every caller is, whatever the request says: for an academy inside this process only. An app that is served
   * on a socket is made without it.
   */
  readonly principal?: Principal
  /** The base address by which others reach it; absent where that is the Host of each request. */
  readonly publicUrl?: string | undefined
  /** What checking a password costs; a tenth of a second unless told otherwise. */
  readonly passwordCost?: PasswordCost | undefined
  /** What is kept of each integration in a day; as documented unless told otherwise. */
  readonly inboxPerDay?: { readonly deliveries: number; readonly bytes: number }
  readonly log: (entry: LogEntry) => void
  /** True while nothing new is to be begun. */
  readonly isClosing?: () => boolean
  /** Where long reads are made; in the turn of the request itself where it is absent. */
  readonly longReads?: LongReads
}

/** Reads that go through a whole academy, made where nobody else has to wait for them. */
export interface LongReads {
  /**
   * The reply to a request. Throws ProblemError where too many are under way, and anything where it fails.
   *
   * @param owner whose it is, of whom only so many are made at once
   * @param principal who asks; a page finds that out by itself
   */
  answer(request: RequestContext, owner: string, principal?: Principal): Promise<Reply>
}

/**
 * Whose requests are counted together: those of a user, with whatever credentials and browsers, and of an application that
 * proves its secret; or of a network those without a credential and, apart from them, those that lead to one. Nobody can
 * spend what another needs to sign in, or has once signed in.
 */
export type BucketKind = 'known' | 'anonymous' | 'signIn'

/** What a request is counted under. */
export interface Bucket {
  readonly kind: BucketKind
  readonly name: string
}

/** What a request is counted under: its user, or its network where it has no credential that is known. */
export function bucketOf(
  principal: Principal | undefined,
  { address }: Pick<RequestContext, 'address'>,
): Bucket {
  return principal ? { kind: 'known', name: principal.userId } : { kind: 'anonymous', name: address }
}

/** What one app keeps between requests: counts of them and of attempts, turns of passwords, and who was there just now. */
export interface RateLimits {
  /** Absent where requests have no limit. */
  readonly requests: Readonly<Record<BucketKind, RateLimit>> | undefined
  /** Credentials that were wrong, by network. */
  readonly failures: RateLimit
  /** Attempts at a password, by account and network or credential. */
  readonly signIns: Attempts
  readonly passwords: Passwords
  readonly credentials: KnownCredentials<Credential>
  readonly refusals: RefusalBounds
  /** What is kept of other systems, by integration. */
  readonly inbox: { readonly deliveries: TokenBuckets; readonly bytes: TokenBuckets }
}

/** What is known of a request before anything looks at it. */
export interface RequestContext {
  readonly raw: HttpRequest
  readonly requestId: string
  readonly path: string
  /** What follows the first question mark of the target; it may have more of them (RFC 3986 §3.4). */
  readonly search: string
  /** The network that it came from, as far as one subscriber has it: see `networkOf`. */
  readonly address: string
  readonly now: Date
}

/** From where a request came. */
export function originOf({ raw, requestId }: Pick<RequestContext, 'raw' | 'requestId'>): Origin {
  return { address: raw.address ?? null, userAgent: raw.headers['user-agent'] ?? null, requestId }
}

/** True once nobody waits for the answer to a request. */
export function hasLeft({ raw }: Pick<RequestContext, 'raw'>): boolean {
  return raw.signal?.aborted === true
}

/** What a request came to. */
export interface Answered {
  readonly reply: Reply
  /** Who asked, as far as that was found out. */
  readonly principal?: Principal | undefined
  /** What the request was counted under; its network, without a credential, unless told otherwise. */
  readonly bucket?: Bucket | undefined
  /** What was behind an internal fault, for the log. */
  readonly cause?: unknown
}

/** What every response carries, whatever it answers. */
export const everyHeader = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** The counters of one app. */
export function rateLimitsOf(app: AppOptions): RateLimits {
  const { database, perMinute, now, elapsedMs, passwordCost } = app
  const inbox = app.inboxPerDay ?? inboxPerDay
  const requests = () => rateLimit(perMinute, now)
  return {
    requests: perMinute > 0 ? { known: requests(), anonymous: requests(), signIn: requests() } : undefined,
    failures: rateLimit(failedCredentialsPerMinute, now),
    signIns: attemptsIn(database, now),
    passwords: passwordsOf(passwordCost),
    credentials: knownCredentials(elapsedMs),
    refusals: refusalBounds(now),
    inbox: {
      deliveries: tokenBuckets(inbox.deliveries, dayMs, now),
      bytes: tokenBuckets(inbox.bytes, dayMs, now),
    },
  }
}

/** How a refusal is told: as problem details, as an error of OAuth, or as a page. */
export type Refuse = (fault: ProblemError, context: RequestContext) => Reply

/** What the work comes to: its reply, or the refusal of what it throws. */
export async function attempt(
  context: RequestContext,
  work: () => Reply | Promise<Reply>,
  refuse: Refuse = problemReply,
): Promise<Answered> {
  try {
    const reply = await work()
    return { reply, cause: reply.cause }
  } catch (error) {
    return refused(context, error, refuse)
  }
}

/** The refusal of a request for what was thrown, whatever that is. */
export function refused(context: RequestContext, error: unknown, refuse: Refuse = problemReply): Answered {
  const fault = faultOf(error)
  return { reply: refuse(fault, context), cause: fault.cause }
}

/** The reply to a refused request: problem details (RFC 9457). */
export function problemReply(fault: ProblemError, request: RequestContext): Reply {
  return {
    status: fault.status,
    headers: { ...fault.headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(problemOf(fault, request.path, request.requestId)),
    code: fault.code,
  }
}

/** Takes one request from a bucket. Throws 429. */
export function count({ requests }: RateLimits, { kind, name }: Bucket): void {
  if (!requests) return
  const { allowed, resetSeconds } = requests[kind].take(name)
  if (!allowed) throw tooMany('requests', resetSeconds)
}

/** Adds to headers what is left in a bucket (draft-ietf-httpapi-ratelimit-headers-10). */
export function addLimit(
  headers: Record<string, string>,
  { requests }: RateLimits,
  { kind, name }: Bucket,
): void {
  if (!requests) return
  const { perMinute, peek } = requests[kind]
  const { remaining, resetSeconds } = peek(name)
  headers['ratelimit-policy'] = `"default";q=${perMinute};w=60`
  headers['ratelimit'] = `"default";r=${remaining};t=${resetSeconds}`
}
