import { timeText } from '../../codec/time-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Identity, identify, touchCredential } from '../access/identify.ts'
import type { Principal } from '../access/principal.ts'
import { changeOf, storeCounts } from '../changes/writing.ts'
import { type Database, NotMet, type Transaction } from '../database/database.ts'
import { ProblemError } from '../problem-error.ts'
import { type Call, elevationsOf, type Route, requireElevation, requireRight } from './handler.ts'
import { findStoredReply, type IdempotentRequest, readIdempotencyKey, writeOnce } from './idempotency.ts'
import { bucketOf, countFailure, countRequest, isRecordedCode, type RateLimits } from './limits.ts'
import { Preconditions } from './precondition.ts'
import type { Refused } from './record-refusal.ts'
import { handlingOf, type Reply, refusalOf, successOf, withHandling } from './reply.ts'
import { type RequestBody, readJsonBody, readNoBody } from './request-body.ts'
import {
  type AppOptions,
  isClientGone,
  type LongReads,
  originOf,
  type RequestContext,
} from './request-context.ts'

interface OperationRequest {
  readonly app: AppOptions
  readonly limits: RateLimits
  readonly route: Route
  readonly context: RequestContext
  readonly params: Readonly<Record<string, string>>
}

export async function answer(
  app: AppOptions,
  limits: RateLimits,
  route: Route,
  context: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Reply> {
  const request = { app, limits, route, context, params }
  const { operation } = route
  let caller: Identity | undefined
  let reply: Reply
  try {
    caller = await identifyCaller(request)
    reply = await replyTo(request, caller)
  } catch (error) {
    reply = refusalOf(context, error)
  }
  const principal = caller?.principal
  // In an academy in this process no caller is refused for missing rights.
  if (!app.principal && isRecordedCode(reply.code)) {
    const { recordRefusedRequest } = await import('./record-refusal.ts')
    await recordRefusedRequest(app, limits, context, operation.id, reply.code, principal)
  }
  const handling = handlingOf(operation, context.raw.headers)
  return { ...withHandling(reply, handling), principal, bucket: bucketOf(principal, context) }
}

/** Undefined for an operation that anyone may call. Throws 401, and 429 after too many of them. */
async function identifyCaller({
  app,
  limits,
  route,
  context,
}: OperationRequest): Promise<Identity | undefined> {
  if (route.operation.scope === null) return undefined
  if (app.principal) return { principal: app.principal, touch: false }
  const authorization = context.raw.headers['authorization'] ?? null
  try {
    return await identify(app.database, authorization, context.now, limits.credentials)
  } catch (error) {
    const isWrong = error instanceof ProblemError && error.code === 'invalid_token'
    // Valid credentials from the same address keep working: failures cannot lock other callers out.
    if (isWrong) countFailure(limits, context.address)
    else countRequest(limits, bucketOf(undefined, context))
    throw error
  }
}

function replyTo(request: OperationRequest, caller: Identity | undefined): Promise<Reply> {
  const { app, route } = request
  if (route.operation.method !== 'GET') return write(request, caller)
  return route.isLong && app.longReads ? readInThread(request, caller, app.longReads) : read(request, caller)
}

async function read(request: OperationRequest, caller: Identity | undefined): Promise<Reply> {
  const { database } = request.app
  try {
    if (request.route.isUntransacted) return await handled(request, admit(request, database, caller))
    return await database.read((view) => handled(request, admit(request, view, caller)))
  } finally {
    if (caller?.touch) await touch(request, caller)
  }
}

async function readInThread(
  request: OperationRequest,
  caller: Identity | undefined,
  longReads: LongReads,
): Promise<Reply> {
  const { principal } = admit(request, request.app.database, caller)
  await touch(request, caller)
  return longReads.answer(request.context, principal.userId, principal)
}

async function write(request: OperationRequest, caller: Identity | undefined): Promise<Reply> {
  const { app, route, context } = request
  const { operation, prepare } = route
  const call = admit(request, app.database, caller)
  await touch(request, caller)
  const { raw } = context
  const body = await (operation.body ? readJsonBody(raw, operation.merge === true) : readNoBody(raw))
  const repeatable = repeatableOf(operation, context, caller?.principal, body)
  let ready = { ...call, rawBody: body.value }
  if (prepare) {
    const before = repeatable && (await answeredTo(app, ready, context, repeatable))
    if (before) return before
    ready = { ...ready, prepared: await prepare(ready) }
  }
  const reply = await commit(request, ready, caller, repeatable)
  if (elevationsOf(operation, call.query).includes('erase')) {
    const { removeTraces } = await import('../database/sweep.ts')
    await removeTraces(app.database)
  }
  return reply
}

/** The caller's access must be unchanged since the request arrived. */
async function commit(
  request: OperationRequest,
  call: Call,
  caller: Identity | undefined,
  repeatable: IdempotentRequest | undefined,
): Promise<Reply> {
  const { app, context } = request
  const proof = caller?.proof
  if (proof) {
    // The credential is rarely changed, and a condition in the transaction is the cheapest check.
    try {
      return await writeAs(request, repeatable, async (transaction) => {
        transaction.requireRow(proof)
        return withTransaction(call, transaction)
      })
    } catch (error) {
      if (!(error instanceof NotMet)) throw error
    }
  }
  return writeAs(request, repeatable, (transaction) =>
    recheckAccess(app, withTransaction(call, transaction), context),
  )
}

function writeAs(
  request: OperationRequest,
  repeatable: IdempotentRequest | undefined,
  allowedIn: (transaction: Transaction) => Promise<Call>,
): Promise<Reply> {
  const { app, route, context } = request
  const work = (call: Call) => handled(request, call)
  if (repeatable) return writeOnce(app.database, context, route.operation, repeatable, allowedIn, work)
  return app.database.write(async (transaction) => work(await allowedIn(transaction)))
}

async function handled({ app, route, context }: OperationRequest, call: Call): Promise<Reply> {
  const { operation, handle } = route
  const change = operation.method === 'GET' ? undefined : await changeOf(call, context.raw.headers)
  const answer = await handle(change ? { ...call, change } : call)
  if (change) storeCounts(call, change)
  return successOf(operation, answer, context, call.preconditions, app.tagged)
}

function withTransaction(call: Call, database: Transaction): Call {
  return { ...call, database }
}

function admit(
  { app, limits, route, context, params }: OperationRequest,
  database: Database,
  caller: Identity | undefined,
): Call {
  const { operation, queryOf } = route
  const { raw, search, now } = context
  const principal = caller?.principal
  if (!operation.uncounted) countRequest(limits, bucketOf(principal, context))
  if (principal) requireRight(principal, operation)
  const query = queryOf(search)
  requireElevation(operation, principal, query)
  return {
    operation,
    params,
    query,
    // A public operation has no principal and does not read it.
    principal: principal as Principal,
    origin: originOf(context),
    // A read only queries its snapshot.
    database: database as Transaction,
    now: timeText(now),
    newId: app.newId,
    preconditions: new Preconditions(raw.headers),
    lenient: handlingOf(operation, raw.headers) === 'lenient',
    accept: raw.headers['accept'] ?? null,
    signIns: limits.signIns,
    passwords: limits.passwords,
    recordRefusal: async (refused: Refused) =>
      (await import('./record-refusal.ts')).recordRefusal(app, limits, context, refused),
    sealing: app.sealing,
    outgoing: app.outgoing,
    isClientGone: () => isClientGone(context),
    rawBody: undefined,
    prepared: undefined,
  }
}

/** Does nothing if that was done recently. */
async function touch({ app, context }: OperationRequest, caller: Identity | undefined): Promise<void> {
  if (!caller?.touch) return
  try {
    await touchCredential(app.database, caller.principal, context.now)
  } catch {
    // On a full disk, or during another program's write, reads go on; a write fails by itself.
  }
}

/** Returns the call with the caller's current rights, which may have changed while the body arrived. */
async function recheckAccess(app: AppOptions, call: Call, { raw, now }: RequestContext): Promise<Call> {
  const { operation, query } = call
  if (app.principal || operation.scope === null) return call
  const { principal } = await identify(call.database, raw.headers['authorization'] ?? null, now)
  requireRight(principal, operation)
  requireElevation(operation, principal, query)
  return { ...call, principal }
}

/** Undefined without an Idempotency-Key, and for other methods than POST. Throws 400. */
function repeatableOf(
  operation: Operation,
  { raw, path, now }: RequestContext,
  principal: Principal | undefined,
  { bytes }: RequestBody,
): IdempotentRequest | undefined {
  const header = operation.method === 'POST' ? raw.headers['idempotency-key'] : undefined
  if (header === undefined || !principal) return undefined
  return { userId: principal.userId, method: raw.method, path, key: readIdempotencyKey(header), bytes, now }
}

/** Returns the stored reply to the same key if the caller still has access. Called before slow work is repeated. */
function answeredTo(
  app: AppOptions,
  call: Call,
  context: RequestContext,
  request: IdempotentRequest,
): Promise<Reply | undefined> {
  return app.database.read(async (view) => {
    await recheckAccess(app, withTransaction(call, view), context)
    return findStoredReply(view, request)
  })
}
