import type { Answer, Operation, Params, Query } from '../../contract/operation.ts'
import type { Attempts } from '../access/attempts.ts'
import type { Passwords } from '../access/passwords.ts'
import type { Origin, Principal } from '../access/principal.ts'
import type { Store, Transaction } from '../database/database.ts'
import type { IdMaker, IdPrefix } from '../database/id.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { ProblemError } from '../problem/problem-error.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { Preconditions } from './precondition.ts'
import type { Refused } from './refusal.ts'
import type { Constant, Streamed, Written } from './reply.ts'

/** One request on its way through a handler. Everything that writes runs inside one transaction. */
export interface Call<O extends Operation = Operation> {
  readonly operation: O
  readonly params: Params<O>
  readonly query: Query<O>
  readonly principal: Principal
  /** From where the caller asks. */
  readonly origin: Origin
  /** The transaction that the request is; before that, for what is prepared, the academy itself. */
  readonly database: Transaction
  /** The time of the request, ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  /** Under which conditions it is to be done. */
  readonly preconditions: Preconditions
  /** True where the caller asks for what the operation's `lenient` says (`Prefer`, RFC 7240). */
  readonly lenient: boolean
  /** The header Accept, or null. */
  readonly accept: string | null
  /** Counts attempts at a password. */
  readonly signIns: Attempts
  readonly passwords: Passwords
  /** Tells the audit log of what was refused for more than what was sent. */
  readonly tellRefusal: (refused: Refused) => Promise<void>
  /** Seals and opens the secrets of other systems. */
  readonly sealing: Sealing
  /** Sends requests to other systems; never within a transaction. */
  readonly outgoing: Outgoing
  /** True once nobody waits for the answer. */
  readonly hasLeft: () => boolean
  /** The body as it came, parsed but not judged: what is named in the path 404s before the body 422s. */
  readonly rawBody: unknown
  /** What `prepare` of this route made. */
  readonly prepared: unknown
}

/** What answers an operation; throws ProblemError. It may be called again: it changes nothing but the database. */
export type Handler<O extends Operation> = (call: Call<O>) => Answered<O> | Promise<Answered<O>>
type Answered<O extends Operation> = Answer<O> | Streamed | Constant | Written | AnswerOfNothing<O>
type AnswerOfNothing<O extends Operation> = O['response'] extends null ? undefined : never

/** A handler with the slow work it needs done before the transaction begins. */
export interface PreparedHandler<O extends Operation> {
  readonly prepare: (call: Call<O>) => Promise<unknown>
  readonly handle: Handler<O>
}

/** A handler that leaves something to be done after what it writes. */
export interface FinishedHandler<O extends Operation> {
  readonly finish: NonNullable<Route['finish']>
  readonly handle: Handler<O>
}

/** A handler whose reading may go through the whole academy: it only reads. */
export interface LongHandler<O extends Operation> {
  readonly isLong: true
  readonly handle: Handler<O>
}

/** A handler that reads nothing of the academy, or sees by itself how: it is called outside any transaction. */
export interface ApartHandler<O extends Operation> {
  readonly isApart: true
  readonly handle: Handler<O>
}

/** What the rest of a write is done with. */
export interface Finishing {
  readonly database: Store
  readonly now: () => Date
  readonly newId: IdMaker
  /** That of the request that wrote. */
  readonly requestId: string
}

/** An operation with what answers it. */
export interface Route {
  readonly operation: Operation
  readonly handle: (call: Call) => unknown
  readonly prepare?: (call: Call) => Promise<unknown>
  readonly isLong?: boolean
  readonly isApart?: boolean
  /** Does what a write leaves to others to be done after it, before it is answered; whatever comes of that, it was written. */
  readonly finish?: (app: Finishing) => Promise<void>
  /** The query of a request, judged, with its defaults; throws 400. */
  readonly queryOf: (search: string) => object
}

/** Throws 412 when the caller knows another version than the stored one, 0 for what is not stored yet. */
export function requireVersion({ preconditions }: Pick<Call, 'preconditions'>, version: number): void {
  preconditions.requireVersion(version)
}

/** Somebody of a role: a user, or another system, which has no id. */
interface ByRole {
  readonly principal: Pick<Principal, 'role'> & { readonly userId: string | null }
}

/** True when the caller's role is one of these. */
export function isRole(call: ByRole, ...roles: readonly string[]): boolean {
  return roles.includes(call.principal.role)
}

/** The caller's own id where that is the only user they may see, undefined for those who see everybody. */
export function onlyUserOf(call: ByRole): string | undefined {
  return isRole(call, 'learner') ? (call.principal.userId ?? undefined) : undefined
}

/** Throws 403 unless the caller is an admin whose credential carries the scope `admin`. */
export function requireAdmin({ principal }: Pick<Call, 'principal'>, what: string): void {
  requireScope(principal, 'admin')
  if (principal.role === 'admin') return
  throw new ProblemError(
    'forbidden',
    `${what} requires role admin; the credential has role ${principal.role}.`,
  )
}

/** Throws 403 unless the credential's scopes and its owner's role allow the operation. */
export function requireRight(principal: Principal, { scope, roles, summary }: Operation): void {
  requireScope(principal, scope ?? 'read')
  if (roles.includes(principal.role)) return
  throw new ProblemError(
    'forbidden',
    `Role ${principal.role} cannot ${summary.replace(/^./, (letter) => letter.toLowerCase())}; this requires role ${roles.join(' or ')}.`,
  )
}

/** Throws 403 `insufficient_scope` unless the credential carries the scope (RFC 6750 §3.1). */
function requireScope({ scopes }: Principal, scope: string): void {
  if ((scopes as readonly string[]).includes(scope)) return
  throw new ProblemError(
    'insufficient_scope',
    `Scope ${scope} is required; the credential has ${scopes.join(' ') || 'no scope'}.`,
    {
      headers: {
        'www-authenticate': `Bearer realm="learnctl", error="insufficient_scope", scope="${scope}"`,
      },
      members: { scope },
    },
  )
}

/** The flags of a query that ask for an admin. */
export function elevationsOf({ elevatedBy = [] }: Operation, query: object | undefined): readonly string[] {
  return elevatedBy.filter((flag) => (query as Record<string, unknown> | undefined)?.[flag] === true)
}

/** Throws 403 where a flag of a query asks for an admin, and the caller is none. */
export function requireElevation(
  operation: Operation,
  principal: Principal | undefined,
  query: object | undefined,
): void {
  if (!principal) return
  for (const flag of elevationsOf(operation, query)) requireAdmin({ principal }, `${flag}=true`)
}
