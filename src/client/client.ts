import type * as z from 'zod'
import { isJsonObject } from '../codec/json-text.ts'
import type { Transport } from '../contract/http.ts'
import { type Contract, contract } from '../contract/index.ts'
import type { Answer, BodyInput, Operation, QueryInput } from '../contract/operation.ts'
import type { AnyInput, CallOptions, Item } from './call.ts'
import { type Caller, type CallerOptions, createCaller } from './caller.ts'
import { RequestError } from './errors.ts'
import type { StreamedResponse } from './reply.ts'
import { createUndiciTransport, type UndiciOptions } from './undici.ts'

export type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
export type { CallOptions, Item } from './call.ts'
export type { Caller, CallerOptions } from './caller.ts'
export * from './errors.ts'
export type { PlatformFile } from './platform/platform-schema.ts'
export type { StreamedResponse } from './reply.ts'
export type * from './resources.ts'

type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [id: string, ...more: PathArguments<Rest>]
  : []

type PayloadArgument<O extends Operation> = O['body'] extends z.ZodType
  ? [body: BodyInput<O>]
  : O['query'] extends z.ZodType
    ? [query?: QueryInput<O>]
    : []

type Arguments<O extends Operation> = [
  ...PathArguments<O['path']>,
  ...PayloadArgument<O>,
  options?: CallOptions,
]

/** Calls one operation: path parameters in order, then the body or the query, then options. */
export type Method<O extends Operation> = ((...input: Arguments<O>) => Promise<Answer<O>>) &
  (O extends { readonly list: true }
    ? {
        /** Iterates over every item of every page; each page is requested when its items are needed. */
        all(...input: Arguments<O>): AsyncGenerator<Item<O>>
      }
    : unknown) &
  (O extends { readonly media: readonly string[] }
    ? {
        /** Returns the response as a stream of bytes, in the `format` given in the query. */
        stream(...input: Arguments<O>): Promise<StreamedResponse>
      }
    : unknown)

/** Iterates over every record, like `list.all`. */
type AllOf<Group> = Group extends { readonly all: Operation }
  ? unknown
  : Group extends { readonly list: infer List extends Operation & { readonly list: true } }
    ? { readonly all: Method<List>['all'] }
    : unknown

/** A method for each operation of the API, by resource and verb. */
export type Client = {
  readonly [Group in keyof Contract]: {
    readonly [Verb in keyof Contract[Group]]: Contract[Group][Verb] extends Operation
      ? Method<Contract[Group][Verb]>
      : never
  } & AllOf<Contract[Group]>
} & {
  /** Lower-level calls, which also return status, request id and ETag. */
  readonly caller: Caller
  /** Closes all open connections; `await using` does so at the end of its block. */
  close(): Promise<void>
} & AsyncDisposable

export interface ClientOptions
  extends Omit<CallerOptions, 'transport' | 'authorization' | 'reauthorization' | 'credential'>,
    UndiciOptions {
  /** API key (`lpk_…`). Cannot be used together with `accessToken`. */
  readonly apiKey?: string
  /** OAuth access token (RFC 6750). Cannot be used together with `apiKey`. */
  readonly accessToken?: string
  /** Variables to read HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY from (default `process.env`); `{}` for no proxy. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Function that sends the requests instead of the network, for tests. */
  readonly transport?: Transport
}

/** Creates a client for one platform. Throws RequestError if the base URL is invalid or both credentials are given. */
export function createClient(options: ClientOptions): Client {
  const { apiKey, accessToken } = options
  if (apiKey !== undefined && accessToken !== undefined) {
    throw new RequestError('invalid_header', 'An API key and an access token cannot be used together')
  }
  const network = createUndiciTransport({ ...options, env: options.env ?? process.env })
  const bearer = apiKey ?? accessToken
  const caller = createCaller({
    ...options,
    transport: options.transport ?? network,
    credential: accessToken === undefined ? 'api_key' : 'access_token',
    authorization: bearer === undefined ? undefined : async () => `Bearer ${bearer}`,
  })
  const groups = Object.entries(contract).map(([group, operations]) => {
    const methods = Object.fromEntries(
      Object.entries(operations).map(([verb, operation]) => [verb, methodOf(caller, operation)]),
    )
    const { list } = methods
    return [group, list && 'all' in list ? { all: list.all, ...methods } : methods]
  })
  // The type of Object.fromEntries loses the literal keys of the contract.
  const { close } = network
  return { ...Object.fromEntries(groups), caller, close, [Symbol.asyncDispose]: close } as Client
}

function methodOf(caller: Caller, operation: Operation) {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

  function inputOf(given: readonly unknown[]): AnyInput {
    const params = Object.fromEntries(names.map((name, index) => [name, String(given[index] ?? '')]))
    const [payload, options] = given.slice(names.length)
    const part: AnyInput | null = operation.body
      ? { body: payload }
      : operation.query
        ? { query: objectOf(payload) }
        : null
    return { ...objectOf(part ? options : payload), params, ...part }
  }

  async function* all(...given: unknown[]): AsyncGenerator<unknown> {
    for await (const page of caller.pages(operation, inputOf(given))) yield* page.data
  }

  const call = async (...given: unknown[]) => (await caller.call(operation, inputOf(given))).data
  const stream = (...given: unknown[]) => caller.open(operation, inputOf(given))
  return Object.assign(call, operation.list && { all }, operation.media && { stream })
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {}
}
