import type { HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { decodeReply } from './content-coding.ts'
import { TimeoutError } from './errors.ts'

/** In milliseconds. */
export interface Timeouts {
  /** Time until the response headers, including the connection. */
  readonly timeoutMs: number
  /** Time until the next chunk of the body while the client waits for it. */
  readonly idleTimeoutMs: number
}

/**
 * Performs one request with timeouts and decodes the content coding. Throws TimeoutError, also when the body is read,
 * and then aborts the transport. The body must be read to its end or left with `break`, else the connection stays
 * open.
 */
export async function exchangeWithin(
  transport: Transport,
  request: HttpRequest,
  timeouts: Timeouts,
): Promise<HttpResponse> {
  request.signal?.throwIfAborted()
  const exchange = new TimedExchange(request, timeouts)
  try {
    const reply = await exchange.within(
      transport({ ...request, signal: exchange.signal }),
      timeouts.timeoutMs,
      'first_byte_timeout',
    )
    const { body } = reply
    if (body !== null && typeof body === 'object' && Symbol.asyncIterator in body) {
      return decodeReply(request, { ...reply, body: exchange.guard(body) })
    }
    exchange.release()
    return decodeReply(request, reply)
  } catch (error) {
    exchange.release()
    throw error
  }
}

/** An exchange whose transport is aborted by its timeouts, or by the signal of its request until it is released. */
class TimedExchange {
  readonly #request: HttpRequest
  readonly #timeouts: Timeouts
  readonly #controller = new AbortController()
  readonly #forwardAbort = () => this.#controller.abort(this.#request.signal?.reason)

  constructor(request: HttpRequest, timeouts: Timeouts) {
    this.#request = request
    this.#timeouts = timeouts
    request.signal?.addEventListener('abort', this.#forwardAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stops listening to the signal of the request. */
  release(): void {
    this.#request.signal?.removeEventListener('abort', this.#forwardAbort)
  }

  /** Waits for work; throws TimeoutError and aborts the transport if it takes longer than `ms`. */
  within<T>(work: Promise<T>, ms: number, code: 'first_byte_timeout' | 'idle_timeout'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#abort(new TimeoutError(this.#request, code, ms))), ms)
      work.then(
        (value) => {
          clearTimeout(timer)
          resolve(value)
        },
        (error: unknown) => {
          clearTimeout(timer)
          reject(error)
        },
      )
    })
  }

  /** Yields a body; throws TimeoutError if it stalls, and releases the exchange at its end. */
  async *guard<Piece extends string | Uint8Array>(body: AsyncIterable<Piece>): AsyncGenerator<Piece> {
    const { idleTimeoutMs } = this.#timeouts
    const iterator = body[Symbol.asyncIterator]()
    let ended = false
    try {
      for (;;) {
        const step = await this.within(iterator.next(), idleTimeoutMs, 'idle_timeout')
        ended = step.done === true
        if (step.done) return
        yield step.value
      }
    } catch (error) {
      ended = true
      throw error
    } finally {
      this.release()
      if (!ended) await iterator.return?.()
    }
  }

  #abort(error: TimeoutError): TimeoutError {
    this.#controller.abort(error)
    return error
  }
}
