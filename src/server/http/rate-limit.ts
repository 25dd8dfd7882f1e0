import { recentlyUsed } from '../access/recently-used.ts'

/** What a bucket says of one request. */
export interface Allowance {
  readonly allowed: boolean
  /** Requests left, whole. */
  readonly remaining: number
  /** Seconds to one more request where none is left, else to a full bucket. */
  readonly resetSeconds: number
}

/** Token buckets by name, which refill evenly. */
export interface TokenBuckets {
  /** Takes tokens of the bucket with this name, one unless told otherwise; none where there are fewer. */
  take(name: string, tokens?: number): Allowance
  /** Looks without taking. */
  peek(name: string, tokens?: number): Allowance
}

/** Token buckets for requests: each holds `perMinute`. */
export interface RateLimit extends TokenBuckets {
  readonly perMinute: number
}

interface Bucket {
  tokens: number
  atMs: number
}

/** So many buckets take about a megabyte; one more takes the place of the one that was used longest ago. */
const mostBuckets = 10_000

/** Rate limiting by token bucket. */
export function rateLimit(perMinute: number, now: () => Date): RateLimit {
  return { perMinute, ...tokenBuckets(perMinute, 60_000, now) }
}

/** Buckets that hold so much and are full again after so long, in bounded memory: one that is forgotten is a full one. */
export function tokenBuckets(holds: number, refillMs: number, now: () => Date): TokenBuckets {
  const buckets = recentlyUsed<Bucket>(mostBuckets)
  const perMs = holds / refillMs

  function bucketOf(name: string): Bucket {
    const atMs = now().getTime()
    const bucket = buckets.use(name, () => ({ tokens: holds, atMs }))
    bucket.tokens = Math.min(holds, bucket.tokens + Math.max(0, atMs - bucket.atMs) * perMs)
    bucket.atMs = atMs
    return bucket
  }

  function allowanceOf(allowed: boolean, { tokens }: Bucket, wanted: number): Allowance {
    const missing = tokens < wanted ? wanted - tokens : holds - tokens
    return { allowed, remaining: Math.floor(tokens), resetSeconds: Math.ceil(missing / perMs / 1000) }
  }

  return {
    take(name, tokens = 1) {
      const bucket = bucketOf(name)
      const allowed = bucket.tokens >= tokens
      if (allowed) bucket.tokens -= tokens
      return allowanceOf(allowed, bucket, tokens)
    },
    peek(name, tokens = 1) {
      const bucket = bucketOf(name)
      return allowanceOf(bucket.tokens >= tokens, bucket, tokens)
    },
  }
}
