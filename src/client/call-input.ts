import type * as z from 'zod'
import type { HttpRequest } from '../contract/http.ts'
import type { Answer, BodyInput, Operation, Params, QueryInput } from '../contract/operation.ts'
import {
  encodeBody,
  encodeEntityTag,
  encodeIdempotencyKey,
  encodePath,
  encodeQuery,
  type PathParameters,
} from './encode.ts'

/** What any call may carry. */
export interface CallOptions {
  /** Only while the resource is at this version, else 412 (RFC 9110 §13.1.1). */
  readonly ifMatch?: string | number | undefined
  /** The key of a POST that was begun before; absent, each call makes a new one. */
  readonly idempotencyKey?: string | undefined
  /** Ends the call; its reason is thrown. */
  readonly signal?: AbortSignal | undefined
}

type ParamsPart<O extends Operation> = string extends
  | keyof Params<O>
  | (`/${string}` extends O['path'] ? string : never)
  ? { readonly params?: PathParameters | undefined }
  : keyof Params<O> extends never
    ? { readonly params?: undefined }
    : { readonly params: Params<O> }

type QueryPart<O extends Operation> = O['query'] extends z.ZodObject
  ? { readonly query?: QueryInput<O> | undefined }
  : { readonly query?: Operation extends O ? Readonly<Record<string, unknown>> | undefined : undefined }

type BodyPart<O extends Operation> = O['body'] extends z.ZodType
  ? { readonly body: BodyInput<O> }
  : { readonly body?: Operation extends O ? unknown : undefined }

/** What a call of the operation takes: path parameters, query and body exactly where it has them. */
export type CallInput<O extends Operation> = ParamsPart<O> & QueryPart<O> & BodyPart<O> & CallOptions

/** The input as an argument, which may be left out where nothing in it is required. */
export type CallArguments<O extends Operation> =
  Record<never, never> extends CallInput<O> ? [input?: CallInput<O>] : [input: CallInput<O>]

/** A success: its body, decoded, and what its head says. */
export interface Result<Data> {
  /** Undefined where the operation answers nothing. */
  readonly data: Data
  readonly status: number
  readonly requestId: string | null
  readonly etag: string | null
  /** True when the server answered from an earlier request under the same Idempotency-Key. */
  readonly replayed: boolean
  /** When the server answered, by its own clock (RFC 9110 §6.6.1). */
  readonly date: string | null
}

/** One item of a list operation. */
export type Item<O extends Operation> = Answer<O> extends { data: readonly (infer One)[] } ? One : unknown

/** One page of a list. */
export interface Page<O extends Operation> {
  readonly data: readonly Item<O>[]
  /** True when another page follows. */
  readonly more: boolean
  /** The whole body, with what stands beside `data` in it. */
  readonly body: Answer<O>
  readonly requestId: string | null
}

/** The loose form in which an input is encoded, whatever its operation. */
export interface AnyInput extends CallOptions {
  readonly params?: PathParameters | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

/** A request as a client makes it: its body is text. */
export interface OutgoingRequest extends HttpRequest {
  readonly body?: string
}

/** The request that a call sends, but for its credential. Throws RequestError on input that cannot be written. */
export function requestOf(
  baseUrl: string,
  operation: Operation,
  input: AnyInput,
  accept: string,
  newIdempotencyKey: () => string,
): OutgoingRequest {
  const body = input.body === undefined ? undefined : encodeBody(input.body)
  return {
    method: operation.method,
    url: baseUrl + encodePath(operation.path, input.params) + encodeQuery(input.query),
    headers: {
      accept,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(operation.method === 'POST' && {
        'idempotency-key': encodeIdempotencyKey(input.idempotencyKey ?? newIdempotencyKey()),
      }),
      ...(input.ifMatch !== undefined && { 'if-match': encodeEntityTag(input.ifMatch) }),
    },
    ...(body !== undefined && { body }),
    ...(input.signal && { signal: input.signal }),
  }
}
