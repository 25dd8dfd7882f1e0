import type { HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { normaliseBaseUrl } from './base-url.ts'
import type { AnyInput, CallArguments, CallInput, Item, OutgoingRequest, Page, Result } from './call.ts'
import { ApiError, hostOf, isOurs, lineOf, NotOfferedError, ProtocolError } from './errors.ts'
import type { Refuse } from './foreign/reply.ts'
import { type CredentialKind, errorOf } from './problem.ts'
import {
  assertMediaType,
  bareResult,
  discardBody,
  isOwnReply,
  isStrict,
  type RawPage,
  readOwnAnswer,
  readOwnPage,
  readOwnPages,
  type StreamedResponse,
  streamOf,
  type WalkedPage,
} from './reply.ts'
import { type RawRequest, rawRequestOf, requestOf } from './request.ts'
import type { Wait } from './retry.ts'
import { type ExchangeReport, Sender, type Translate } from './sender.ts'
import { createWrite } from './write.ts'

/** Calls operations on one platform. It throws only the errors of errors.ts, or the reason of an aborted signal. */
export interface Caller {
  /** Calls an operation and reads the whole response, which is not validated. */
  call<const O extends Operation>(operation: O, ...input: CallArguments<O>): Promise<Result<Answer<O>>>
  /**
   * Calls a write on a platform of any style: replaces references by ids and compares the version before, where the
   * platform may not do so itself, and reads the record back if the response does not confirm the write.
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
  return new PlatformCaller(options)
}

/** Maximum number of pages of a list to search for one record. */
const maxListPages = 25

class PlatformCaller implements Caller {
  readonly #baseUrl: string
  readonly #sender: Sender
  readonly #write: ReturnType<typeof createWrite>
  readonly #newIdempotencyKey: () => string
  /** True for an academy in this process. */
  readonly #isInProcess: boolean
  /** Returns the error of a refusal in a response with a status of success. */
  readonly #refuse: Refuse
  #isOurs: boolean

  constructor(options: CallerOptions) {
    const { credential = 'api_key', now = Date.now, ours = false } = options
    this.#baseUrl = normaliseBaseUrl(options.baseUrl)
    this.#newIdempotencyKey = options.newIdempotencyKey ?? (() => crypto.randomUUID())
    this.#isInProcess = ours
    this.#isOurs = ours
    this.#sender = new Sender({
      baseUrl: this.#baseUrl,
      transport: options.transport,
      authorization: options.authorization,
      reauthorization: options.reauthorization,
      credential,
      insecureHttp: options.insecureHttp ?? false,
      attempts: options.attempts ?? 4,
      timeoutMs: options.timeoutMs ?? 30_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 30_000,
      maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
      now,
      sleep: options.sleep ?? sleepFor,
      random: options.random ?? Math.random,
      onWait: options.onWait,
      onExchange: options.onExchange,
    })
    const sentCredential = options.authorization ? credential : null
    this.#refuse = (target, reply, failure) => errorOf(target, reply, sentCredential, now, failure)
    this.#write = createWrite({
      call: (operation, input) => this.call(operation, input),
      pages: (operation, input) => this.pages(operation, input),
      host: new URL(this.#baseUrl).host,
      isOurs: () => this.#isOurs,
    })
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
      const { data, written, id } = this.#recognise(reply)
        ? await readOwnAnswer(request, reply, operation, input ?? {})
        : await (await import('./foreign/reply.ts')).readAnswer(
            { target: request, operation, input: input ?? {}, reply },
            this.#refuse,
          )
      return {
        // Not validated: servers of other versions send fewer or more fields than the contract has.
        data: data as Answer<O>,
        status: reply.status,
        requestId: reply.headers['x-request-id'] ?? null,
        etag: reply.headers['etag'] ?? null,
        replayed: reply.headers['idempotent-replayed'] === 'true',
        unchanged: reply.headers['unchanged'] === 'true',
        location: reply.headers['location'] ?? null,
        strict: this.#isInProcess || isStrict(reply.headers),
        fromList: false,
        written,
        id,
        date: reply.headers['date'] ?? null,
      }
    }
    try {
      return await this.#sender.send(request, consume, this.#translate(request, operation, input))
    } catch (error) {
      if (!(error instanceof NotOfferedError) || error.listed === undefined) throw error
      // Not validated, as above.
      return { ...bareResult, data: error.listed as Answer<O>, fromList: true }
    }
  }

  async write<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): Promise<Result<Answer<O>>> {
    const result = await this.#write(operation, input ?? {})
    // Not validated, as in `call`.
    return { ...result, data: result.data as Answer<O> }
  }

  async open(
    operation: Operation,
    input: AnyInput,
    { accept }: { readonly accept?: string } = {},
  ): Promise<StreamedResponse> {
    const media = accept ? [accept] : (operation.media ?? [])
    const request = this.#requestOf(operation, input, media.join(', ') || '*/*')
    const consume = async (reply: HttpResponse) => {
      this.#recognise(reply)
      try {
        assertMediaType(request, reply, media)
      } catch (error) {
        await (await import('./foreign/reply.ts')).assertNoFailure(request, reply, this.#refuse)
        await discardBody(reply)
        throw error
      }
      return streamOf(reply)
    }
    return this.#sender.send(request, consume, this.#translate(request, operation, input))
  }

  async *pages<const O extends Operation>(
    operation: O,
    ...[input]: CallArguments<O>
  ): AsyncGenerator<Page<O>> {
    const first = this.#requestOf(operation, input)
    const read = (request: OutgoingRequest) =>
      this.#sender.send(
        request,
        (reply) => this.#readPage(request, reply, operation),
        this.#translate(request, operation, input),
      )
    for await (const { items, around, headers, more } of readPages(first, read)) {
      // Not validated, as in `call`.
      yield {
        data: items as readonly Item<O>[],
        around: around.at(-1) ?? {},
        more,
        requestId: headers['x-request-id'] ?? null,
        strict: this.#isInProcess || isStrict(headers),
      }
    }
  }

  isOurs(): boolean {
    return this.#isOurs
  }

  request<const O extends Operation>(operation: O, ...[input]: CallArguments<O>): OutgoingRequest {
    return this.#requestOf(operation, input)
  }

  send(raw: RawRequest): Promise<StreamedResponse> {
    return this.#sender.send(this.rawRequest(raw), async (reply) => streamOf(reply))
  }

  rawRequest(raw: RawRequest): OutgoingRequest {
    return rawRequestOf(this.#baseUrl, raw, this.#newIdempotencyKey)
  }

  #requestOf(operation: Operation, input: AnyInput = {}, accept = 'application/json'): OutgoingRequest {
    // Responses of an academy in this process need no confirmation.
    const asked = this.#isInProcess ? input : { ...input, handling: input.handling ?? ('strict' as const) }
    return requestOf(this.#baseUrl, operation, asked, accept, this.#newIdempotencyKey)
  }

  /** True for a reply of a server of this API, which the caller then remembers. */
  #recognise(reply: HttpResponse): boolean {
    if (this.#isInProcess) return true
    const isOwn = isOwnReply(reply)
    this.#isOurs ||= isOwn
    return isOwn
  }

  /** Returns a function that finds out whether an error means that the platform lacks the operation. */
  #translate(request: HttpRequest, operation: Operation, input: AnyInput = {}): Translate {
    return async (error) => {
      const isOffered = error instanceof ApiError && isOurs(error) && ![405, 501].includes(error.status)
      if (isOffered) return error
      const { offeringErrorOf } = await import('./foreign/offering.ts')
      const readList = (path: string) => this.#readList(operation, path)
      return offeringErrorOf(request, operation, input.params ?? {}, error, readList)
    }
  }

  /**
   * Yields the pages of the list at a path, each requested once. Throws a ProtocolError if the list has more than
   * `maxListPages` pages.
   */
  async *#readList(operation: Operation, path: string): AsyncGenerator<readonly unknown[]> {
    const first = { method: 'GET', url: this.#baseUrl + path, headers: { accept: 'application/json' } }
    const list = { ...operation, path: `/${path.slice(1)}` } as const
    const read = (request: OutgoingRequest) =>
      this.#sender.sendOnce(request, (reply) => this.#readPage(request, reply, list))
    let pages = 0
    let count = 0
    for await (const { items, more } of readPages(first, read)) {
      yield items
      pages += 1
      count += items.length
      if (!more) return
      if (pages === maxListPages) {
        const message = `${hostOf(first)} does not support ${operation.id}, and the first ${count} items of its list do not show it (${lineOf(first)})`
        throw new ProtocolError(first, 'incomplete', message)
      }
    }
  }

  async #readPage(request: OutgoingRequest, reply: HttpResponse, operation: Operation): Promise<RawPage> {
    if (this.#recognise(reply)) return readOwnPage(request, reply)
    const { readPage } = await import('./foreign/reply.ts')
    return readPage(request, reply, operation, this.#refuse)
  }
}

/** Yields every page of a list, beginning with that of the given request. */
async function* readPages(
  request: OutgoingRequest,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<WalkedPage> {
  const first = await read(request)
  if (first.isOwn) yield* readOwnPages(request, first, read)
  else yield* (await import('./foreign/walk.ts')).readPages(request, first, read)
}

async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  const { setTimeout: delay } = await import('node:timers/promises')
  await delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error
  })
}
