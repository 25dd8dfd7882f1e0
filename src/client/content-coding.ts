import type { HttpBody, HttpResponse } from '../contract/http.ts'
import { ConnectionError, hostOf, lineOf, ProtocolError, type Target } from './errors.ts'
import { bytesOf } from './reply.ts'

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
export function decodeReply(target: Target, reply: HttpResponse): HttpResponse {
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
