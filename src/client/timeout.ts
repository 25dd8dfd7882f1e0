import type { HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { decodeReply } from './content-coding.ts'
import { TimeoutError } from './errors.ts'

/** Minimum data of a body within `timeoutMs`; without it, a slow body could hold a command for ever. */
const minWindowBytes = 1024

/** Timeouts of an attempt, in milliseconds. */
export interface Timeouts {
  /** Time until the response headers, including the connection. */
  readonly timeoutMs: number
  /** Time until the next chunk of the body while the client waits for it; no limit in all for 1 KiB per `timeoutMs`. */
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
  const { timeoutMs, idleTimeoutMs } = timeouts
  const { signal: outer } = request
  outer?.throwIfAborted()
  const controller = new AbortController()
  const forward = () => controller.abort(outer?.reason)
  outer?.addEventListener('abort', forward, { once: true })
  const release = () => outer?.removeEventListener('abort', forward)

  const within = <T>(work: Promise<T>, ms: number, code: 'first_byte_timeout' | 'idle_timeout') =>
    new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = new TimeoutError(request, code, ms)
        reject(error)
        controller.abort(error)
      }, ms)
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

  async function* guarded<Piece extends string | Uint8Array>(
    body: AsyncIterable<Piece>,
  ): AsyncGenerator<Piece> {
    const iterator = body[Symbol.asyncIterator]()
    let ended = false
    let waitedMs = 0
    let bytes = 0
    try {
      for (;;) {
        const startMs = Date.now()
        const step = await within(iterator.next(), idleTimeoutMs, 'idle_timeout')
        ended = step.done === true
        if (step.done) return
        // Only time spent waiting counts, not the reader's own.
        waitedMs += Date.now() - startMs
        bytes += step.value.length
        if (bytes >= minWindowBytes) {
          waitedMs = 0
          bytes = 0
        } else if (waitedMs > timeoutMs) {
          const error = new TimeoutError(request, 'too_slow', timeoutMs)
          controller.abort(error)
          throw error
        }
        yield step.value
      }
    } catch (error) {
      ended = true
      throw error
    } finally {
      release()
      if (!ended) await iterator.return?.()
    }
  }

  try {
    const reply = await within(
      transport({ ...request, signal: controller.signal }),
      timeoutMs,
      'first_byte_timeout',
    )
    const { body } = reply
    if (body !== null && typeof body === 'object' && Symbol.asyncIterator in body) {
      return decodeReply(request, { ...reply, body: guarded(body) })
    }
    release()
    return decodeReply(request, reply)
  } catch (error) {
    release()
    throw error
  }
}
