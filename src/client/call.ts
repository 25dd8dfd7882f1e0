import type * as z from 'zod'
import type { JsonObject } from '../codec/json-text.ts'
import type { HttpRequest } from '../contract/http.ts'
import type { Answer, BodyInput, Operation, Params, QueryInput } from '../contract/operation.ts'

export type PathParameters = Readonly<Record<string, string>>

export interface CallOptions {
  /** Fails with 412 unless this is the current version of the resource (RFC 9110 §13.1.1). */
  readonly ifMatch?: string | number | bigint | undefined
  /**
   * How the server treats a value or parameter that it cannot accept (`Prefer: handling`, RFC 7240 §4.4): `lenient`
   * lets it adjust values as the operation documents; `strict` lets it confirm that it refuses everything that it
   * does not obey (default `strict`, but for an academy in this process, which needs no confirmation).
   */
  readonly handling?: 'strict' | 'lenient' | undefined
  /** Idempotency key, to repeat an earlier POST safely (default a new key per call). */
  readonly idempotencyKey?: string | undefined
  /** Aborts the call, which then throws the signal's reason. */
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

export type CallInput<O extends Operation> = ParamsPart<O> & QueryPart<O> & BodyPart<O> & CallOptions

export type CallArguments<O extends Operation> =
  Record<never, never> extends CallInput<O> ? [input?: CallInput<O>] : [input: CallInput<O>]

/** A successful response: the decoded body and the main headers. */
export interface Result<Data> {
  /** Undefined if the operation has no response body. */
  readonly data: Data
  readonly status: number
  readonly requestId: string | null
  readonly etag: string | null
  /** True if this is the response to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  /** True if the record already was as requested, so that the update changed nothing (the `Unchanged` header). */
  readonly unchanged: boolean
  /** The `Location` header: address of the created resource (RFC 9110 §10.2.2). */
  readonly location: string | null
  /** True if the platform does not offer the operation, and the data is the item of its list. */
  readonly fromList: boolean
  /** Id of the created or changed record, from the response or else from the request; null if unknown. */
  readonly id: string | null
  /** The `Date` header, from the server's clock (RFC 9110 §6.6.1). */
  readonly date: string | null
}

export type Item<O extends Operation> = Answer<O> extends { data: readonly (infer One)[] } ? One : unknown

export interface Page<O extends Operation> {
  readonly data: readonly Item<O>[]
  readonly more: boolean
  /** The object that contained the items, with its other members. */
  readonly around: JsonObject
  readonly requestId: string | null
}

export interface AnyInput extends CallOptions {
  readonly params?: PathParameters | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

/** A request that a client sends: its body is text. */
export interface OutgoingRequest extends HttpRequest {
  readonly body?: string
}
