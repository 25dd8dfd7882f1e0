import { randomUUID } from 'node:crypto'
import type { HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { normaliseBaseUrl } from './base-url.ts'
import {
  type AnyInput,
  type CallArguments,
  type CallInput,
  type Item,
  type OutgoingRequest,
  type Page,
  type Result,
  requestOf as requestFor,
} from './call-input.ts'
import {
  assertMediaType,
  leave,
  listOf,
  readBytes,
  readJson,
  type StreamedResponse,
  streamed,
} from './decode.ts'
import { encodeIdempotencyKey, encodeQuery, type QueryParameters } from './encode.ts'
import { RequestError } from './errors.ts'
import { offeringErrorOf } from './offering.ts'
import { readPage, readPages } from './pages.ts'
import type { CredentialKind } from './problem.ts'
import type { Wait } from './retry.ts'
import { createSender, type ExchangeReport, type Translate } from './sender.ts'

/** A plain HTTP request, for paths that the contract does not declare. */
export interface RawRequest {
  readonly method: string
  /** Begins with `/`, such as `/v1/courses`; it is appended to the base URL. */
  readonly path: string
  readonly query?: QueryParameters
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** Calls operations on one platform. It throws only the errors of errors.ts, or the reason of an aborted signal. */
export interface Caller {
  /** Calls an operation and reads the whole response, which is not validated. */
  call<const O extends Operation>(operation: O, ...input: CallArguments<O>): Promise<Result<Answer<O>>>
  /** Calls an operation and returns the response as a stream; read it to its end, or leave the loop with `break`. */
  open<const O extends Operation>(
    operation: O,
    input: CallInput<O>,
    options?: { readonly accept?: string },
  ): Promise<StreamedResponse>
  /** Iterates over the pages of a list; each is requested when it is needed. */
  pages<const O extends Operation>(operation: O, ...input: CallArguments<O>): AsyncGenerator<Page<O>>
  /** The request that `call` would send, without its credential. */
  request<const O extends Operation>(operation: O, ...input: CallArguments<O>): OutgoingRequest
  /** Sends any request with the same credential, timeouts and retries; returns the response as a stream. */
  send(request: RawRequest): Promise<StreamedResponse>
  /** The request that `send` would send, without its credential. */
  rawRequest(request: RawRequest): OutgoingRequest
}

/** Address, credential, timeouts and retries of a caller. */
export interface CallerOptions {
  readonly baseUrl: string
  readonly transport: Transport
  /** Returns the Authorization header, called for each attempt; null, or no function, for none. */
  readonly authorization?: (() => Promise<string | null>) | undefined
  /**
   * Returns a new Authorization header after `refused` got a 401, null if there is none. The request is then sent
   * again, once.
   */
  readonly reauthorization?: ((refused: string) => Promise<string | null>) | undefined
  /** Kind of credential that `authorization` returns (default API key). */
  readonly credential?: CredentialKind | undefined
  /** Allows sending the credential over unencrypted http to other machines (default false). */
  readonly insecureHttp?: boolean | undefined
  /** Maximum number of attempts per request, including the first (default 4). */
  readonly attempts?: number | undefined
  /** Time to wait for the response to begin, per attempt (default 30 s). */
  readonly timeoutMs?: number | undefined
  /** Time to wait for more data of a response (default 30 s). */
  readonly idleTimeoutMs?: number | undefined
  /** Longest `Retry-After` to honour (default 60 s). */
  readonly maxRetryWaitMs?: number | undefined
  readonly now?: (() => number) | undefined
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  readonly random?: (() => number) | undefined
  readonly newIdempotencyKey?: (() => string) | undefined
  readonly onWait?: ((wait: Wait) => void) | undefined
  readonly onExchange?: ((report: ExchangeReport) => void) | undefined
}

/** Creates a caller for one platform. Throws RequestError if the base URL is invalid. */
export function createCaller(options: CallerOptions): Caller {
  const baseUrl = normaliseBaseUrl(options.baseUrl)
  const newIdempotencyKey = options.newIdempotencyKey ?? randomUUID
  const sender = createSender({
    baseUrl,
    transport: options.transport,
    authorization: options.authorization,
    reauthorization: options.reauthorization,
    credential: options.credential ?? 'api_key',
    insecureHttp: options.insecureHttp ?? false,
    attempts: options.attempts ?? 4,
    timeoutMs: options.timeoutMs ?? 30_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
    maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
    now: options.now ?? Date.now,
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
    onWait: options.onWait,
    onExchange: options.onExchange,
  })

  function requestOf(
    operation: Operation,
    input: AnyInput = {},
    accept = 'application/json',
  ): OutgoingRequest {
    return requestFor(baseUrl, operation, input, accept, newIdempotencyKey)
  }

  function translating(request: HttpRequest, operation: Operation, input: AnyInput = {}): Translate {
    return (error) => offeringErrorOf(request, operation, input.params ?? {}, error, readList)
  }

  async function readList(path: string): Promise<unknown> {
    const request = { method: 'GET', url: baseUrl + path, headers: { accept: 'application/json' } }
    return sender.sendOnce(request, (reply) => readJson(request, reply))
  }

  async function call<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): Promise<Result<Answer<O>>> {
    const request = requestOf(operation, input)
    const consume = async (reply: HttpResponse) => ({
      // The answer is the server's word: older and newer ones say less and more than the contract.
      data: (await readAnswer(request, reply, operation)) as Answer<O>,
      status: reply.status,
      requestId: reply.headers['x-request-id'] ?? null,
      etag: reply.headers['etag'] ?? null,
      replayed: reply.headers['idempotent-replayed'] === 'true',
      date: reply.headers['date'] ?? null,
    })
    return sender.send(request, consume, translating(request, operation, input))
  }

  async function open(
    operation: Operation,
    input: AnyInput,
    { accept }: { readonly accept?: string } = {},
  ): Promise<StreamedResponse> {
    const media = accept ? [accept] : (operation.media ?? [])
    const request = requestOf(operation, input, media.join(', ') || '*/*')
    const consume = async (reply: HttpResponse) => {
      try {
        assertMediaType(request, reply, media)
      } catch (error) {
        await leave(reply)
        throw error
      }
      return streamed(reply)
    }
    return sender.send(request, consume, translating(request, operation, input))
  }

  async function* pages<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): AsyncGenerator<Page<O>> {
    const first = requestOf(operation, input)
    const read = (request: OutgoingRequest) =>
      sender.send(request, (reply) => readPage(request, reply), translating(request, operation, input))
    for await (const { body, requestId, next } of readPages(first, read)) {
      // As in `call`: what a list holds is the server's word.
      yield { data: body.data as readonly Item<O>[], body: body as Answer<O>, more: next !== null, requestId }
    }
  }

  function rawRequest(raw: RawRequest): OutgoingRequest {
    const method = raw.method.toUpperCase()
    const address = baseUrl + raw.path + encodeQuery(raw.query)
    if (!raw.path.startsWith('/') || !URL.canParse(address) || raw.path.includes('#')) {
      throw new RequestError(
        'invalid_path',
        `${raw.path} is not a path: it must begin with /, such as /v1/courses`,
      )
    }
    const own = Object.fromEntries(
      Object.entries(raw.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    )
    const key = method === 'POST' ? encodeIdempotencyKey(raw.idempotencyKey ?? newIdempotencyKey()) : null
    return {
      method,
      url: address,
      headers: {
        accept: 'application/json',
        ...(raw.body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== null && { 'idempotency-key': key }),
        ...own,
      },
      ...(raw.body !== undefined && { body: raw.body }),
      ...(raw.signal && { signal: raw.signal }),
    }
  }

  return {
    call,
    open,
    pages,
    request: (operation, ...[input]) => requestOf(operation, input),
    rawRequest,
    send: (raw) => sender.send(rawRequest(raw), async (reply) => streamed(reply)),
  }
}

async function readAnswer(request: HttpRequest, reply: HttpResponse, operation: Operation): Promise<unknown> {
  if (operation.response !== null) {
    const body = await readJson(request, reply)
    return operation.list ? listOf(request, body) : body
  }
  // Nothing is expected; what comes all the same is read away, so that the connection can serve again.
  await readBytes(reply, 64 * 1024)
  return undefined
}

async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  const { setTimeout: delay } = await import('node:timers/promises')
  await delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error
  })
}
