import type * as z from 'zod'
import type { Answer, Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'
import type { Writing } from '../changes/writing.ts'
import { type Call, type Route, requireRight } from '../http/handler.ts'
import { unconditional } from '../http/precondition.ts'
import { type Refused, recordRefusal } from '../http/record-refusal.ts'
import { Constant, Streamed, Written } from '../http/reply.ts'
import { isClientGone, originOf } from '../http/request-context.ts'
import { parseQuery } from '../http/validation.ts'
import { type Visit, withTransaction } from '../http/web-route.ts'
import {
  principalOf,
  type SignedIn,
  type SignedInVisit,
  stillSignedIn,
  type Visitor,
} from '../pages/browser-session.ts'
import { ProblemError } from '../problem-error.ts'

export interface SignedInRequest extends SignedInVisit {
  /** Has all scopes of the user's role: a browser session is not narrowed. */
  readonly principal: Principal
}

type WritingRequest = SignedInRequest & { readonly database: Writing['database'] }

export function writingOf({ database, academy, principal, request }: WritingRequest): Writing {
  const { newId } = academy
  return { database, now: request.now.toISOString(), newId, principal, origin: originOf(request) }
}

/** As text, like that of an HTTP request. */
interface Question {
  readonly params?: Readonly<Record<string, string>>
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

export function signedInRequestOf(visit: Visit, visitor: Visitor, user: SignedIn): SignedInRequest {
  return { ...visit, visitor, user, principal: principalOf(user) }
}

/**
 * Runs work for a signed-in user in one transaction. Throws 403 if their access ended or their role changed since the
 * request was authenticated: its body may take long to arrive.
 */
export function writeFor<Result>(
  signedIn: SignedInRequest,
  work: (signedIn: WritingRequest) => Promise<Result>,
): Promise<Result> {
  return signedIn.academy.database.write(async (transaction) => {
    const inside = withTransaction(signedIn, transaction)
    const { role } = await stillSignedIn(inside, signedIn.visitor)
    if (role === signedIn.user.role) return work(inside)
    throw new ProblemError('forbidden', 'Your role has changed. Reload the page and submit again.')
  })
}

/** By the operation's own handler, with the user's rights. Throws ProblemError, such as 403. */
export async function ask<const O extends Operation>(
  signedIn: SignedInRequest,
  routes: readonly Route[],
  operation: O,
  question: Question = {},
): Promise<Answer<O>> {
  requireRight(signedIn.principal, operation)
  return askOwn(signedIn, routes, operation, question)
}

/** Without checking rights: for users' own records that the API leaves to admins or writers. */
export async function askOwn<const O extends Operation>(
  signedIn: SignedInRequest,
  routes: readonly Route[],
  operation: O,
  question: Question,
): Promise<Answer<O>> {
  const answer = await routeOf(routes, operation).handle(callOf(signedIn, operation, question))
  if (answer instanceof Streamed || answer instanceof Constant) {
    throw new TypeError(`${operation.id} answers with text`)
  }
  // Written by a handler of this operation.
  if (answer instanceof Written) return JSON.parse(answer.body) as Answer<O>
  // A handler answers what its operation declares: `routesOf` does not compile otherwise.
  return answer as Answer<O>
}

/** For operations with slow work to prepare. */
export function callOf(signedIn: SignedInRequest, operation: Operation, question: Question): Call {
  const { academy, limits, request, principal } = signedIn
  return {
    operation,
    params: question.params ?? {},
    query: queryOf(operation.query, question.query),
    principal,
    origin: originOf(request),
    // Only a write has a transaction, and only a write uses it as one.
    database: signedIn.database as Call['database'],
    now: request.now.toISOString(),
    newId: academy.newId,
    preconditions: unconditional,
    lenient: false,
    accept: null,
    signIns: limits.signIns,
    passwords: limits.passwords,
    recordRefusal: (refused: Refused) => recordRefusal(academy, limits, request, refused),
    sealing: academy.sealing,
    outgoing: academy.outgoing,
    isClientGone: () => isClientGone(request),
    rawBody: question.body,
    prepared: undefined,
  }
}

/** Throws 400 if it is invalid. */
export function queryOf<Schema extends z.ZodObject>(
  schema: Schema | undefined,
  asked: Question['query'] = {},
): z.output<Schema> {
  const given = Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined)
  return parseQuery(schema, `${new URLSearchParams(given)}`)
}

export function routeOf(routes: readonly Route[], operation: Operation): Route {
  const route = routes.find((one) => one.operation === operation)
  if (!route) throw new TypeError(`${operation.id} has no route here`)
  return route
}
