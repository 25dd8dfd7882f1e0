import { timeText } from '../../codec/time-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Identity, identify, touchCredential } from '../access/identify.ts'
import type { Principal } from '../access/principal.ts'
import { type Database, NotMet, type Transaction } from '../database/database.ts'
import { removeTraces } from '../database/traces.ts'
import { ProblemError, tooMany } from '../problem/problem-error.ts'
import { type Call, elevationsOf, type Route, requireElevation, requireRight } from './handler.ts'
import { answeredBefore, type IdempotentRequest, readIdempotencyKey } from './idempotency.ts'
import { Preconditions } from './precondition.ts'
import { handlingOf, withHandling } from './preference.ts'
import type { Refused } from './refusal.ts'
import { isToldOf } from './refusal-bounds.ts'
import { type Reply, successOf } from './reply.ts'
import { type RequestBody, readJsonBody, readNoBody } from './request-body.ts'
import {
  type Answered,
  type AppOptions,
  attempt,
  bucketOf,
  count,
  hasLeft,
  type LongReads,
  originOf,
  type RateLimits,
  type RequestContext,
} from './request-context.ts'
import { writeOnce } from './write-once.ts'

/** Answers one operation: who, what, then the handler. A read is one snapshot, a write is one transaction. */
export async function answer(
  app: AppOptions,
  limits: RateLimits,
  route: Route,
  context: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Answered> {
  const { operation, handle, prepare, isLong = false, isApart = false } = route
  const { raw } = context
  const { database } = app
  let caller: Identity | undefined

  const succeed = async (call: Call) =>
    successOf(operation, await handle(call), context, call.preconditions, app.tagged)
  const admitted = (view: Database) => admit(app, view, limits, route, context, params, caller?.principal)

  async function read(): Promise<Reply> {
    caller = await callerOf(app, limits, operation, context)
    try {
      if (isApart) return await succeed(admitted(database))
      return await database.read((view) => succeed(admitted(view)))
    } finally {
      if (caller?.touch) await touch(app, context, caller)
    }
  }

  async function readAside(longReads: LongReads): Promise<Reply> {
    caller = await callerOf(app, limits, operation, context)
    const { principal } = admitted(database)
    if (caller?.touch) await touch(app, context, caller)
    return longReads.answer(context, principal.userId, principal)
  }

  async function write(): Promise<Reply> {
    caller = await callerOf(app, limits, operation, context)
    const call = admitted(database)
    if (caller?.touch) await touch(app, context, caller)
    const body = await (operation.body ? readJsonBody(raw, operation.merge === true) : readNoBody(raw))
    const given = { ...call, rawBody: body.value }
    const request = repeatableOf(operation, context, caller?.principal, body)
    const before =
      prepare &&
      request &&
      (await database.read((view) => answeredTo(app, within(given, view), context, request)))
    if (before) return before
    const ready = prepare ? { ...given, prepared: await prepare(given) } : given
    const change = (allowedIn: (transaction: Transaction) => Call | Promise<Call>) => {
      const begin = async (transaction: Transaction) => {
        const allowed = await allowedIn(transaction)
        return () => succeed(allowed)
      }
      if (request) return writeOnce(database, context, operation, request, begin)
      return database.write(async (transaction) => (await begin(transaction))())
    }
    const anew = () => change((transaction) => stillAllowed(app, within(ready, transaction), context))
    const proof = caller?.proof
    // Nearly always the credential is what it was, and that is found out on the way.
    const reply = await (proof
      ? change((transaction) => {
          transaction.must(proof)
          return within(ready, transaction)
        }).catch((error: unknown) => (error instanceof NotMet ? anew() : Promise.reject(error)))
      : anew())
    if (elevationsOf(operation, call.query).includes('erase')) await removeTraces(database)
    // What fails here is done by the next one who looks for it.
    await route.finish?.({ ...app, requestId: context.requestId }).catch(() => {})
    return reply
  }

  const { longReads } = app
  const work = operation.method !== 'GET' ? write : isLong && longReads ? () => readAside(longReads) : read
  const outcome = await attempt(context, work)
  const { code } = outcome.reply
  // In this process nobody is refused for who they are.
  if (!app.principal && isToldOf(code)) {
    const { recordRefusedRequest } = await import('./refusal.ts')
    await recordRefusedRequest(app, limits, context, operation.id, code, caller?.principal)
  }
  const reply = withHandling(outcome.reply, handlingOf(operation, raw.headers))
  return { ...outcome, reply, principal: caller?.principal, bucket: bucketOf(caller?.principal, context) }
}

/** The call as a part of this transaction. */
function within(call: Call, database: Transaction): Call {
  return { ...call, database }
}

/** The call that a request is, once it is known who may make it. */
function admit(
  app: AppOptions,
  database: Database,
  limits: RateLimits,
  { operation, queryOf }: Route,
  context: RequestContext,
  params: Readonly<Record<string, string>>,
  principal: Principal | undefined,
): Call {
  const { raw, search, now } = context
  if (!operation.uncounted) count(limits, bucketOf(principal, context))
  if (principal) requireRight(principal, operation)
  const query = queryOf(search)
  requireElevation(operation, principal, query)
  return {
    operation,
    params,
    query,
    principal,
    origin: originOf(context),
    database,
    now: timeText(now),
    newId: app.newId,
    preconditions: new Preconditions(raw.headers),
    lenient: handlingOf(operation, raw.headers) === 'lenient',
    accept: raw.headers['accept'] ?? null,
    signIns: limits.signIns,
    passwords: limits.passwords,
    tellRefusal: async (refused: Refused) =>
      (await import('./refusal.ts')).recordRefusal(app, limits, context, refused),
    sealing: app.sealing,
    outgoing: app.outgoing,
    hasLeft: () => hasLeft(context),
    rawBody: undefined,
    prepared: undefined,
    // A public operation has no principal, and never looks at it.
  } as unknown as Call
}

async function touch(
  { database }: AppOptions,
  { now }: RequestContext,
  { principal }: Identity,
): Promise<void> {
  try {
    await touchCredential(database, principal, now)
  } catch {
    // On a full disk, or while another program writes, reading goes on; a write fails by itself.
  }
}

/** The call by whoever makes it at this moment: while its body was on its way, their access may have ended. */
async function stillAllowed(app: AppOptions, call: Call, { raw, now }: RequestContext): Promise<Call> {
  const { operation, query } = call
  if (app.principal || operation.scope === null) return call
  const { principal } = await identify(call.database, raw.headers['authorization'] ?? null, now)
  requireRight(principal, operation)
  requireElevation(operation, principal, query)
  return { ...call, principal }
}

/** Who asks; nobody where no credential is asked for. Throws 401 and 403, and 429 after too many failures. */
async function callerOf(
  { database, principal }: AppOptions,
  limits: RateLimits,
  operation: Operation,
  { raw, now, address }: RequestContext,
): Promise<Identity | undefined> {
  if (operation.scope === null) return undefined
  if (principal) return { principal, touch: false }
  try {
    return await identify(database, raw.headers['authorization'] ?? null, now, limits.credentials)
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== 'invalid_token') {
      count(limits, { kind: 'anonymous', name: address })
      throw error
    }
    // Right credentials from the same address go on working: nobody can lock another out by failing.
    const { allowed, resetSeconds } = limits.failures.take(address)
    throw allowed ? error : tooMany('failed credentials', resetSeconds)
  }
}

/** What marks a request as one that may come again: a POST with an Idempotency-Key. Throws 400. */
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

/** What a repeated request was answered, for whoever may still ask: its slow work is not to be done again. */
async function answeredTo(
  app: AppOptions,
  call: Call,
  context: RequestContext,
  request: IdempotentRequest,
): Promise<Reply | undefined> {
  await stillAllowed(app, call, context)
  return answeredBefore(call.database, request)
}
