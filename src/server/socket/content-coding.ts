import { pipeline, Readable } from 'node:stream'
import { brotliCompressSync, constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib'
import type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import { choosePreferred } from '../http/negotiation.ts'

// At its lowest quality, brotli is faster and smaller than gzip: 13 KB of a list become 1.4 KB in 20 µs.
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
  flush: constants.BROTLI_OPERATION_FLUSH,
}
const gzipOptions = { level: 4, flush: constants.Z_SYNC_FLUSH }

interface Coder {
  readonly whole: (body: string | Uint8Array) => Uint8Array
  readonly stream: () => NodeJS.ReadWriteStream & AsyncIterable<Uint8Array>
}

const { params } = brotliOptions
const { level } = gzipOptions
const coders = {
  br: {
    whole: (body) => brotliCompressSync(body, { params }),
    stream: () => createBrotliCompress(brotliOptions),
  },
  gzip: {
    whole: (body) => gzipSync(body, { level }),
    stream: () => createGzip(gzipOptions),
  },
} as const satisfies Readonly<Record<string, Coder>>

type Coding = keyof typeof coders
const codings = Object.keys(coders) as Coding[]

/** A shorter body fits one packet. */
const minLength = 1400
/** A longer body is compressed in the thread pool: here it would keep other requests waiting. */
const maxWhole = 64 * 1024

/** Only API responses: for a page with a secret and text of the request, the length could reveal the secret (BREACH). */
const compressible = /^(application\/((problem\+)?json|x-ndjson)|text\/csv)(;|$)/

/**
 * Compresses responses if the client accepts it and it is worthwhile (RFC 9110 §8.4, §12.5.3). A compressed
 * response has a strong tag of its own, `"3+br"` for `"3"` (RFC 9110 §8.8.3.3); both mean the same version in
 * If-Match and If-None-Match.
 */
export function withContentCoding(handle: Transport): Transport {
  return async (request) => {
    const response = await handle(withPlainTags(request))
    const { status, headers, body } = response
    const type = headers['content-type']
    if (type === undefined || !compressible.test(type)) return response
    const varying = { ...headers, vary: headers['vary'] ? `${headers['vary']}, ${varied}` : varied }
    if (status === 304) return { status, headers: withKnownTag(request, varying), body }
    const coding = isWorthIt(request, varying, body) ? codingFor(request) : undefined
    if (coding === undefined) return { status, headers: varying, body }
    return compress(request, { status, headers: varying, body }, coding)
  }
}

const varied = 'Accept-Encoding'

function isWorthIt({ method }: HttpRequest, headers: HttpHeaders, body: HttpBody | null): boolean {
  if (body === null) return method === 'HEAD' && Number(headers['content-length'] ?? minLength) >= minLength
  return (typeof body !== 'string' && !(body instanceof Uint8Array)) || body.length >= minLength
}

function codingFor({ headers }: HttpRequest): Coding | undefined {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return undefined
  const best = choosePreferred(accepted, [...codings, 'identity'])
  return best === 'identity' ? undefined : best
}

function compress(
  { method }: HttpRequest,
  { status, headers: { 'content-length': _, ...plain }, body }: HttpResponse,
  coding: Coding,
): HttpResponse {
  const { etag } = plain
  // The tag of a write belongs to the record, not to the response body.
  const isOfBody = etag !== undefined && (method === 'GET' || method === 'HEAD') && status === 200
  const headers = {
    ...plain,
    'content-encoding': coding,
    ...(isOfBody ? { etag: withCoding(etag, coding) } : {}),
  }
  return { status, headers, body: body === null ? null : compressBody(body, coders[coding]) }
}

function compressBody(body: HttpBody, coder: Coder): HttpBody {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return compressStream(body, coder)
  return body.length <= maxWhole ? coder.whole(body) : compressStream([body], coder)
}

/** Flushes each piece, so that it can be read at once. */
async function* compressStream(
  body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  coder: Coder,
): AsyncGenerator<Uint8Array> {
  // pipeline destroys the body if the reader stops, and passes its errors on.
  yield* pipeline(Readable.from(body), coder.stream(), () => {})
}

function withCoding(tag: string, coding: Coding): string {
  return tag.replace(/"$/, `+${coding}"`)
}

function withPlainTags(request: HttpRequest): HttpRequest {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  if (ifMatch === undefined && ifNoneMatch === undefined) return request
  const { signal } = request
  return {
    ...request,
    // The getter `signal` is not copied by the spread.
    ...(signal && { signal }),
    headers: {
      ...request.headers,
      ...(ifMatch === undefined ? {} : { 'if-match': removeCodings(ifMatch) }),
      ...(ifNoneMatch === undefined ? {} : { 'if-none-match': removeCodings(ifNoneMatch) }),
    },
  }
}

function removeCodings(list: string): string {
  return list.replaceAll(/\+(?:br|gzip)"/g, '"')
}

function withKnownTag({ headers: asked }: HttpRequest, headers: HttpHeaders): HttpHeaders {
  const { etag } = headers
  if (etag === undefined) return headers
  const tags = [etag, ...codings.map((coding) => withCoding(etag, coding))]
  return { ...headers, etag: tags.find((tag) => asked['if-none-match']?.includes(tag)) ?? etag }
}
