import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { HttpBody, HttpHeaders, HttpRequest, HttpResponse, Transport } from '../../contract/http.ts'
import { preferred } from '../http/negotiation.ts'

// At its lowest quality brotli is faster than gzip, and what it makes is smaller: 1.4 KB of a list of 13 KB in 20 µs.
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
  flush: constants.BROTLI_OPERATION_FLUSH,
}
const gzipOptions = { level: 4, flush: constants.Z_SYNC_FLUSH }

interface Coder {
  readonly now: (body: string | Uint8Array) => Uint8Array
  readonly soon: (body: string | Uint8Array) => Promise<Uint8Array>
  readonly stream: () => NodeJS.ReadWriteStream & AsyncIterable<Uint8Array>
}

const { params } = brotliOptions
const { level } = gzipOptions
const coders = {
  br: {
    now: (body) => brotliCompressSync(body, { params }),
    soon: (body) => promisify(brotliCompress)(body, { params }),
    stream: () => createBrotliCompress(brotliOptions),
  },
  gzip: {
    now: (body) => gzipSync(body, { level }),
    soon: (body) => promisify(gzip)(body, { level }),
    stream: () => createGzip(gzipOptions),
  },
} as const satisfies Readonly<Record<string, Coder>>

type Coding = keyof typeof coders
const codings = Object.keys(coders) as Coding[]

/** What is shorter goes in one packet anyway. */
const leastLength = 1400
/** What is longer is compressed beside the event loop; for less, going there takes longer than the work. */
const mostAtOnce = 64 * 1024

/**
 * Only what the API answers: a page that shows what a request says beside its secret would give that away by its length
 * (BREACH), and is small.
 */
const compressible = /^(application\/((problem\+)?json|x-ndjson)|text\/csv)(;|$)/

/**
 * Compresses what a transport answers where the client asks for it and it is worth it (RFC 9110 §8.4, §12.5.3). What is
 * compressed is another representation with another strong tag, `"3+br"` of `"3"` (RFC 9110 §8.8.3.3); either stands for
 * the version in If-Match and If-None-Match.
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
    return coded(request, { status, headers: varying, body }, coding)
  }
}

const varied = 'Accept-Encoding'

function isWorthIt({ method }: HttpRequest, headers: HttpHeaders, body: HttpBody | null): boolean {
  if (body === null)
    return method === 'HEAD' && Number(headers['content-length'] ?? leastLength) >= leastLength
  return (typeof body !== 'string' && !(body instanceof Uint8Array)) || body.length >= leastLength
}

/** What the client likes best; nothing where that is the body as it is, or where it does not say. */
function codingFor({ headers }: HttpRequest): Coding | undefined {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return undefined
  // The same by its old name (RFC 9110 §8.4.1.3).
  const best = preferred(accepted.replaceAll(/x-gzip/gi, 'gzip'), [...codings, 'identity'])
  return best === 'identity' ? undefined : best
}

async function coded(
  { method }: HttpRequest,
  { status, headers: { 'content-length': _, ...plain }, body }: HttpResponse,
  coding: Coding,
): Promise<HttpResponse> {
  const { etag } = plain
  // The tag in the answer to a write is that of what was written, not of the answer.
  const isOfBody = etag !== undefined && (method === 'GET' || method === 'HEAD') && status === 200
  const headers = {
    ...plain,
    'content-encoding': coding,
    ...(isOfBody ? { etag: withCoding(etag, coding) } : {}),
  }
  return { status, headers, body: body === null ? null : await codedBody(body, coders[coding]) }
}

function codedBody(body: HttpBody, coder: Coder): HttpBody | Promise<HttpBody> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return codedStream(body, coder)
  return body.length <= mostAtOnce ? coder.now(body) : coder.soon(body)
}

/** Each piece can be read once it has arrived; the next one is asked for when the reader has room. */
async function* codedStream(
  body: AsyncIterable<string | Uint8Array>,
  coder: Coder,
): AsyncGenerator<Uint8Array> {
  // Whoever stops reading ends the coder, and that the body; a fault of the body is one of the coder.
  yield* pipeline(Readable.from(body), coder.stream(), () => {})
}

function withCoding(tag: string, coding: Coding): string {
  return tag.replace(/"$/, `+${coding}"`)
}

/** The request with the tags that the transport knows. */
function withPlainTags(request: HttpRequest): HttpRequest {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  if (ifMatch === undefined && ifNoneMatch === undefined) return request
  const { signal } = request
  return {
    ...request,
    // A getter is not spread.
    ...(signal && { signal }),
    headers: {
      ...request.headers,
      ...(ifMatch === undefined ? {} : { 'if-match': plainTags(ifMatch) }),
      ...(ifNoneMatch === undefined ? {} : { 'if-none-match': plainTags(ifNoneMatch) }),
    },
  }
}

function plainTags(list: string): string {
  return list.replaceAll(/\+(?:br|gzip)"/g, '"')
}

/** A 304 names the tag of the representation that the client has. */
function withKnownTag({ headers: asked }: HttpRequest, headers: HttpHeaders): HttpHeaders {
  const { etag } = headers
  if (etag === undefined) return headers
  const tags = [etag, ...codings.map((coding) => withCoding(etag, coding))]
  return { ...headers, etag: tags.find((tag) => asked['if-none-match']?.includes(tag)) ?? etag }
}
