import { isJsonObject } from '../codec/json-text.ts'
import type { HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import type { OutgoingRequest } from './call.ts'
import { ApiError, ProtocolError } from './errors.ts'
import { type CredentialKind, errorOf } from './problem.ts'
import { readJson } from './reply.ts'
import { assertConfidential } from './request.ts'
import { type RetryPolicy, resolveRepeated, retry } from './retry.ts'
import { exchangeWithin, type Timeouts } from './timeout.ts'

export interface ExchangeReport {
  readonly method: string
  readonly url: string
  readonly attempt: number
  readonly status: number | null
  readonly requestId: string | null
  readonly error: Error | null
  /** Time until the response headers arrived. */
  readonly durationMs: number
}

interface SenderOptions extends RetryPolicy, Timeouts {
  readonly baseUrl: string
  readonly transport: Transport
  /** Null if the transports are the same. */
  readonly describe: ((send: Transport) => Transport) | null
  readonly authorization: (() => Promise<string | null>) | undefined
  readonly reauthorization: ((refused: string) => Promise<string | null>) | undefined
  readonly credential: CredentialKind
  readonly insecureHttp: boolean
  /** Null to ask the server's OpenAPI document when that is needed. */
  readonly honoursKeys: boolean | null
  readonly now: () => number
  readonly onExchange: ((report: ExchangeReport) => void) | undefined
}

/** Reads a successful reply; if the body is cut off, the request is retried. */
type Consume<T> = (reply: HttpResponse) => Promise<T>

export type Translate = (error: ApiError | ProtocolError) => Promise<Error>

/** A request refreshes its credential once in all its attempts. */
interface Refreshed {
  done: boolean
}

export class Sender {
  readonly #options: SenderOptions
  #honoursKeys: Promise<boolean> | null
  #isConfidential: boolean

  constructor(options: SenderOptions) {
    const { honoursKeys } = options
    this.#options = options
    this.#honoursKeys = honoursKeys === null ? null : Promise.resolve(honoursKeys)
    this.#isConfidential = options.insecureHttp
  }

  /** Throws the errors of errors.ts and the reason of an aborted signal. */
  async send<T>(request: OutgoingRequest, consume: Consume<T>, translate?: Translate): Promise<T> {
    const refreshed: Refreshed = { done: false }
    const honoursKeys = async () => 'idempotency-key' in request.headers && this.#askHonoursKeys()
    return retry(this.#options, { ...request, honoursKeys }, async (attempt, mayHaveHappened) => {
      try {
        return await this.#attempt(request, attempt, consume, refreshed)
      } catch (fault) {
        const isReply = fault instanceof ApiError || fault instanceof ProtocolError
        const error = translate && isReply ? await translate(fault) : fault
        if (!mayHaveHappened || !(error instanceof ApiError)) throw error
        return resolveRepeated(request, error, {
          read: (get) =>
            this.send(get, async (reply) => ({
              body: await readJson(get, reply),
              etag: reply.headers['etag'] ?? null,
            })),
          repeat: (put) => this.#attempt(put, attempt, consume, refreshed),
          accept: consume,
        })
      }
    })
  }

  /** Makes a second attempt after a 401, with a new credential if there is one. */
  async #attempt<T>(
    request: OutgoingRequest,
    attempt: number,
    consume: Consume<T>,
    refreshed: Refreshed,
  ): Promise<T> {
    const signed = await this.#sign(request)
    try {
      return await this.#exchange(signed, attempt, consume)
    } catch (error) {
      const refused = 'authorization' in request.headers ? undefined : signed.headers['authorization']
      if (!isUnauthorized(error) || refused === undefined || refreshed.done) throw error
      refreshed.done = true
      const value = (await this.#options.reauthorization?.(refused)) ?? null
      if (value === null) throw error
      const again = { ...signed, headers: { ...signed.headers, authorization: value } }
      return this.#exchange(again, attempt, consume)
    }
  }

  /** Throws RequestError if the credential would be sent unencrypted. */
  async #sign(request: OutgoingRequest): Promise<OutgoingRequest> {
    const { authorization, baseUrl } = this.#options
    const value = 'authorization' in request.headers ? null : await authorization?.()
    const headers = value ? { ...request.headers, authorization: value } : request.headers
    if (!this.#isConfidential && ('authorization' in headers || 'cookie' in headers)) {
      assertConfidential(baseUrl)
      this.#isConfidential = true
    }
    return { ...request, headers }
  }

  async #exchange<T>(signed: OutgoingRequest, attempt: number, consume: Consume<T>): Promise<T> {
    const { describe, credential, now } = this.#options
    const send: Transport = (request) => this.#sendOver(request, attempt)
    const reply = await (describe ? describe(send) : send)(signed)
    if (reply.status >= 200 && reply.status <= 299) return consume(reply)
    throw await errorOf(signed, reply, 'authorization' in signed.headers ? credential : null, now)
  }

  async #sendOver(request: HttpRequest, attempt: number): Promise<HttpResponse> {
    const { transport, now, onExchange } = this.#options
    const { method, url, headers } = request
    const startMs = now()
    const report = (status: number | null, requestId: string | null, error: Error | null) =>
      onExchange?.({ method, url, attempt, status, requestId, error, durationMs: now() - startMs })
    const reply = await exchangeWithin(transport, request, this.#options).catch((error: unknown) => {
      report(null, null, error instanceof Error ? error : null)
      throw error
    })
    // A platform without request ids can still know the id that was sent.
    report(reply.status, reply.headers['x-request-id'] ?? headers['x-request-id'] ?? null, null)
    return reply
  }

  #askHonoursKeys(): Promise<boolean> {
    this.#honoursKeys ??= this.#readHonoursKeys().catch(() => {
      this.#honoursKeys = null // A later retry asks again.
      return false
    })
    return this.#honoursKeys
  }

  async #readHonoursKeys(): Promise<boolean> {
    const url = `${this.#options.baseUrl}/v1/openapi.json`
    const request = { method: 'GET', url, headers: { accept: 'application/json' } }
    try {
      const document = await this.send(request, (reply) => readJson(request, reply))
      return isJsonObject(document) && document['x-idempotency'] === true
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return false
      throw error
    }
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}
