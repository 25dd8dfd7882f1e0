import type * as z from 'zod'
import type { Filters } from './filter.ts'

/** The role of a user: it limits what any credential of theirs can do. */
export type RoleName = 'admin' | 'instructor' | 'analyst' | 'learner'

/** `read` for GET, `write` for the rest, `admin` for keys and everything that outranks a course. */
export type Scope = 'read' | 'write' | 'admin'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * One operation of the API, declared once as data. The client, the server's routes and validation, the OpenAPI
 * document, `learnctl api` and the conformance test all read this one value.
 */
export interface Operation {
  /** `<resource>.<verb>`, the name under which `learnctl api` and OpenAPI's operationId know it. */
  readonly id: string
  readonly method: Method
  /** Path-absolute, with `{name}` for each path parameter. */
  readonly path: `/${string}`
  /** What it does, verb first, without a full stop. */
  readonly summary: string
  /** True for the eight operations of the published interface, false for extensions. */
  readonly published: boolean
  /** The scope a credential must carry; null where no credential is asked for. */
  readonly scope: Scope | null
  /** True where no request is ever refused for how many there are: it is cheaper to answer than to count. */
  readonly uncounted?: true
  /** The roles that may call it at all; what each of them sees is the handler's part. */
  readonly roles: readonly RoleName[]
  readonly query?: z.ZodObject
  /** The query flags each of which, when true, asks for the admin role and the `admin` scope besides. */
  readonly elevatedBy?: readonly ('force' | 'erase')[]
  readonly body?: z.ZodType
  /** What `Prefer: handling=lenient` (RFC 7240 §4.4) changes; absent where it changes nothing. */
  readonly lenient?: string
  /** True where the body is a JSON merge patch (RFC 7396) of the stored resource rather than a whole one. */
  readonly merge?: true
  /** What a success carries; null where it has no body. */
  readonly response: z.ZodType | null
  readonly status: 200 | 201 | 204
  /** True where the response is a report of its own, such as the results of a batch: nothing has to be taken out of it. */
  readonly report?: true
  /** The body is a page of this list: `{data, nextCursor}` with a `Link` header (RFC 8288). */
  readonly list?: true
  /** Which items each parameter of a list asks for; parameters that ask for no items in particular are left out. */
  readonly filters?: Filters
  /** The field that tells what is answered apart from others of its kind; `id` unless told otherwise. */
  readonly identifier?: string
  /** The top-level response field that is shown once and never stored for a replay. */
  readonly secret?: string
  /** Media types besides JSON in which a success may be streamed. */
  readonly media?: readonly string[]
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

/** The path parameters of an operation, each a string. */
export type Params<O extends Operation> = { readonly [Name in ParameterNames<O['path']>]: string }

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a caller sends as the query: every parameter before its default is filled in. */
export type QueryInput<O extends Operation> = Input<O['query']>
/** What a handler gets as the query: parsed, defaults filled in. */
export type Query<O extends Operation> = Output<O['query']>
/** What a caller sends as the body. */
export type BodyInput<O extends Operation> = Input<O['body']>
/** What a handler gets as the body. */
export type Body<O extends Operation> = Output<O['body']>
/** What a success answers. */
export type Answer<O extends Operation> = Output<O['response']>

/** An operation as it is declared: without what follows from its place, its method and its response. */
type Declared = Omit<Operation, 'id' | 'method' | 'path' | 'published' | 'scope' | 'status'> & {
  /** Method and path: `GET /v1/courses/{courseId}`. */
  readonly at: `${Method} /${string}`
  readonly published?: true
  /** By default `read` for GET, `write` for the rest. */
  readonly scope?: Scope | null
  /** By default 204 without a response, 201 for POST, else 200. */
  readonly status?: Operation['status']
}

type MethodOf<At> = At extends `${infer M extends Method} ${string}` ? M : never
type PathOf<At> = At extends `${Method} ${infer P extends `/${string}`}` ? P : never

type Filled<Id extends string, D extends Declared> = Omit<D, 'at' | 'published' | 'scope' | 'status'> & {
  readonly id: Id
  readonly method: MethodOf<D['at']>
  readonly path: PathOf<D['at']>
  readonly published: boolean
  readonly scope: Scope | null
  readonly status: Operation['status']
}

/** Completes the operations of a resource; the compiler knows their literal types. */
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
    published: declared.published === true,
    scope: declared.scope === undefined ? (method === 'GET' ? 'read' : 'write') : declared.scope,
    status: declared.status ?? standard,
  }
}

/** Every role. */
export const everyone = ['admin', 'instructor', 'analyst', 'learner'] as const
/** Every role but learner. */
export const staff = ['admin', 'instructor', 'analyst'] as const
/** The roles that can manage courses, enrolments and progress. */
export const teachers = ['admin', 'instructor'] as const
export const admins = ['admin'] as const
