import type { HttpRequest } from '../../contract/http.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import type { Origin, Principal } from '../access/principal.ts'
import type { Sealing } from '../access/sealing.ts'
import type { Store } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { LogEntry } from './log.ts'
import type { Reply } from './reply.ts'

/** Maximum length of path and query. */
export const maxUrlBytes = 8 * 1024

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
   * False to omit entity tags of answers without a version: each is a hash of the complete answer.
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
export function isClientGone({ raw }: Pick<RequestContext, 'raw'>): boolean {
  return raw.signal?.aborted === true
}

export const everyHeader = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const
