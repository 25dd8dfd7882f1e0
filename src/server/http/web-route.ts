import type { Actor } from '../changes/writing.ts'
import type { Database, Transaction } from '../database/database.ts'
import { type Bucket, countRequest, isRecordedCode, type RateLimits } from './limits.ts'
import { type Answered, type Refuse, refusalOf } from './problem-reply.ts'
import type { Reply } from './reply.ts'
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
  /** Path of the issuer, which precedes every path in links; usually empty. */
  readonly base: string
}

export function withTransaction<V extends Visit>(
  visit: V,
  database: Transaction,
): V & { readonly database: Transaction } {
  return { ...visit, database }
}

export interface Handled {
  /** If it is known before the response. */
  readonly principal?: Actor | undefined
  /** Absent for that of the client's network. */
  readonly bucket?: Bucket | undefined
  /** After the request has been counted. */
  readonly reply: () => Reply | Promise<Reply>
}

/** No operation of the API: a page, a part of OAuth, the inbox of deliveries, or OneRoster. */
export interface WebRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `:name` for each parameter. */
  readonly path: `/${string}`
  /** The handler counts its requests itself. */
  readonly countsItself?: true
  readonly refuse: Refuse
  readonly handle: (visit: Visit) => Handled | Promise<Handled>
}

/** Without a trailing slash. */
export function issuerOf({ publicUrl }: AppOptions, { raw }: Pick<RequestContext, 'raw'>): string {
  return publicUrl?.replace(/\/+$/, '') ?? new URL(raw.url).origin
}

/** Counts the request by user or by network. */
export async function answerWebRoute(
  academy: AppOptions,
  limits: RateLimits,
  { path, handle, refuse, countsItself }: WebRoute,
  request: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Answered> {
  const { database } = academy
  let principal: Actor | undefined
  let bucket: Bucket = { kind: 'signIn', name: request.address }
  let outcome: Answered
  try {
    const query = new URLSearchParams(request.search)
    const issuer = issuerOf(academy, request)
    const base = new URL(issuer).pathname.replace(/\/$/, '')
    const handled = await handle({ academy, database, limits, request, params, query, issuer, base })
    principal = handled.principal
    bucket = handled.bucket ?? bucket
    if (!countsItself) countRequest(limits, bucket)
    const reply = await handled.reply()
    outcome = { reply, cause: reply.cause }
  } catch (error) {
    outcome = refusalOf(request, error, refuse)
  }
  const { code } = outcome.reply
  if (principal && isRecordedCode(code)) {
    const { recordRefusedRequest } = await import('./record-refusal.ts')
    await recordRefusedRequest(academy, limits, request, `${request.raw.method} ${path}`, code, principal)
  }
  return { ...outcome, principal: outcome.reply.principal ?? principal, bucket }
}
