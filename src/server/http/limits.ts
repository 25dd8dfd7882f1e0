import { setNewest } from '../../codec/bounded-map.ts'
import { type Attempts, createAttempts } from '../access/attempts.ts'
import { type Credential, type CredentialCache, createCredentialCache } from '../access/identify.ts'
import { type Passwords, passwordsOf } from '../access/passwords.ts'
import type { Principal } from '../access/principal.ts'
import { tooMany } from '../problem-error.ts'
import type { Bucket, BucketKind } from './reply.ts'
import type { AppOptions, RequestContext } from './request-context.ts'

export interface RateLimits {
  /** Absent if requests are unlimited. */
  readonly requests: Readonly<Record<BucketKind, RateLimit>> | undefined
  readonly failures: RateLimit
  readonly signIns: Attempts
  readonly passwords: Passwords
  readonly credentials: CredentialCache<Credential>
  readonly refusals: RefusalBounds
  readonly inbox: { readonly deliveries: TokenBuckets; readonly bytes: TokenBuckets }
}

const maxFailuresPerMinute = 20

/** Maximum deliveries of each integration, and bytes of their payloads, that are stored per day. */
const maxInboxPerDay = { deliveries: 200_000, bytes: 64 * 1024 * 1024 } as const
const dayMs = 24 * 60 * 60 * 1000

export function rateLimitsOf(app: AppOptions): RateLimits {
  const { database, perMinute, now, elapsedMs, passwordCost } = app
  const inbox = app.inboxPerDay ?? maxInboxPerDay
  const requests = () => createRateLimit(perMinute, now)
  return {
    requests: perMinute > 0 ? { known: requests(), anonymous: requests(), signIn: requests() } : undefined,
    failures: createRateLimit(maxFailuresPerMinute, now),
    signIns: createAttempts(database, now),
    passwords: passwordsOf(passwordCost),
    credentials: createCredentialCache(elapsedMs),
    refusals: createRefusalBounds(now),
    inbox: {
      deliveries: createTokenBuckets(inbox.deliveries, dayMs, now),
      bytes: createTokenBuckets(inbox.bytes, dayMs, now),
    },
  }
}

/** Returns the bucket of a request: of its user, or of its network without a valid credential. */
export function bucketOf(
  principal: Principal | undefined,
  { address }: Pick<RequestContext, 'address'>,
): Bucket {
  return principal ? { kind: 'known', name: principal.userId } : { kind: 'anonymous', name: address }
}

/** Throws 429. */
export function countFailure({ failures }: Pick<RateLimits, 'failures'>, address: string): void {
  const { allowed, resetSeconds } = failures.take(address)
  if (!allowed) throw tooMany('failed credentials', resetSeconds)
}

/** Throws 429. */
export function countRequest({ requests }: RateLimits, { kind, name }: Bucket): void {
  if (!requests) return
  const { allowed, resetSeconds } = requests[kind].take(name)
  if (!allowed) throw tooMany('requests', resetSeconds)
}

/** draft-ietf-httpapi-ratelimit-headers-10. */
export function addRateLimitHeaders(
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

interface RefusalBounds {
  readonly each: RateLimit
  readonly all: RateLimit
  unrecorded: number
}

/**
 * Groups that are limited together, so that neither anonymous clients nor programs that refresh tokens
 * prevent recording what a known credential tried.
 */
type RefusalGroup = 'anonymous' | 'known' | 'refresh'

/**
 * Maximum entries a minute, by user or network and by group: repeated attempts are recorded without filling
 * the disk.
 */
const maxRefusalsPerMinute = { each: 10, all: 60 } as const

const recordedCodes: ReadonlySet<string> = new Set([
  'invalid_token',
  'token_expired',
  'expired_key',
  'insufficient_scope',
  'forbidden',
])

function createRefusalBounds(now: () => Date): RefusalBounds {
  return {
    each: createRateLimit(maxRefusalsPerMinute.each, now),
    all: createRateLimit(maxRefusalsPerMinute.all, now),
    unrecorded: 0,
  }
}

export function mayRecordRefusal(
  { refusals }: { readonly refusals: RefusalBounds },
  group: RefusalGroup,
  name: string,
): boolean {
  const may = refusals.each.take(`${group} ${name}`).allowed && refusals.all.take(group).allowed
  if (!may && group !== 'refresh') refusals.unrecorded += 1
  return may
}

export function isRecordedCode(code: string | undefined): code is string {
  return code !== undefined && recordedCodes.has(code)
}

/**
 * Returns the network of an address as one subscriber has it: the address itself for IPv4, the first 64 bits
 * for IPv6 (RFC 6177). An IPv4-mapped IPv6 address counts as the IPv4 address.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const before = groupsIn(head)
  const after = groupsIn(tail ?? '')
  const zeros = Array.from(
    { length: tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length) },
    () => '0',
  )
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** Returns the groups of an IPv6 address; an IPv4 address at its end is two groups. */
function groupsIn(part: string): string[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}

interface Allowance {
  readonly allowed: boolean
  readonly remaining: number
  /** Seconds until one more request if none is left, else until the bucket is full. */
  readonly resetSeconds: number
}

interface TokenBuckets {
  /** By default one; none if the bucket has fewer. */
  take(name: string, tokens?: number): Allowance
  /** Like `take`, but leaves the tokens. */
  peek(name: string, tokens?: number): Allowance
}

interface RateLimit extends TokenBuckets {
  readonly perMinute: number
}

interface TokenBucket {
  tokens: number
  atMs: number
}

/** About a megabyte; the least recently used one is dropped. */
const maxBuckets = 10_000

export function createRateLimit(perMinute: number, now: () => Date): RateLimit {
  return { perMinute, ...createTokenBuckets(perMinute, 60_000, now) }
}

/**
 * Creates token buckets with a capacity and a time to refill, in bounded memory: a dropped bucket counts as
 * full.
 */
function createTokenBuckets(capacity: number, refillMs: number, now: () => Date): TokenBuckets {
  const buckets = new Map<string, TokenBucket>()
  const perMs = capacity / refillMs

  function bucketNamed(name: string): TokenBucket {
    const atMs = now().getTime()
    const bucket = buckets.get(name) ?? { tokens: capacity, atMs }
    setNewest(buckets, name, bucket, maxBuckets)
    bucket.tokens = Math.min(capacity, bucket.tokens + Math.max(0, atMs - bucket.atMs) * perMs)
    bucket.atMs = atMs
    return bucket
  }

  function allowanceOf(allowed: boolean, { tokens }: TokenBucket, wanted: number): Allowance {
    const missing = tokens < wanted ? wanted - tokens : capacity - tokens
    return { allowed, remaining: Math.floor(tokens), resetSeconds: Math.ceil(missing / perMs / 1000) }
  }

  return {
    take(name, tokens = 1) {
      const bucket = bucketNamed(name)
      const allowed = bucket.tokens >= tokens
      if (allowed) bucket.tokens -= tokens
      return allowanceOf(allowed, bucket, tokens)
    },
    peek(name, tokens = 1) {
      const bucket = bucketNamed(name)
      return allowanceOf(bucket.tokens >= tokens, bucket, tokens)
    },
  }
}
