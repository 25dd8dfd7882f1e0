import type * as z from 'zod'
import type { Answer, Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'
import type { Writing } from '../audit/entry.ts'
import { type EndpointRequest, within } from '../http/endpoint.ts'
import { type Call, type Route, requireRight } from '../http/handler.ts'
import { unconditional } from '../http/precondition.ts'
import { type Refused, recordRefusal } from '../http/refusal.ts'
import { Constant, Streamed, Written } from '../http/reply.ts'
import { hasLeft, originOf } from '../http/request-context.ts'
import { parseQuery } from '../http/validation.ts'
import {
  principalOf,
  type SignedIn,
  type SignedInEndpointRequest,
  stillSignedIn,
  type Visitor,
} from '../pages/browser-session.ts'
import { ProblemError } from '../problem/problem-error.ts'

/** Somebody who is signed in and looks at a page. */
export interface SignedInRequest extends SignedInEndpointRequest {
  /** What they may do: all that their role can have, because no scope narrows a browser session. */
  readonly principal: Principal
}

/** The same in the transaction of what they change. */
export type WritingRequest = SignedInRequest & { readonly database: Writing['database'] }

/** What tells of what somebody changes who is signed in. */
export function writingOf({ database, academy, principal, request }: WritingRequest): Writing {
  const { newId } = academy
  return { database, now: request.now.toISOString(), newId, principal, origin: originOf(request) }
}

/** What a page asks the API for: texts, as they would come in a request. */
export interface Question {
  readonly params?: Readonly<Record<string, string>>
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** Somebody who is signed in, with what they may do. */
export function signedInRequestOf(visit: EndpointRequest, visitor: Visitor, user: SignedIn): SignedInRequest {
  return { ...visit, visitor, user, principal: principalOf(user) }
}

/**
 * Does what somebody who is signed in asks for, in one transaction. Throws 403 where their access has ended, or their role is another,
 * since they sent the form: it may have been on its way for long.
 */
export function writeFor<Result>(
  signedIn: SignedInRequest,
  work: (signedIn: WritingRequest) => Promise<Result>,
): Promise<Result> {
  return signedIn.academy.database.write(async (transaction) => {
    const inside = within(signedIn, transaction)
    const { role } = await stillSignedIn(inside, signedIn.visitor)
    if (role === signedIn.user.role) return work(inside)
    throw new ProblemError('forbidden', 'Your role has changed. Reload the page and submit again.')
  })
}

/**
 * The API's own answer to somebody who is signed in: the same rights, the same handler. Throws ProblemError, 403 among
 * them.
 */
export async function ask<const O extends Operation>(
  signedIn: SignedInRequest,
  routes: readonly Route[],
  operation: O,
  question: Question = {},
): Promise<Answer<O>> {
  requireRight(signedIn.principal, operation)
  return askOwn(signedIn, routes, operation, question)
}

/**
 * Like `ask`, without a look at the rights: for what everybody does here with what is their own, while the API has it
 * for admins or writers alone.
 */
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

/** The call that a question is: for what has slow work to do first. */
export function callOf(signedIn: SignedInRequest, operation: Operation, question: Question): Call {
  const { academy, limits, request, principal } = signedIn
  return {
    operation,
    params: question.params ?? {},
    query: queryOf(operation.query, question.query),
    principal,
    origin: originOf(request),
    database: signedIn.database,
    now: request.now.toISOString(),
    newId: academy.newId,
    preconditions: unconditional,
    lenient: false,
    accept: null,
    signIns: limits.signIns,
    passwords: limits.passwords,
    tellRefusal: (refused: Refused) => recordRefusal(academy, limits, request, refused),
    sealing: academy.sealing,
    outgoing: academy.outgoing,
    hasLeft: () => hasLeft(request),
    rawBody: question.body,
    prepared: undefined,
    // Like the call of a request: what each operation makes of its texts, its own handler knows.
  } as unknown as Call
}

/** A query from texts, as its schema says; throws 400 for what it does not take. */
export function queryOf<Schema extends z.ZodObject>(
  schema: Schema | undefined,
  asked: Question['query'] = {},
): z.output<Schema> {
  const given = Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined)
  return parseQuery(schema, `${new URLSearchParams(given)}`)
}

/** The route of an operation among those of its resource. */
export function routeOf(routes: readonly Route[], operation: Operation): Route {
  const route = routes.find((one) => one.operation === operation)
  if (!route) throw new TypeError(`${operation.id} has no route here`)
  return route
}
