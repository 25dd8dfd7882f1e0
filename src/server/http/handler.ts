import type { Call as Declared } from '../../contract/calls.ts'
import type { Answer, Operation, Params, Query } from '../../contract/operation.ts'
import type { Attempts } from '../access/attempts.ts'
import type { Passwords } from '../access/passwords.ts'
import { grantable, type Origin, type Principal } from '../access/principal.ts'
import type { Sealing } from '../access/sealing.ts'
import type { BatchWork, BulkChange } from '../changes/writing.ts'
import type { Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { ProblemError } from '../problem-error.ts'
import type { Preconditions } from './precondition.ts'
import type { Refused } from './record-refusal.ts'
import type { Streamed, Written } from './reply.ts'

export interface Call<O extends Operation = Operation> {
  readonly operation: O
  readonly params: Params<O>
  readonly query: Query<O>
  readonly principal: Principal
  readonly origin: Origin
  readonly change?: BulkChange | undefined
  /** Undefined for a single write. */
  readonly batch?: BatchWork | undefined
  /** True if a plan or an undo may write to this closed record; undefined for other calls. */
  readonly isOpened?: ((id: string) => Promise<boolean>) | undefined
  /** The transaction; in `prepare`, the academy's database. */
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly preconditions: Preconditions
  /** The client asks for what the operation's `lenient` allows (`Prefer`, RFC 7240). */
  readonly lenient: boolean
  readonly accept: string | null
  readonly signIns: Attempts
  readonly passwords: Passwords
  readonly recordRefusal: (refused: Refused) => Promise<void>
  readonly sealing: Sealing
  /** Never within a transaction. */
  readonly outgoing: Outgoing
  readonly isClientGone: () => boolean
  /** The parsed body before validation: a 404 for the path precedes a 422 for the body. */
  readonly rawBody: unknown
  readonly prepared: unknown
}

/** Throws ProblemError. It may be called again, so it changes only the database. */
export type Handler<O extends Operation> = (call: Call<O>) => Answered<O> | Promise<Answered<O>>
type Answered<O extends Operation> = Answer<O> | Streamed | Written | AnswerOfNothing<O>
type AnswerOfNothing<O extends Operation> = O['response'] extends null ? undefined : never

export interface Handling<O extends Operation> {
  readonly handle: Handler<O>
  readonly prepare?: (call: Call<O>) => Promise<unknown>
  /** It may read the whole academy, but writes nothing. */
  readonly isLong?: true
  /** It reads nothing of the academy, or manages its own transactions. */
  readonly isUntransacted?: true
}

export interface Route extends Omit<Handling<Operation>, 'handle'> {
  readonly operation: Operation
  readonly handle: (call: Call) => unknown
  /** Adds defaults; throws 400. */
  readonly queryOf: (search: string) => Record<string, unknown>
}

/** Throws 412 if the client's version differs from the stored one; 0 for a record that is not stored. */
export function requireVersion({ preconditions }: Pick<Call, 'preconditions'>, version: number): void {
  preconditions.requireVersion(version)
}

export function isRole(
  call: { readonly principal: Pick<Principal, 'role'> },
  ...roles: readonly string[]
): boolean {
  return roles.includes(call.principal.role)
}

/** Throws 403, also without the scope `admin`. */
export function requireAdmin({ principal }: Pick<Call, 'principal'>, what: string): void {
  if (principal.role === 'admin') {
    requireScope(principal, 'admin')
    return
  }
  throw new ProblemError(
    'forbidden',
    `${what} requires role admin; the credential has role ${principal.role}.`,
  )
}

/** Throws 403. */
export function requireRight(principal: Principal, { scope, roles, summary }: Operation): void {
  const isAllowed = roles.includes(principal.role)
  const needed = scope ?? 'read'
  // Another credential of the same user would not help if the role cannot have the scope.
  if (isAllowed || grantable[principal.role].includes(needed)) requireScope(principal, needed)
  if (isAllowed) return
  throw new ProblemError(
    'forbidden',
    `Role ${principal.role} cannot ${summary.replace(/^./, (letter) => letter.toLowerCase())}; this requires role ${roles.join(' or ')}.`,
  )
}

/** Throws 403 `insufficient_scope` (RFC 6750 §3.1). */
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

export function elevationsOf({ elevatedBy = [] }: Operation, query: object | undefined): readonly string[] {
  return elevatedBy.filter((flag) => (query as Record<string, unknown> | undefined)?.[flag] === true)
}

/** Throws 403. */
export function requireElevation(
  operation: Operation,
  principal: Principal | undefined,
  query: object | undefined,
): void {
  if (!principal) return
  for (const flag of elevationsOf(operation, query)) requireAdmin({ principal }, `${flag}=true`)
}

export type Reads<Group extends Readonly<Record<string, Operation>>> = {
  readonly [Verb in keyof Group]?: Handler<Group[Verb]>
}

/**
 * Returns routes for requests without parameters, whose query is the defaults. They need no schemas, which
 * take longer to load than everything else.
 */
export function plainRoutesOf<Group extends Readonly<Record<string, Operation>>>(
  calls: { readonly [Verb in keyof Group]: Declared<Group[Verb]> },
  reads: Reads<Group>,
): Route[] {
  return Object.entries<Declared>(calls).flatMap(([verb, { defaults, ...operation }]) => {
    const handle: unknown = reads[verb]
    // The app calls each handler only with its own operation.
    return handle && defaults
      ? [{ operation, handle: handle as Route['handle'], queryOf: () => ({ ...defaults }) }]
      : []
  })
}
