import { isJsonObject } from '../codec/json-text.ts'
import type { HttpResponse, Transport } from '../contract/http.ts'
import { assertConfidential } from './base-url.ts'
import type { OutgoingRequest } from './call.ts'
import { ApiError, ProtocolError } from './errors.ts'
import { type CredentialKind, errorOf } from './problem.ts'
import { readJson } from './reply.ts'
import { type RetryPolicy, retry, settleRepeated } from './retry.ts'
import { exchangeWithin, type Timeouts } from './timeout.ts'

/** Report of one attempt: it got the headers of a response, or failed. */
export interface ExchangeReport {
  readonly method: string
  readonly url: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  readonly status: number | null
  readonly requestId: string | null
  readonly error: Error | null
  /** Time until the response headers arrived. */
  readonly durationMs: number
}

/** Options of a sender. */
export interface SenderOptions extends RetryPolicy, Timeouts {
  readonly baseUrl: string
  readonly transport: Transport
  readonly authorization: (() => Promise<string | null>) | undefined
  readonly reauthorization: ((refused: string) => Promise<string | null>) | undefined
  readonly credential: CredentialKind
  readonly insecureHttp: boolean
  readonly now: () => number
  readonly onExchange: ((report: ExchangeReport) => void) | undefined
}

/** Reads a successful reply; if the body is cut off, the request is retried. */
export type Consume<T> = (reply: HttpResponse) => Promise<T>

/** Finds the actual error behind an error response or an invalid response. */
export type Translate = (error: ApiError | ProtocolError) => Promise<Error>

/** Sends requests with credential, timeouts and retries. */
export interface Sender {
  /** Sends until success or a permanent error. Throws the errors of errors.ts and the reason of an aborted signal. */
  send<T>(request: OutgoingRequest, consume: Consume<T>, translate?: Translate): Promise<T>
  /** Sends once, without retries. */
  sendOnce<T>(request: OutgoingRequest, consume: Consume<T>): Promise<T>
}

/** Whether a request already refreshed its credential: it does so once in all its attempts. */
interface Refreshed {
  done: boolean
}

/** Creates a sender for one base URL. */
export function createSender(options: SenderOptions): Sender {
  const { baseUrl, transport, authorization, credential, insecureHttp, now, onExchange } = options
  const reauthorization = options.reauthorization ?? (async () => null)
  let honours: Promise<boolean> | null = null
  let isConfidential = insecureHttp

  async function withCredential(request: OutgoingRequest): Promise<OutgoingRequest> {
    const value = 'authorization' in request.headers ? null : await authorization?.()
    const headers = value ? { ...request.headers, authorization: value } : request.headers
    if (!isConfidential && ('authorization' in headers || 'cookie' in headers)) {
      assertConfidential(baseUrl)
      isConfidential = true
    }
    return { ...request, headers }
  }

  async function attemptOnce<T>(
    request: OutgoingRequest,
    attempt: number,
    consume: Consume<T>,
    refreshed: Refreshed,
  ) {
    const signed = await withCredential(request)
    try {
      return await exchangeOnce(signed, attempt, consume)
    } catch (error) {
      const refused = 'authorization' in request.headers ? undefined : signed.headers['authorization']
      if (!isUnauthorized(error) || refused === undefined || refreshed.done) throw error
      refreshed.done = true
      const value = await reauthorization(refused)
      if (value === null) throw error
      return exchangeOnce(
        { ...signed, headers: { ...signed.headers, authorization: value } },
        attempt,
        consume,
      )
    }
  }

  async function exchangeOnce<T>(signed: OutgoingRequest, attempt: number, consume: Consume<T>): Promise<T> {
    const startMs = now()
    const report = (status: number | null, requestId: string | null, error: Error | null) =>
      onExchange?.({
        method: signed.method,
        url: signed.url,
        attempt,
        status,
        requestId,
        error,
        durationMs: now() - startMs,
      })
    const reply = await exchangeWithin(transport, signed, options).catch((error: unknown) => {
      report(null, null, error instanceof Error ? error : null)
      throw error
    })
    // A platform without request ids can still know the id that was sent.
    report(reply.status, reply.headers['x-request-id'] ?? signed.headers['x-request-id'] ?? null, null)
    if (reply.status >= 200 && reply.status <= 299) return consume(reply)
    throw await errorOf(signed, reply, 'authorization' in signed.headers ? credential : null, now)
  }

  async function send<T>(request: OutgoingRequest, consume: Consume<T>, translate?: Translate): Promise<T> {
    const refreshed: Refreshed = { done: false }
    const keyed = async () => 'idempotency-key' in request.headers && honoursKeys()
    return retry(options, { ...request, honoursKeys: keyed }, async (attempt, mayHaveHappened) => {
      try {
        return await attemptOnce(request, attempt, consume, refreshed)
      } catch (fault) {
        const told = fault instanceof ApiError || fault instanceof ProtocolError
        const error = translate && told ? await translate(fault) : fault
        if (!mayHaveHappened || !(error instanceof ApiError)) throw error
        return settleRepeated(request, error, {
          read: (get) =>
            send(get, async (reply) => ({
              body: await readJson(get, reply),
              etag: reply.headers['etag'] ?? null,
            })),
          repeat: (put) => attemptOnce(put, attempt, consume, refreshed),
          accept: consume,
        })
      }
    })
  }

  function honoursKeys(): Promise<boolean> {
    honours ??= askHonours().catch(() => {
      honours = null // A later retry asks again.
      return false
    })
    return honours
  }

  async function askHonours(): Promise<boolean> {
    const request = {
      method: 'GET',
      url: `${baseUrl}/v1/openapi.json`,
      headers: { accept: 'application/json' },
    }
    try {
      const document = await send(request, (reply) => readJson(request, reply))
      return isJsonObject(document) && document['x-idempotency'] === true
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return false
      throw error
    }
  }

  return { send, sendOnce: (request, consume) => attemptOnce(request, 1, consume, { done: false }) }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}
