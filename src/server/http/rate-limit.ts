import { setNewest } from '../../codec/bounded-map.ts'

interface Allowance {
  readonly allowed: boolean
  /** Whole requests left. */
  readonly remaining: number
  /** Seconds until one more request if none is left, else until the bucket is full. */
  readonly resetSeconds: number
}

/** They refill evenly. */
export interface TokenBuckets {
  /** By default one; none if the bucket has fewer. */
  take(name: string, tokens?: number): Allowance
  /** Like `take`, but leaves the tokens. */
  peek(name: string, tokens?: number): Allowance
}

export interface RateLimit extends TokenBuckets {
  readonly perMinute: number
}

interface Bucket {
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
export function createTokenBuckets(capacity: number, refillMs: number, now: () => Date): TokenBuckets {
  const buckets = createLruCache<Bucket>(maxBuckets)
  const perMs = capacity / refillMs

  function bucketOf(name: string): Bucket {
    const atMs = now().getTime()
    const bucket = buckets.use(name, () => ({ tokens: capacity, atMs }))
    bucket.tokens = Math.min(capacity, bucket.tokens + Math.max(0, atMs - bucket.atMs) * perMs)
    bucket.atMs = atMs
    return bucket
  }

  function allowanceOf(allowed: boolean, { tokens }: Bucket, wanted: number): Allowance {
    const missing = tokens < wanted ? wanted - tokens : capacity - tokens
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

/** Evicts the least recently used entry. */
interface LruCache<Value> {
  use(name: string, make: () => Value): Value
}

/** Relies on the insertion order of Map. */
function createLruCache<Value>(maxEntries: number): LruCache<Value> {
  const values = new Map<string, Value>()
  let newest: string | undefined

  return {
    use(name, make) {
      const known = values.get(name)
      // Usually the same name as before.
      if (known !== undefined && name === newest) return known
      const value = known ?? make()
      setNewest(values, name, value, maxEntries)
      newest = name
      return value
    },
  }
}
