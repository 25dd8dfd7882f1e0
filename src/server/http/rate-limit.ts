import { recentlyUsed } from '../access/recently-used.ts'

/** What a bucket says of one request. */
export interface Allowance {
  readonly allowed: boolean
  /** Requests left, whole. */
  readonly remaining: number
  /** Seconds to one more request where none is left, else to a full bucket. */
  readonly resetSeconds: number
}

/** Token buckets by name: each holds `perMinute` and refills evenly. */
export interface RateLimit {
  readonly perMinute: number
  /** Takes one token of the bucket with this name. */
  take(name: string): Allowance
  /** Looks without taking. */
  peek(name: string): Allowance
}

interface Bucket {
  tokens: number
  atMs: number
}

/** So many buckets take about a megabyte; one more takes the place of the one that was used longest ago. */
const mostBuckets = 10_000

/** Rate limiting by token bucket, in bounded memory: a bucket that is forgotten is a full one. */
export function rateLimit(perMinute: number, now: () => Date): RateLimit {
  const buckets = recentlyUsed<Bucket>(mostBuckets)
  const perMs = perMinute / 60_000

  function bucketOf(name: string): Bucket {
    const atMs = now().getTime()
    const bucket = buckets.use(name, () => ({ tokens: perMinute, atMs }))
    bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, atMs - bucket.atMs) * perMs)
    bucket.atMs = atMs
    return bucket
  }

  function allowanceOf(allowed: boolean, { tokens }: Bucket): Allowance {
    const missing = tokens < 1 ? 1 - tokens : perMinute - tokens
    return { allowed, remaining: Math.floor(tokens), resetSeconds: Math.ceil(missing / perMs / 1000) }
  }

  return {
    perMinute,
    take(name) {
      const bucket = bucketOf(name)
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      return allowanceOf(allowed, bucket)
    },
    peek(name) {
      const bucket = bucketOf(name)
      return allowanceOf(bucket.tokens >= 1, bucket)
    },
  }
}
