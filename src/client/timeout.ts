import type { HttpBody, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import {
  ConnectionError,
  hostOf,
  lineOf,
  ProtocolError,
  type Target,
  type TimeoutCode,
  TimeoutError,
} from './errors.ts'
import { bytesOf } from './reply.ts'

/** In milliseconds. */
export interface Timeouts {
  /** Time until the response headers, including the connection. */
  readonly timeoutMs: number
  /** Time until the next chunk of the body while the client waits for it. */
  readonly idleTimeoutMs: number
}

/**
 * Throws TimeoutError, also when the body is read. It must be read to its end or left with `break`, else the connection
 * stays open.
 */
export async function exchangeWithin(
  transport: Transport,
  request: HttpRequest,
  { timeoutMs, idleTimeoutMs }: Timeouts,
): Promise<HttpResponse> {
  const { signal } = request
  signal?.throwIfAborted()
  const controller = new AbortController()
  const forwardAbort = () => controller.abort(signal?.reason)
  const release = () => signal?.removeEventListener('abort', forwardAbort)
  signal?.addEventListener('abort', forwardAbort, { once: true })

  /** Throws TimeoutError and aborts the transport if it takes longer. */
  async function within<T>(work: Promise<T>, ms: number, code: TimeoutCode): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new TimeoutError(request, code, ms)
        reject(error)
        controller.abort(error)
      }, ms)
    })
    return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
  }

  /** Throws TimeoutError if the body stalls, and releases the signal of the request at its end. */
  async function* guarded<Piece extends string | Uint8Array>(body: AsyncIterable<Piece>) {
    const iterator = body[Symbol.asyncIterator]()
    let isOpen = true
    try {
      for (;;) {
        isOpen = false
        const step = await within(iterator.next(), idleTimeoutMs, 'idle_timeout')
        if (step.done) return
        isOpen = true
        yield step.value
      }
    } finally {
      release()
      if (isOpen) await iterator.return?.()
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

/** Used for hosts where transfer costs more than compression. */
export const acceptedCodings = 'gzip, br'

/** Bytes of output per chunk; four times zlib's default takes less than half the time. */
const chunkSize = 64 * 1024
/** Maximum expansion of a body longer than `uncheckedBytes`: real text does not compress this well. */
const maxExpansion = 200
const uncheckedBytes = 8 * 1024 * 1024

/** Keeps `Content-Encoding`. Reading throws ProtocolError for invalid data, and ConnectionError `cut_short` without an end. */
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
