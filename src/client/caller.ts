import { isJsonObject } from '../codec/json-text.ts'
import type { HttpResponse, Transport } from '../contract/http.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import type { AnyInput, CallArguments, CallInput, Item, OutgoingRequest, Page, Result } from './call.ts'
import { ApiError, hostOf, isOurs, NotOfferedError, refusalOf } from './errors.ts'
import { describedTransport, platformTransport } from './platform/index.ts'
import type { PlatformFile } from './platform/platform-schema.ts'
import type { CredentialKind } from './problem.ts'
import {
  assertMediaType,
  bareResult,
  discardBody,
  isOwnReply,
  readAnswer,
  readPage,
  readPages,
  type StreamedResponse,
  streamOf,
} from './reply.ts'
import { normaliseBaseUrl, type RawRequest, rawRequestOf, requestOf } from './request.ts'
import type { Wait } from './retry.ts'
import { type ExchangeReport, Sender, type Translate } from './sender.ts'
import { prepareWrite } from './write.ts'

/** Calls operations on one platform. It throws only the errors of errors.ts, or the reason of an aborted signal. */
export interface Caller {
  /** Calls an operation and reads the whole response, which is not validated. */
  call<const O extends Operation>(operation: O, ...input: CallArguments<O>): Promise<Result<Answer<O>>>
  /**
   * Calls a write on a platform of any kind: where the platform is no server of this API, replaces references by ids and
   * compares the version before.
   */
  write<const O extends Operation>(operation: O, ...input: CallArguments<O>): Promise<Result<Answer<O>>>
  /** Calls an operation and returns the response as a stream; read it to its end, or leave the loop with `break`. */
  open<const O extends Operation>(
    operation: O,
    input: CallInput<O>,
    options?: { readonly accept?: string },
  ): Promise<StreamedResponse>
  /** Iterates over the pages of a list; each is requested when it is needed. */
  pages<const O extends Operation>(operation: O, ...input: CallArguments<O>): AsyncGenerator<Page<O>>
  /** Returns the request that `call` would send, without its credential. */
  request<const O extends Operation>(operation: O, ...input: CallArguments<O>): OutgoingRequest
  /** Sends any request with the same credential, timeouts and retries; returns the response as a stream. */
  send(request: RawRequest): Promise<StreamedResponse>
  /** Returns the request that `send` would send, without its credential. */
  rawRequest(request: RawRequest): OutgoingRequest
  /** True once the platform has shown that it is a server of this API, from the start for one in this process. */
  isOurs(): boolean
}

/** Address, credential, timeouts and retries of a caller. */
export interface CallerOptions {
  readonly baseUrl: string
  readonly transport: Transport
  /** True for a server of this API, whose responses need no check (default: decided by the headers of each reply). */
  readonly ours?: boolean | undefined
  /** How another platform differs from the published form; null (the default) if it does not. */
  readonly platform?: PlatformFile | null | undefined
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

/** Throws RequestError if the base URL is invalid. */
export function createCaller(options: CallerOptions): Caller {
  return new PlatformCaller(options)
}

/** Pages to search for one course. */
const maxListPages = 25

class PlatformCaller implements Caller {
  readonly #baseUrl: string
  readonly #sender: Sender
  readonly #rawSender: Sender
  readonly #newIdempotencyKey: () => string
  readonly #isInProcess: boolean
  /** Ids by reference, where the platform is no server of this API. */
  readonly #ids = new Map<string, Promise<string>>()
  /** Operations that the platform file describes. */
  readonly #described: ReadonlySet<string>
  #isOurs: boolean

  constructor(options: CallerOptions) {
    const { ours = false, platform = null } = options
    this.#baseUrl = normaliseBaseUrl(options.baseUrl)
    this.#newIdempotencyKey = options.newIdempotencyKey ?? (() => crypto.randomUUID())
    this.#isInProcess = ours
    this.#isOurs = ours
    this.#described = new Set(Object.keys(platform?.operations ?? {}))
    const common = {
      baseUrl: this.#baseUrl,
      authorization: options.authorization,
      reauthorization: options.reauthorization,
      credential: options.credential ?? ('api_key' as const),
      insecureHttp: options.insecureHttp ?? false,
      attempts: options.attempts ?? 4,
      timeoutMs: options.timeoutMs ?? 30_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
      maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
      now: options.now ?? Date.now,
      sleep: options.sleep ?? sleepFor,
      random: options.random ?? Math.random,
      honoursKeys: platform === null ? null : platform.idempotencyKey === true,
      onWait: options.onWait,
      onExchange: options.onExchange,
    }
    const watched: Transport = async (request) => {
      const reply = await options.transport(request)
      this.#isOurs ||= isOwnReply(reply)
      return reply
    }
    const raw = platform === null ? watched : describedTransport(watched, platform)
    this.#rawSender = new Sender({ ...common, transport: raw, describe: null })
    const describe = (send: Transport) => platformTransport(send, platform)
    this.#sender = ours ? this.#rawSender : new Sender({ ...common, transport: raw, describe })
    // Programs take single functions out of a caller.
    this.call = this.call.bind(this)
    this.write = this.write.bind(this)
    this.open = this.open.bind(this)
    this.pages = this.pages.bind(this)
    this.request = this.request.bind(this)
    this.send = this.send.bind(this)
    this.rawRequest = this.rawRequest.bind(this)
    this.isOurs = this.isOurs.bind(this)
  }

