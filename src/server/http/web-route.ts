import type { Actor } from '../changes/writing.ts'
import type { Database, Transaction } from '../database/database.ts'
import { countRequest, isRecordedCode, type RateLimits } from './limits.ts'
import { type Bucket, type Refuse, type Reply, refusalOf } from './reply.ts'
import type { AppOptions, RequestContext } from './request-context.ts'

export interface Visit {
  readonly academy: AppOptions
  /** The academy's database, or the transaction of the request. */
  readonly database: Database
  readonly limits: RateLimits
  readonly request: RequestContext
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Base URL that the client uses, without a trailing slash: the issuer of RFC 8414 §2. */
  readonly issuer: string
  /** Precedes every path in links; usually empty. */
  readonly base: string
  /** Counts the request for the caller, by default for the network, and names them in the log. Throws 429. */
  readonly countAs: (bucket?: Bucket, principal?: Actor) => void
}

export function withTransaction<V extends Visit>(
  visit: V,
  database: Transaction,
): V & { readonly database: Transaction } {
  return { ...visit, database }
}

/** No operation of the API: a page, a part of OAuth, the inbox of deliveries, or OneRoster. */
export interface WebRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `:name` for each parameter. */
  readonly path: `/${string}`
  /** The handler counts its requests itself; default: by network. */
  readonly countsItself?: true
  /** Default: problem details. */
  readonly refuse?: Refuse
  readonly handle: (visit: Visit) => Reply | Promise<Reply>
}

/** Without a trailing slash. */
export function issuerOf({ publicUrl }: AppOptions, { raw }: Pick<RequestContext, 'raw'>): string {
  return publicUrl?.replace(/\/+$/, '') ?? new URL(raw.url).origin
}

export async function answerWebRoute(
  academy: AppOptions,
  limits: RateLimits,
  { path, handle, refuse, countsItself }: WebRoute,
  request: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { database } = academy
  const network: Bucket = { kind: 'signIn', name: request.address }
  let caller: Pick<Reply, 'bucket' | 'principal'> = { bucket: network }
  const countAs = (bucket = network, principal?: Actor) => {
    caller = { bucket, principal }
    countRequest(limits, bucket)
  }
  let reply: Reply
  try {
    const query = new URLSearchParams(request.search)
    const issuer = issuerOf(academy, request)
    const base = new URL(issuer).pathname.replace(/\/$/, '')
    if (!countsItself) countAs()
    reply = await handle({ academy, database, limits, request, params, query, issuer, base, countAs })
  } catch (error) {
    reply = refusalOf(request, error, refuse)
  }
  const { bucket, principal } = caller
  if (principal && isRecordedCode(reply.code)) {
    const { recordRefusedRequest } = await import('./record-refusal.ts')
    const operation = `${request.raw.method} ${path}`
    await recordRefusedRequest(academy, limits, request, operation, reply.code, principal)
  }
  return { ...reply, bucket, principal: reply.principal ?? principal }
}
