import type * as z from 'zod'
import type { JsonObject } from '../codec/json-object.ts'
import type { HttpHeaders, HttpRequest } from '../contract/http.ts'
import type { Answer, BodyInput, Operation, Params, QueryInput } from '../contract/operation.ts'
import {
  encodeBody,
  encodeEntityTag,
  encodeIdempotencyKey,
  encodePath,
  encodeQuery,
  type PathParameters,
} from './encode.ts'

/** Options of every call. */
export interface CallOptions {
  /** Fails with 412 unless this is the current version of the resource (RFC 9110 §13.1.1). */
  readonly ifMatch?: string | number | bigint | undefined
  /**
   * What the server does where it cannot take a value or a parameter as it is (`Prefer: handling`, RFC 7240 §4.4):
   * `lenient` lets it adjust values where the operation says what that means; `strict` lets it say that it refuses
   * whatever it does not obey (default neither is sent).
   */
  readonly handling?: 'strict' | 'lenient' | undefined
  /** Idempotency key, to repeat an earlier POST safely (default a new one for each call). */
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

/** Input of an operation: the path parameters, query and body that it declares. */
export type CallInput<O extends Operation> = ParamsPart<O> & QueryPart<O> & BodyPart<O> & CallOptions

/** The input as an argument, optional if nothing in it is required. */
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
  /** True if the record was as requested already, and the update changed nothing (the `Unchanged` header). */
  readonly unchanged: boolean
  /** The `Location` header: where what was made is (RFC 9110 §10.2.2). */
  readonly location: string | null
  /** True if the platform refuses whatever it does not obey, as `handling: 'strict'` asked (RFC 7240 §3). */
  readonly strict: boolean
  /** True if the platform does not offer the operation, and the data is the item of its list. */
  readonly fromList: boolean
  /** Id of what a write made or changed, as the platform shows it, else as it was named; null where nothing tells it. */
  readonly id: string | null
  /** What the platform showed of a write; null for a read, and where the platform obeys or refuses what it is sent. */
  readonly written: Written | null
  /** The `Date` header, from the server's clock (RFC 9110 §6.6.1). */
  readonly date: string | null
}

/** What the answer to a write that was done shows of it. */
export interface Written {
  /** False where the platform only says that it was done. */
  readonly shown: boolean
  /** Fields that are shown with another value than the one that was sent. */
  readonly other: readonly { readonly field: string; readonly sent: unknown; readonly shown: unknown }[]
  /** Fields that were sent and are not shown, though others are. */
  readonly unshown: readonly string[]
}

/** One item of a list operation. */
export type Item<O extends Operation> = Answer<O> extends { data: readonly (infer One)[] } ? One : unknown

/** One page of a list. */
export interface Page<O extends Operation> {
  readonly data: readonly Item<O>[]
  /** True if the list has more, whether the platform says how to get it or not. */
  readonly more: boolean
  /** The object that the items were in, with what is beside them; empty for a bare array. */
  readonly around: JsonObject
  readonly requestId: string | null
  /** True if the platform refuses whatever it does not obey, as `handling: 'strict'` asked (RFC 7240 §3). */
  readonly strict: boolean
}

/** True for the headers of a response that was treated as `Prefer: handling` asked (RFC 7240 §3). */
export function isConfirmed(headers: HttpHeaders): boolean {
  return /(?:^|[,;\s])handling\s*=\s*"?(strict|lenient)\b/i.test(headers['preference-applied'] ?? '')
}

/** True for the headers of a response that is the way `Prefer: handling=strict` asks for (RFC 7240 §3). */
export function isStrict(headers: HttpHeaders): boolean {
  return /(?:^|[,;\s])handling\s*=\s*"?strict\b/i.test(headers['preference-applied'] ?? '')
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
      ...(input.handling && { prefer: `handling=${input.handling}` }),
      ...(input.ifMatch !== undefined && { 'if-match': encodeEntityTag(input.ifMatch) }),
    },
    ...(body !== undefined && { body }),
    ...(input.signal && { signal: input.signal }),
  }
}
