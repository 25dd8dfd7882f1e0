import type * as z from 'zod'
import { type Filters, filtersOf } from './lists.ts'

/** It limits what any credential of a user can do. */
export type RoleName = 'admin' | 'instructor' | 'analyst' | 'learner'

/** `read` for GET, `write` for other methods, `admin` for keys and everything beyond a course. */
export type Scope = 'read' | 'write' | 'admin'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Client, routes, validation, OpenAPI document, `learnctl api` and conformance test are derived from it. */
export interface Operation {
  /** `<resource>.<verb>`, the name in `learnctl api` and OpenAPI's operationId. */
  readonly id: string
  readonly method: Method
  /** Path-absolute, with `{name}` for each path parameter. */
  readonly path: `/${string}`
  /** Summary, verb first, without a full stop. */
  readonly summary: string
  /** True for the eight operations of the published interface, false for extensions. */
  readonly published: boolean
  /** Scope that a credential must have; null if no credential is required. */
  readonly scope: Scope | null
  /** True if requests are not rate-limited, because a response costs less than counting them. */
  readonly uncounted?: true
  /** Roles that may call it; the handler restricts what each role sees. */
  readonly roles: readonly RoleName[]
  readonly query?: z.ZodObject
  /** Query flags that require the admin role and the `admin` scope when true. */
  readonly elevatedBy?: readonly ('force' | 'erase')[]
  readonly body?: z.ZodType
  /** Effect of `Prefer: handling=lenient` (RFC 7240 §4.4); absent if it has none. */
  readonly lenient?: string
  /** True if the body is a JSON merge patch (RFC 7396) of the stored resource. */
  readonly merge?: true
  /** Response body of a success; null if it has none. */
  readonly response: z.ZodType | null
  readonly status: 200 | 201 | 204
  /** True if the response is a report, such as the results of a batch: it has no envelope to remove. */
  readonly report?: true
  /** The body is a page of this list: `{data, nextCursor}` with a `Link` header (RFC 8288). */
  readonly list?: true
  /** Which items the parameters of a list match; a parameter that matches none in particular is omitted. */
  readonly filters?: Filters
  /** Field that identifies the record in the response (default `id`). */
  readonly identifier?: string
  /** Top-level response field that is shown once and never stored for a replay. */
  readonly secret?: string
  /** Media types besides JSON in which a success may be streamed. */
  readonly media?: readonly string[]
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

export type Params<O extends Operation> = { readonly [Name in ParameterNames<O['path']>]: string }

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** Defaults are not filled in; booleans may be text. */
export type QueryInput<O extends Operation> = O['query'] extends z.ZodType
  ? { [Name in keyof Input<O['query']>]: WithBoolean<Input<O['query']>[Name]> }
  : undefined
type WithBoolean<Value> = [Extract<Value, 'true'>] extends [never] ? Value : Value | boolean
/** Parsed, with defaults. */
export type Query<O extends Operation> = Output<O['query']>
export type BodyInput<O extends Operation> = Input<O['body']>
export type Body<O extends Operation> = Output<O['body']>
export type Answer<O extends Operation> = Output<O['response']>

/** Without the fields derived from its place, method, query and response. */
type Declared = Omit<
  Operation,
  'id' | 'method' | 'path' | 'published' | 'scope' | 'roles' | 'status' | 'filters'
> & {
  /** Method and path: `GET /v1/courses/{courseId}`. */
  readonly at: `${Method} /${string}`
  readonly published?: true
  /** Default 204 without a response body, 201 for POST, else 200. */
  readonly status?: Operation['status']
} & (
    | {
        readonly scope: 'admin'
        /** Default: admins. */
        readonly roles?: readonly RoleName[]
      }
    | {
        /** Default `read` for GET, `write` for other methods. */
        readonly scope?: Exclude<Scope, 'admin'> | null
        readonly roles: readonly RoleName[]
      }
  )

type MethodOf<At> = At extends `${infer M extends Method} ${string}` ? M : never
type PathOf<At> = At extends `${Method} ${infer P extends `/${string}`}` ? P : never

type Filled<Id extends string, D extends Declared> = Omit<
  D,
  'at' | 'published' | 'scope' | 'roles' | 'status'
> & {
  readonly id: Id
  readonly method: MethodOf<D['at']>
  readonly path: PathOf<D['at']>
  readonly published: boolean
  readonly scope: Scope | null
  readonly roles: readonly RoleName[]
  readonly status: Operation['status']
}

/** Keeps the literal types of the operations. */
export function operationsOf<
  const Name extends string,
  const Group extends Readonly<Record<string, Declared>>,
>(name: Name, group: Group) {
  const filled = Object.entries(group).map(([verb, declared]) => [
    verb,
    filledOf(`${name}.${verb}`, declared),
  ])
  return Object.fromEntries(filled) as {
    readonly [Verb in keyof Group & string]: Filled<`${Name}.${Verb}`, Group[Verb]>
  }
}

function filledOf(id: string, { at, ...declared }: Declared): Operation {
  const [method, path] = at.split(' ') as [Method, Operation['path']]
  const standard = declared.response === null ? 204 : method === 'POST' ? 201 : 200
  return {
    id,
    method,
    path,
    ...declared,
    ...(declared.list && declared.query && { filters: filtersOf(declared.query) }),
    published: declared.published === true,
    scope: declared.scope === undefined ? (method === 'GET' ? 'read' : 'write') : declared.scope,
    roles: declared.roles ?? admins,
    status: declared.status ?? standard,
  }
}

export const everyone = ['admin', 'instructor', 'analyst', 'learner'] as const
export const staff = ['admin', 'instructor', 'analyst'] as const
/** They can manage courses, enrolments and progress. */
export const teachers = ['admin', 'instructor'] as const
/** They see all learner data. */
export const analysts = ['admin', 'analyst'] as const
export const admins = ['admin'] as const
