import type { Answer, Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'
import { analyticsRoutes } from '../analytics/analytics.ts'
import { auditRoutes } from '../audit/audit-log.ts'
import { changeRoutes } from '../audit/changes.ts'
import { calendarRoutes } from '../calendars/calendars.ts'
import type { Writing } from '../changes/writing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { lessonRoutes } from '../courses/lessons.ts'
import { termRoutes } from '../courses/terms.ts'
import { appRoutes } from '../credentials/apps.ts'
import { grantRoutes } from '../credentials/grants.ts'
import { keyRoutes } from '../credentials/keys.ts'
import { endpointRoutes } from '../events/endpoints.ts'
import { messageRoutes } from '../events/messages.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { groupRoutes } from '../groups/groups.ts'
import { type Call, type Route, requireRight } from '../http/handler.ts'
import { unconditional } from '../http/precondition.ts'
import { type Refused, recordRefusal } from '../http/record-refusal.ts'
import { Streamed, Written } from '../http/reply.ts'
import { isClientGone, originOf } from '../http/request-context.ts'
import { parseQuery } from '../http/schema-routes.ts'
import { type Visit, withTransaction } from '../http/web-route.ts'
import { deliveryRoutes } from '../integrations/deliveries.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import {
  principalOf,
  type SignedIn,
  type SignedInVisit,
  stillSignedIn,
  type Visitor,
} from '../pages/browser-session.ts'
import { ProblemError } from '../problem-error.ts'
import { progressRoutes } from '../progress/progress.ts'
import { userRoutes } from '../users/users.ts'

export interface SignedInRequest extends SignedInVisit {
  /** Has all scopes of the user's role: a browser session is not narrowed. */
  readonly principal: Principal
}

export type WritingRequest = SignedInRequest & { readonly database: Writing['database'] }

interface Question {
  /** Default: those of the request. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

export function signedInRequestOf(visit: Visit, visitor: Visitor, user: SignedIn): SignedInRequest {
  return { ...visit, visitor, user, principal: principalOf(user) }
}

/** Throws 403 if access ended or the role changed since the request came: its body may take long to arrive. */
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

export function write<const O extends Operation>(
  signedIn: SignedInRequest,
  operation: O,
  question?: Question,
): Promise<Answer<O>> {
  return writeFor(signedIn, (inside) => ask(inside, operation, question))
}

/** By the operation's own handler, with the user's rights. Throws ProblemError, such as 403. */
export async function ask<const O extends Operation>(
  signedIn: SignedInRequest,
  operation: O,
  question: Question = {},
): Promise<Answer<O>> {
  requireRight(signedIn.principal, operation)
  return askOwn(signedIn, operation, question)
}

export async function askOrNone<const O extends Operation>(
  signedIn: SignedInRequest,
  operation: O,
  question?: Question,
): Promise<Answer<O> | undefined> {
  try {
    return await ask(signedIn, operation, question)
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

/** Without checking rights: for users' own records that the API leaves to admins or writers. */
export async function askOwn<const O extends Operation>(
  signedIn: SignedInRequest,
  operation: O,
  question: Question = {},
): Promise<Answer<O>> {
  const answer = await routeOf(operation).handle(callOf(signedIn, operation, question))
  if (answer instanceof Streamed) throw new TypeError(`${operation.id} answers with text`)
  if (answer instanceof Written) return JSON.parse(answer.body) as Answer<O>
  // A handler answers what its operation declares: `routesOf` does not compile otherwise.
  return answer as Answer<O>
}

/** For operations with slow work to prepare. Throws 400 if the query is invalid. */
export function callOf(signedIn: SignedInRequest, operation: Operation, question: Question = {}): Call {
  const { academy, limits, request, principal } = signedIn
  const { params = signedIn.params, query = {}, body } = question
  const given = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined)
  return {
    operation,
    params,
    query: parseQuery(operation.query, `${new URLSearchParams(given)}`),
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
    rawBody: body,
    prepared: undefined,
  }
}

const routes: ReadonlyMap<Operation, Route> = new Map(
  [
    analyticsRoutes,
    appRoutes,
    auditRoutes,
    calendarRoutes,
    changeRoutes,
    courseReadRoutes,
    deliveryRoutes,
    endpointRoutes,
    gradeRoutes,
    grantRoutes,
    groupRoutes,
    integrationRoutes,
    keyRoutes,
    lessonRoutes,
    messageRoutes,
    progressRoutes,
    termRoutes,
    userRoutes,
  ]
    .flat()
    .map((route) => [route.operation, route]),
)

export function routeOf(operation: Operation): Route {
  const route = routes.get(operation)
  if (!route) throw new TypeError(`${operation.id} has no route here`)
  return route
}
