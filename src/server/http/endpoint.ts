import type { Principal } from '../access/principal.ts'
import type { Database, Transaction } from '../database/database.ts'
import { isToldOf } from './refusal-bounds.ts'
import type { Reply } from './reply.ts'
import {
  type Answered,
  type AppOptions,
  attempt,
  type Bucket,
  count,
  type RateLimits,
  type Refuse,
  type RequestContext,
} from './request-context.ts'

/** One request to what is not an operation of the API: a page, or a part of OAuth. */
export interface EndpointRequest {
  readonly academy: AppOptions
  /** Where it is looked up: the academy's own, or the transaction that the visit is in. */
  readonly database: Database
  readonly limits: RateLimits
  readonly request: RequestContext
  /** What stands in the place of each `:name` of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The base address as the caller knows it, without a final slash: the issuer of RFC 8414 §2. */
  readonly issuer: string
  /** What comes before every path of ours in a link: the path of the issuer, mostly empty. */
  readonly base: string
}

/** A visit, or what is more of it, as a part of this transaction. */
export function within<Visit extends EndpointRequest>(
  visit: Visit,
  database: Transaction,
): Visit & { readonly database: Transaction } {
  return { ...visit, database }
}

/** What an endpoint makes of a request. */
export interface Handled {
  /** Who asks, where that is known before they are answered. */
  readonly principal?: Principal | undefined
  /** Whose requests it is counted with, where that is not the network that it came from. */
  readonly bucket?: Bucket | undefined
  /** Does what is asked for, once the request has been counted. */
  readonly reply: () => Reply | Promise<Reply>
}

/** What answers at a path that is not an operation of the API. */
export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** Path-absolute, with `:name` for each parameter. */
  readonly path: `/${string}`
  /** True where the endpoint counts its requests by itself. */
  readonly countsItself?: true
  /** How a thrown fault is told there. */
  readonly refuse: Refuse
  readonly handle: (visit: EndpointRequest) => Handled | Promise<Handled>
}

/** The base address as the caller of a request knows it, without a final slash. */
export function issuerOf({ publicUrl }: AppOptions, { raw }: Pick<RequestContext, 'raw'>): string {
  return publicUrl?.replace(/\/+$/, '') ?? new URL(raw.url).origin
}

/** Answers one request to an endpoint, counted with those of whoever is signed in or of the network it came from. */
export async function answerEndpoint(
  academy: AppOptions,
  limits: RateLimits,
  { path, handle, refuse, countsItself }: Endpoint,
  request: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Answered> {
  let principal: Principal | undefined
  let bucket: Bucket = { kind: 'signIn', name: request.address }
  const work = async () => {
    const issuer = issuerOf(academy, request)
    const query = new URLSearchParams(request.search)
    const base = new URL(issuer).pathname.replace(/\/$/, '')
    const { database } = academy
    const handled = await handle({ academy, database, limits, request, params, query, issuer, base })
    principal = handled.principal
    bucket = handled.bucket ?? bucket
    if (!countsItself) count(limits, bucket)
    return handled.reply()
  }
  const outcome = await attempt(request, work, refuse)
  const { code } = outcome.reply
  if (principal && isToldOf(code)) {
    const { recordRefusedRequest } = await import('./refusal.ts')
    await recordRefusedRequest(academy, limits, request, `${request.raw.method} ${path}`, code, principal)
  }
  return { ...outcome, principal: outcome.reply.principal ?? principal, bucket }
}
