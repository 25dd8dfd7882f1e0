import type { Principal } from '../access/principal.ts'
import type { Database } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import { ProblemError, problemOf } from '../problem/problem-error.ts'
import type { LogEntry } from './log.ts'
import { type Allowance, type RateLimit, rateLimit } from './rate-limit.ts'
import type { Reply } from './reply.ts'
import { faultOf } from './unexpected-fault.ts'

const maximumUrlBytes = 8 * 1024
const failedCredentialsPerMinute = 20
const signInsPerMinute = 10

/** What an app is made from. */
export interface AppOptions {
  readonly database: Database
  readonly now: () => Date
  readonly newId: (prefix: IdPrefix) => string
  /** Requests a minute for each credential; 0 for no limit. */
  readonly perMinute: number
  /**
   * Who every caller is, whatever the request says: for an academy inside this process only. An app that is served
   * on a socket is made without it.
   */
  readonly principal?: Principal
  /** The base address by which others reach it; absent where that is the Host of each request. */
  readonly publicUrl?: string | undefined
  /** Makes the answer that goes over the boundary: a web Response, or its like in this process. */
  readonly respond: (reply: Reply, env: unknown) => Response
  /** Where a request came from, by what the socket adapter says of it. */
  readonly addressOf: (env: unknown) => string
  readonly log: (entry: LogEntry) => void
  /** True while nothing new is to be begun. */
  readonly isClosing?: () => boolean
}

/** What counts requests: per credential, failed credentials per address, attempts to sign in per account. */
export interface RateLimits {
  readonly requests: RateLimit | undefined
  readonly failures: RateLimit
  readonly signIns: RateLimit
}

/** One request while it is being answered. */
export interface RequestContext {
  readonly raw: Request
  readonly requestId: string
  readonly path: string
  /** What follows the first question mark of the target; it may have more of them (RFC 3986 §3.4). */
  readonly search: string
  readonly address: string
  readonly now: Date
  principal?: Principal
  /** The time at which the key was last used is to be kept anew. */
  touch?: boolean
  allowance?: Allowance
}

/** What every response carries, whatever it answers (api.md §1, "Security"). */
export const everyHeader = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** The counters of one app. */
export function rateLimitsOf({ perMinute, now }: AppOptions): RateLimits {
  return {
    requests: perMinute > 0 ? rateLimit(perMinute, now) : undefined,
    failures: rateLimit(failedCredentialsPerMinute, now),
    signIns: rateLimit(signInsPerMinute, now),
  }
}

/** Answers one request: what every response carries, faults as problem details, one log entry. */
export async function exchange(
  academy: AppOptions,
  limits: RateLimits,
  raw: Request,
  env: unknown,
  work: (request: RequestContext) => Reply | Promise<Reply>,
  refuse: (fault: ProblemError, request: RequestContext) => Reply = problemReply,
): Promise<Response> {
  const startedMs = performance.now()
  const target = raw.url.slice(raw.url.indexOf('/', 8))
  const [path = ''] = target.split('?', 1)
  const request: RequestContext = {
    raw,
    requestId: academy.newId('req'),
    path,
    search: target.slice(path.length + 1),
    address: academy.addressOf(env),
    now: academy.now(),
  }
  let reply: Reply
  let cause: unknown
  try {
    if (academy.isClosing?.()) {
      throw new ProblemError('unavailable', 'The server is stopping.', { headers: { 'retry-after': '5' } })
    }
    if (target.length > maximumUrlBytes) {
      throw new ProblemError('uri_too_long', `The path and query have more than ${maximumUrlBytes} bytes.`)
    }
    reply = await work(request)
  } catch (error) {
    const fault = faultOf(error)
    cause = fault.cause
    reply = refuse(fault, request)
  }
  const headers = { ...everyHeader, ...reply.headers, 'x-request-id': request.requestId }
  const response = academy.respond(
    {
      ...reply,
      headers: { ...headers, ...limitHeaders(limits, request) },
      // A stream that nobody reads would hold its snapshot for good.
      body: raw.method === 'HEAD' ? null : reply.body,
    },
    env,
  )
  academy.log({
    time: request.now.toISOString(),
    requestId: request.requestId,
    method: raw.method,
    path,
    status: reply.status,
    durationMs: performance.now() - startedMs,
    userId: request.principal?.userId,
    credential: request.principal?.credential,
    code: reply.code,
    cause,
  })
  return response
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

/** Takes one request from the bucket of a credential, or of an address where there is none; throws 429. */
export function count({ requests }: RateLimits, request: RequestContext, name: string): void {
  if (!requests) return
  const allowance = requests.take(name)
  request.allowance = allowance
  if (!allowance.allowed) throw tooMany('requests', allowance.resetSeconds)
}

/** 429 with the time after which to try again. */
export function tooMany(what: string, resetSeconds: number): ProblemError {
  const wait = Math.max(1, resetSeconds)
  return new ProblemError('rate_limited', `Too many ${what}; try again in ${wait} s.`, {
    headers: { 'retry-after': String(wait) },
  })
}

/** draft-ietf-httpapi-ratelimit-headers-10 */
function limitHeaders(
  { requests }: RateLimits,
  { allowance, address }: RequestContext,
): Record<string, string> {
  if (!requests) return {}
  const { remaining, resetSeconds } = allowance ?? requests.peek(address)
  return {
    'ratelimit-policy': `"default";q=${requests.perMinute};w=60`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  }
}
