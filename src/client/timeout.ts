import type { HttpBody, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { ConnectionError, hostOf, lineOf, ProtocolError, type Target, TimeoutError } from './errors.ts'
import { bytesOf } from './reply.ts'

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

/** Value of `Accept-Encoding` for hosts where transfer costs more than compression. */
export const acceptedCodings = 'gzip, br'

/** Bytes of output per chunk; four times zlib's default takes less than half the time. */
const chunkSize = 64 * 1024
/** Maximum expansion of a body longer than `uncheckedBytes`: real text does not compress this well. */
const maxExpansion = 200
const uncheckedBytes = 8 * 1024 * 1024

/**
 * Returns the reply with its body decoded as a stream; the `Content-Encoding` header stays. Reading that body throws
 * ProtocolError for an unknown coding, invalid data or a body that expands too far, and ConnectionError `cut_short`
 * if the end is missing.
 */
function decodeReply(target: Target, reply: HttpResponse): HttpResponse {
  const coding = (reply.headers['content-encoding'] ?? '').trim().toLowerCase()
  const { body } = reply
  if (body === null || coding === '' || coding === 'identity') return reply
  return { ...reply, body: decode(target, coding, body) }
}

async function* decode(target: Target, coding: string, body: HttpBody): AsyncGenerator<Uint8Array> {
  const [zlib, { pipeline, Readable }] = await Promise.all([import('node:zlib'), import('node:stream')])
  const source = Readable.from(bytesOf(body))
  if (coding !== 'gzip' && coding !== 'br') {
    source.destroy()
    throw encodingError(
      target,
      'unknown_encoding',
      `has the unsupported Content-Encoding ${JSON.stringify(coding)}`,
    )
  }
  const decoder =
    coding === 'br' ? zlib.createBrotliDecompress({ chunkSize }) : zlib.createGunzip({ chunkSize })
  pipeline([source, decoder], () => {})
  let sent = 0
  try {
    for await (const piece of decoder as AsyncIterable<Uint8Array>) {
      sent += piece.byteLength
      if (sent > uncheckedBytes && sent > decoder.bytesWritten * maxExpansion) {
        throw encodingError(target, 'too_large', `expands to more than ${maxExpansion} times its size`)
      }
      yield piece
    }
  } catch (error) {
    // An empty body is not encoded; the response to a HEAD has the header all the same.
    if (decoder.bytesWritten > 0 || !isCutShort(error)) throw faultOf(target, coding, error)
  }
}

function isCutShort(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
}

/** Converts a decoding error to one of this client; returns any other error, such as one of the connection, as it is. */
function faultOf(target: Target, coding: string, error: unknown): unknown {
  if (isCutShort(error)) {
    const message = `The response from ${hostOf(target)} was cut short (${lineOf(target)})`
    return new ConnectionError(target, 'cut_short', message, error)
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^(Z_|ERR_|BROTLI_)/i.test(code)) return error
  return encodingError(target, 'bad_encoding', `is not valid ${coding}`, error)
}

function encodingError(
  target: Target,
  code: 'unknown_encoding' | 'bad_encoding' | 'too_large',
  what: string,
  cause?: unknown,
): ProtocolError {
  const message = `The response from ${hostOf(target)} to ${lineOf(target)} ${what}`
  return new ProtocolError(target, code, message, cause)
}
