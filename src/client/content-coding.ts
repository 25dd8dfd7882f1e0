import type { Transform } from 'node:stream'
import type { HttpBody, HttpResponse } from '../contract/http.ts'
import { ConnectionError, hostOf, lineOf, ProtocolError, type Target } from './errors.ts'
import { bytesOf } from './reply.ts'

type Zlib = typeof import('node:zlib')
type Decoder = Transform & { readonly bytesWritten: number }

/** Bytes of output per chunk; four times zlib's default takes less than half the time. */
const chunkSize = 64 * 1024

/** Decoders by content coding (RFC 9110 §8.4.1, RFC 8878). */
const decoders: Readonly<Record<string, (zlib: Zlib, first: Uint8Array) => Decoder>> = {
  gzip: (zlib) => zlib.createGunzip({ chunkSize }),
  'x-gzip': (zlib) => zlib.createGunzip({ chunkSize }),
  // The coding is the zlib format, but many servers send raw deflate data (RFC 9110 §8.4.1.2).
  deflate: (zlib, [first = 0]) =>
    (first & 0x0f) === 8 ? zlib.createInflate({ chunkSize }) : zlib.createInflateRaw({ chunkSize }),
  br: (zlib) => zlib.createBrotliDecompress({ chunkSize }),
  // The largest window that a sender may use is 8 MB (RFC 9659 §3).
  zstd: (zlib) =>
    zlib.createZstdDecompress({ chunkSize, params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }),
}

/** Value of `Accept-Encoding` for hosts where transfer costs more than compression. */
export const acceptedCodings = 'gzip, deflate, br, zstd'

/** Maximum number of codings: the server's own and one added by a proxy. */
const maxCodings = 2
/** Maximum expansion of a body longer than `uncheckedBytes`: real text does not compress this well. */
const maxExpansion = 200
const uncheckedBytes = 8 * 1024 * 1024

/**
 * Returns the reply with its body decoded as a stream; the `Content-Encoding` header stays. Reading that body throws
 * ProtocolError for an unknown coding, invalid data or a body that expands too far, and ConnectionError `cut_short`
 * if the end is missing.
 */
export function decodeReply(target: Target, reply: HttpResponse): HttpResponse {
  if (reply.headers['content-encoding'] === undefined) return reply
  const codings = (reply.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  const { body } = reply
  return codings.length === 0 || body === null ? reply : { ...reply, body: decode(target, codings, body) }
}

async function* decode(
  target: Target,
  codings: readonly string[],
  body: HttpBody,
): AsyncGenerator<Uint8Array> {
  const [zlib, { pipeline, Readable }] = await Promise.all([import('node:zlib'), import('node:stream')])
  const source = bytesOf(body)
  const first = await source.next()
  // An empty body is not encoded; the response to a HEAD has the header all the same.
  if (first.done) return
  const make = codings.map((coding) => (Object.hasOwn(decoders, coding) ? decoders[coding] : undefined))
  let received = 0
  async function* counted() {
    try {
      for (let step = first as IteratorResult<Uint8Array>; !step.done; step = await source.next()) {
        received += step.value.byteLength
        yield step.value
      }
    } finally {
      await source.return(undefined)
    }
  }
  const name = codings.join(', ')
  if (make.includes(undefined) || codings.length > maxCodings) {
    await source.return(undefined)
    throw encodingError(
      target,
      'unknown_encoding',
      `has the unsupported Content-Encoding ${JSON.stringify(name)}`,
    )
  }
  // The last coding in the header was applied last (RFC 9110 §8.4); only its data is checked for the zlib header.
  const chain = make
    .reverse()
    .flatMap((each, index) => (each ? [each(zlib, index === 0 ? first.value : zlibStart)] : []))
  pipeline([Readable.from(counted()), ...chain], () => {})
  const [outermost] = chain
  let sent = 0
  try {
    for await (const piece of (chain.at(-1) ?? []) as AsyncIterable<Uint8Array>) {
      sent += piece.byteLength
      if (sent > uncheckedBytes && sent > received * maxExpansion) {
        throw encodingError(target, 'too_large', `expands to more than ${maxExpansion} times its size`)
      }
      yield piece
    }
    // A decoder ignores data after the end of its format, which may be long.
    if (outermost && outermost.bytesWritten < received)
      throw encodingError(target, 'bad_encoding', `is not valid ${name}`)
  } catch (error) {
    throw faultOf(target, name, error)
  }
}

const zlibStart = new Uint8Array([0x78])

/** Converts a decoding error to one of this client; returns any other error, such as one of the connection, as it is. */
function faultOf(target: Target, name: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'Z_BUF_ERROR') {
    const message = `The response from ${hostOf(target)} was cut short (${lineOf(target)})`
    return new ConnectionError(target, 'cut_short', message, error)
  }
  if (!/^(Z_|ERR_|ZSTD_|BROTLI_)/i.test(code)) return error
  return encodingError(target, 'bad_encoding', `is not valid ${name}`, error)
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
