import type { HttpRequest } from '../../contract/http.ts'
import { type Attempts, attemptsIn } from '../access/attempts.ts'
import { type CredentialCache, createCredentialCache } from '../access/credential-cache.ts'
import type { Credential } from '../access/identify.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import { type Passwords, passwordsOf } from '../access/passwords.ts'
import type { Origin, Principal } from '../access/principal.ts'
import type { Store } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import { reasonOf } from '../database/sqlite/file-fault.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { ProblemError, problemOf, tooMany, unavailable } from '../problem-error.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { LogEntry } from './log.ts'
import { createRateLimit, createTokenBuckets, type RateLimit, type TokenBuckets } from './rate-limit.ts'
import { type RefusalBounds, refusalBounds } from './refusal-bounds.ts'
import type { Reply } from './reply.ts'

/** Maximum length of path and query. */
export const maxUrlBytes = 8 * 1024
const failedCredentialsPerMinute = 20

/** Maximum deliveries of each integration, and bytes of their payloads, that are stored per day. */
const inboxPerDay = { deliveries: 200_000, bytes: 64 * 1024 * 1024 } as const
const dayMs = 24 * 60 * 60 * 1000

/** Dependencies of an app. */
export interface AppOptions {
  readonly database: Store
  readonly now: () => Date
  /** Monotonic milliseconds; default the process's. */
  readonly elapsedMs?: () => number
  readonly newId: (prefix: IdPrefix) => string
  /** Encrypts and decrypts the secrets of other systems. */
  readonly sealing: Sealing
  /** Sends requests to other systems, within the limits of this academy. */
  readonly outgoing: Outgoing
  /**
   * False to omit entity tags of answers without a version: calculating them takes reading the whole answer.
   */
  readonly tagged?: boolean
  /** Requests per minute for each user, over all credentials; 0 for no limit. */
  readonly perMinute: number
  /** The principal of all requests, for an academy in this process only; never set for an app on a socket. */
  readonly principal?: Principal
  /** Public base URL; absent to use the Host of each request. */
  readonly publicUrl?: string | undefined
  /** Cost of checking a password; default a tenth of a second. */
  readonly passwordCost?: PasswordCost | undefined
  /** Maximum deliveries that are stored of each integration per day; default as documented. */
  readonly inboxPerDay?: { readonly deliveries: number; readonly bytes: number }
  readonly log: (entry: LogEntry) => void
  /** True while the server shuts down. */
  readonly isClosing?: () => boolean
  /** Runs long reads; absent to run them in place. */
  readonly longReads?: LongReads
}

/** Runs reads of a whole academy where they do not block other requests. */
export interface LongReads {
  /**
   * Returns the reply to a request. Throws ProblemError if too many are running, and any error if it fails.
   *
   * @param owner owner of the read; the number of concurrent ones is limited for each
   * @param principal the caller; pages identify it themselves
   */
  answer(request: RequestContext, owner: string, principal?: Principal): Promise<Reply>
}

/**
 * Kinds of rate limit buckets: requests of a user over all credentials and browsers, or of an application
 * with a secret; requests of a network without a credential; and, apart, those that lead to one. This way no
 * client can use up what another one needs to sign in.
 */
export type BucketKind = 'known' | 'anonymous' | 'signIn'

/** The bucket that a request is counted in. */
export interface Bucket {
  readonly kind: BucketKind
  readonly name: string
}

/** Returns the bucket of a request: of its user, or of its network without a valid credential. */
export function bucketOf(
  principal: Principal | undefined,
  { address }: Pick<RequestContext, 'address'>,
): Bucket {
  return principal ? { kind: 'known', name: principal.userId } : { kind: 'anonymous', name: address }
}

/** State of an app between requests: rate limits, attempts, password turns and cached credentials. */
export interface RateLimits {
  /** Absent if requests are unlimited. */
  readonly requests: Readonly<Record<BucketKind, RateLimit>> | undefined
  /** Wrong credentials by network. */
  readonly failures: RateLimit
  /** Attempts at a password, by account and network or credential. */
  readonly signIns: Attempts
  readonly passwords: Passwords
  readonly credentials: CredentialCache<Credential>
  readonly refusals: RefusalBounds
  /** Stored deliveries by integration. */
  readonly inbox: { readonly deliveries: TokenBuckets; readonly bytes: TokenBuckets }
}

/** The parts of a request that are independent of its path. */
export interface RequestContext {
  readonly raw: HttpRequest
  readonly requestId: string
  readonly path: string
  /** The query, after the first question mark; it may contain more (RFC 3986 §3.4). */
  readonly search: string
  /** The client's network: see `networkOf`. */
  readonly address: string
  readonly now: Date
}

/** Returns where a request comes from. */
export function originOf({ raw, requestId }: Pick<RequestContext, 'raw' | 'requestId'>): Origin {
  return { address: raw.address ?? null, userAgent: raw.headers['user-agent'] ?? null, requestId }
}

/** True if the client has disconnected. */
export function hasLeft({ raw }: Pick<RequestContext, 'raw'>): boolean {
  return raw.signal?.aborted === true
}

/** A request's reply, with facts for the log and the limits. */
export interface Answered {
  readonly reply: Reply
  /** The caller, if identified. */
  readonly principal?: Principal | undefined
  /** The bucket that the request was counted in; default that of its network. */
  readonly bucket?: Bucket | undefined
  /** Cause of an internal error, for the log. */
  readonly cause?: unknown
}

/** Headers of every response. */
export const everyHeader = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Creates the state of an app. */
export function rateLimitsOf(app: AppOptions): RateLimits {
  const { database, perMinute, now, elapsedMs, passwordCost } = app
  const inbox = app.inboxPerDay ?? inboxPerDay
  const requests = () => createRateLimit(perMinute, now)
  return {
    requests: perMinute > 0 ? { known: requests(), anonymous: requests(), signIn: requests() } : undefined,
    failures: createRateLimit(failedCredentialsPerMinute, now),
    signIns: attemptsIn(database, now),
    passwords: passwordsOf(passwordCost),
    credentials: createCredentialCache(elapsedMs),
    refusals: refusalBounds(now),
    inbox: {
      deliveries: createTokenBuckets(inbox.deliveries, dayMs, now),
      bytes: createTokenBuckets(inbox.bytes, dayMs, now),
    },
  }
}

/** Converts an error to a response: problem details, an OAuth error, or a page. */
export type Refuse = (fault: ProblemError, context: RequestContext) => Reply

/** Returns the response to any error. */
export function refusalOf(context: RequestContext, error: unknown, refuse: Refuse = problemReply): Answered {
  const fault = faultOf(error)
  return { reply: refuse(fault, context), cause: fault.cause }
}

/** Creates a response with problem details (RFC 9457). */
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

/** Adds the state of a bucket to headers (draft-ietf-httpapi-ratelimit-headers-10). */
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

const busyErrors: readonly number[] = [5, 6]
const diskErrors: readonly number[] = [8, 10, 13]

/**
 * Converts any thrown value to a problem. An unexpected error becomes 500 `internal` without details, except
 * the cause for the log; a database that is locked or cannot write becomes 503.
 */
export function faultOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR' && [...busyErrors, ...diskErrors].includes(errcode & 0xff)) {
    return unavailable(`The database ${reasonOf(error)}.`, 1, error)
  }
  return new ProblemError('internal', 'Internal error; see the server log for this request id.', {
    cause: error,
  })
}
