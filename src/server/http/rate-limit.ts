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
  /** Puts back what was taken: it was not meant to be counted. */
  giveBack(name: string): void
  /** Looks without taking. */
  peek(name: string): Allowance
}

interface Bucket {
  tokens: number
  atMs: number
}

const sweepAbove = 10_000

/** Rate limiting by token bucket; a bucket that is full again is forgotten. */
export function rateLimit(perMinute: number, now: () => Date): RateLimit {
  const buckets = new Map<string, Bucket>()
  const perMs = perMinute / 60_000

  function bucketOf(name: string, atMs: number): Bucket {
    const bucket = buckets.get(name)
    if (!bucket) {
      if (buckets.size >= sweepAbove) sweep(atMs)
      const full = { tokens: perMinute, atMs }
      buckets.set(name, full)
      return full
    }
    bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, atMs - bucket.atMs) * perMs)
    bucket.atMs = atMs
    return bucket
  }

  function sweep(atMs: number): void {
    for (const [name, { tokens, atMs: before }] of buckets) {
      if (tokens + (atMs - before) * perMs >= perMinute) buckets.delete(name)
    }
  }

  function allowanceOf(allowed: boolean, { tokens }: Bucket): Allowance {
    const missing = tokens < 1 ? 1 - tokens : perMinute - tokens
    return { allowed, remaining: Math.floor(tokens), resetSeconds: Math.ceil(missing / perMs / 1000) }
  }

  return {
    perMinute,
    take(name) {
      const bucket = bucketOf(name, now().getTime())
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      return allowanceOf(allowed, bucket)
    },
    giveBack(name) {
      bucketOf(name, now().getTime()).tokens += 1
    },
    peek(name) {
      const bucket = bucketOf(name, now().getTime())
      return allowanceOf(bucket.tokens >= 1, bucket)
    },
  }
}
