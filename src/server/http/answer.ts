import type { Operation } from '../../contract/operation.ts'
import { identify, touchCredential } from '../access/identify.ts'
import type { Principal } from '../access/principal.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { type Call, type Route, requireAdmin, requireRight } from './handler.ts'
import { once, readIdempotencyKey } from './idempotency.ts'
import { type Reply, successOf } from './reply.ts'
import { type RequestBody, readJsonBody, readNoBody } from './request-body.ts'
import {
  type AppOptions,
  count,
  problemReply,
  type RateLimits,
  type RequestContext,
  tooMany,
} from './request-context.ts'
import { parseQuery } from './validation.ts'

/** Answers one operation: who, what, then the handler. A read is one snapshot, a write is one transaction. */
export async function answer(
  academy: AppOptions,
  limits: RateLimits,
  { operation, handle, prepare }: Route,
  request: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { raw } = request
  const { database } = academy
  const succeed = (call: Call) =>
    successOf(operation, handle(call), request, raw.headers.get('if-none-match'))
  if (operation.method === 'GET') {
    try {
      return database.snapshot(() => succeed(admit(academy, limits, operation, request, params)))
    } finally {
      touch(academy, request)
    }
  }
  const admitted = admit(academy, limits, operation, request, params)
  touch(academy, request)
  const body = await (operation.body ? readJsonBody(raw, operation.merge === true) : readNoBody(raw))
  const given = { ...admitted, rawBody: body.value }
  const call = prepare ? { ...given, prepared: await prepare(given) } : given
  return database.write(() => {
    const allowed = stillAllowed(academy, call, request)
    return repeatable(academy, operation, request, body, () => succeed(allowed))
  })
}

/** The call that a request is, once it is known who may make it. */
function admit(
  academy: AppOptions,
  limits: RateLimits,
  operation: Operation,
  request: RequestContext,
  params: Readonly<Record<string, string>>,
): Call {
  const { raw, search, now } = request
  if (operation.scope === null) count(limits, request, request.address)
  else authorise(academy, limits, operation, request)
  const query = parseQuery(operation.query, search)
  requireElevation(operation, request, query)
  return {
    operation,
    params,
    query,
    principal: request.principal,
    database: academy.database,
    now: now.toISOString(),
    newId: academy.newId,
    ifMatch: raw.headers.get('if-match'),
    accept: raw.headers.get('accept'),
    signIns: limits.signIns,
    rawBody: undefined,
    prepared: undefined,
    // A public operation has no principal, and never looks at it.
  } as unknown as Call
}

function touch({ database }: AppOptions, { principal, touch, now }: RequestContext): void {
  if (!principal || !touch) return
  try {
    touchCredential(database, principal, now)
  } catch {
    // On a full disk, or while another program writes, reading goes on; a write fails by itself.
  }
}

function authorise(
  academy: AppOptions,
  limits: RateLimits,
  operation: Operation,
  request: RequestContext,
): void {
  const principal = academy.principal ?? credentialOf(academy, limits, request)
  request.principal = principal
  count(limits, request, principal.credential)
  requireRight(principal, operation)
}

/** The call by whoever makes it at this moment: while its body was on its way, their access may have ended. */
function stillAllowed(academy: AppOptions, call: Call, { raw, now }: RequestContext): Call {
  const { operation, query } = call
  if (academy.principal || operation.scope === null) return call
  const { principal } = identify(academy.database, raw.headers.get('authorization'), now)
  requireRight(principal, operation)
  requireElevation(operation, { principal }, query)
  return { ...call, principal }
}

function credentialOf({ database }: AppOptions, limits: RateLimits, request: RequestContext): Principal {
  try {
    const identity = identify(database, request.raw.headers.get('authorization'), request.now)
    request.touch = identity.touch
    return identity.principal
  } catch (error) {
    count(limits, request, request.address)
    if (!(error instanceof ProblemError) || error.code !== 'invalid_token') throw error
    // Right credentials from the same address go on working: nobody can lock another out by failing.
    const { allowed, resetSeconds } = limits.failures.take(request.address)
    throw allowed ? error : tooMany('failed credentials', resetSeconds)
  }
}

function requireElevation(
  { elevatedBy }: Operation,
  { principal }: Pick<RequestContext, 'principal'>,
  query: object | undefined,
): void {
  if (!principal || !elevatedBy || (query as Record<string, unknown> | undefined)?.[elevatedBy] !== true)
    return
  requireAdmin({ principal }, `${elevatedBy}=true`)
}

/** Inside the transaction: a POST with an Idempotency-Key is done once and answered the same ever after. */
function repeatable(
  { database }: AppOptions,
  operation: Operation,
  request: RequestContext,
  { bytes }: RequestBody,
  succeed: () => Reply,
): Reply {
  const { raw, path, now, principal } = request
  const header = operation.method === 'POST' ? raw.headers.get('idempotency-key') : null
  if (header === null || !principal) return succeed()
  const key = readIdempotencyKey(header)
  const work = () => {
    try {
      return database.savepoint(succeed)
    } catch (error) {
      // A refusal is an answer to keep too; what it did so far is undone.
      if (error instanceof ProblemError) return problemReply(error, request)
      throw error
    }
  }
  return once(
    database,
    { userId: principal.userId, method: raw.method, path, key, bytes, now },
    work,
    (reply) => withoutSecret(operation, reply),
  )
}

function withoutSecret({ secret }: Operation, reply: Reply): Reply {
  if (!secret || typeof reply.body !== 'string' || reply.status >= 400) return reply
  return { ...reply, body: JSON.stringify({ ...(JSON.parse(reply.body) as object), [secret]: null }) }
}