  async call<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): Promise<Result<Answer<O>>> {
    const request = this.#requestOf(operation, input)
    const consume = async (reply: HttpResponse) => {
      const { data, id } = await readAnswer(request, reply, operation, input ?? {})
      return {
        // Not validated: servers of other versions send fewer or more fields than the contract has.
        data: data as Answer<O>,
        status: reply.status,
        requestId: reply.headers['x-request-id'] ?? null,
        etag: reply.headers['etag'] ?? null,
        replayed: reply.headers['idempotent-replayed'] === 'true',
        unchanged: reply.headers['unchanged'] === 'true',
        location: reply.headers['location'] ?? null,
        fromList: false,
        id,
        date: reply.headers['date'] ?? null,
      }
    }
    try {
      return await this.#sender.send(request, consume, this.#translate(request, operation))
    } catch (error) {
      const listed = this.#isOurs ? undefined : await this.#listedCourse(operation, input, error)
      if (listed === undefined) throw error
      // Not validated, as above.
      return { ...bareResult, data: listed as Answer<O>, fromList: true }
    }
  }

  async write<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): Promise<Result<Answer<O>>> {
    const platform = { host: new URL(this.#baseUrl).host, ...this.#untyped }
    const prepared = await prepareWrite(platform, this.#ids, operation, input ?? {})
    // Not validated, as in `call`.
    return (await this.call<Operation>(operation, prepared)) as Result<Answer<O>>
  }

  async open(
    operation: Operation,
    input: AnyInput,
    { accept }: { readonly accept?: string } = {},
  ): Promise<StreamedResponse> {
    const media = accept ? [accept] : (operation.media ?? [])
    const request = this.#requestOf(operation, input, media.join(', ') || '*/*')
    const consume = async (reply: HttpResponse) => {
      try {
        assertMediaType(request, reply, media)
      } catch (error) {
        await discardBody(reply)
        throw error
      }
      return streamOf(reply)
    }
    return this.#sender.send(request, consume, this.#translate(request, operation))
  }

  async *pages<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): AsyncGenerator<Page<O>> {
    const first = this.#requestOf(operation, input)
    const read = (request: OutgoingRequest) =>
      this.#sender.send(request, (reply) => readPage(request, reply), this.#translate(request, operation))
    for await (const { items, around, headers, more } of readPages(first, read)) {
      // Not validated, as in `call`.
      yield { data: items as readonly Item<O>[], around, more, requestId: headers['x-request-id'] ?? null }
    }
  }

  isOurs(): boolean {
    return this.#isOurs
  }

  get #untyped() {
    return {
      isOurs: this.isOurs,
      call: (operation: Operation, input: AnyInput) => this.call(operation, input),
      pages: (operation: Operation, input: AnyInput) => this.pages(operation, input),
    }
  }

  request<const O extends Operation>(operation: O, ...[input]: CallArguments<O>): OutgoingRequest {
    return this.#requestOf(operation, input)
  }

  send(raw: RawRequest): Promise<StreamedResponse> {
    return this.#rawSender.send(this.rawRequest(raw), async (reply) => streamOf(reply))
  }

  rawRequest(raw: RawRequest): OutgoingRequest {
    return rawRequestOf(this.#baseUrl, raw, this.#newIdempotencyKey)
  }

  #requestOf(operation: Operation, input: AnyInput = {}, accept = 'application/json'): OutgoingRequest {
    // Responses of an academy in this process need no confirmation.
    const asked = this.#isInProcess ? input : { ...input, handling: input.handling ?? ('strict' as const) }
    return requestOf(this.#baseUrl, operation, asked, accept, this.#newIdempotencyKey)
  }

  /** Recognises errors which mean that the platform lacks the operation. */
  #translate(request: OutgoingRequest, operation: Operation): Translate {
    return async (error) => {
      if (!(error instanceof ApiError)) return error
      if ([405, 501].includes(error.status)) return new NotOfferedError(request, operation.id, error)
      if (error.status !== 404 || error.coded || isOurs(error) || operation.published) return error
      // Only a file says that an operation beyond the published ones is there: then a record is missing.
      return this.#described.has(operation.id) ? error : new NotOfferedError(request, operation.id, error)
    }
  }

  /**
   * Returns a course from the published list where the platform shows no single course; undefined for any other call or
   * error. Throws ApiError with status 404 if the whole list does not show it.
   */
  async #listedCourse(operation: Operation, input: AnyInput = {}, error: unknown): Promise<unknown> {
    const refusal = error instanceof NotOfferedError ? error.cause : error
    if (operation.id !== 'courses.get' || !(refusal instanceof ApiError)) return undefined
    if (refusal.coded || ![404, 405, 501].includes(refusal.status)) return undefined
    const { calls } = await import('../contract/calls.ts')
    const { courseId } = input.params ?? {}
    let left = maxListPages
    try {
      for await (const { data, more } of this.pages<Operation>(calls.courses.list, {
        signal: input.signal,
      })) {
        const found = data.find((item) => isJsonObject(item) && item['id'] === courseId)
        left -= 1
        if (found !== undefined) return found
        if (more && left === 0) return undefined
      }
    } catch (cause) {
      // Without the list, the error of the single course stands.
      if (cause instanceof NotOfferedError || (cause instanceof ApiError && cause.status === 404))
        return undefined
      throw cause
    }
    const detail = `${hostOf(refusal)} has no course ${courseId}`
    throw new ApiError(refusal, { ...refusalOf(refusal), status: 404, code: 'not_found', detail })
  }
}

async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  const { setTimeout: delay } = await import('node:timers/promises')
  await delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error
  })
}
