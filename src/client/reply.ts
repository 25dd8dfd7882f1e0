import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, JsonLimitError, type JsonObject, parseJson } from '../codec/json-text.ts'
import { parseReference } from '../codec/reference.ts'
import { decodeUtf8, NotUtf8Error } from '../codec/unicode-text.ts'
import type { HttpBody, HttpHeaders, HttpResponse } from '../contract/http.ts'
import type { Operation } from '../contract/operation.ts'
import type { AnyInput, OutgoingRequest, Result } from './call.ts'
import { hostOf, lineOf, ProtocolError, type RawAnswer, type Target } from './errors.ts'

export interface RawPage {
  readonly items: readonly unknown[]
  /** Encloses the items. */
  readonly around: JsonObject
  readonly headers: HttpHeaders
}

export const bareResult: Omit<Result<unknown>, 'data'> = {
  status: 200,
  requestId: null,
  etag: null,
  replayed: false,
  unchanged: false,
  location: null,
  fromList: false,
  id: null,
  date: null,
}

/** Our servers confirm how they handled the request, and have their own request ids. */
export function isOwnReply({ headers }: Pick<HttpResponse, 'headers'>): boolean {
  return isConfirmed(headers) && (headers['x-request-id'] ?? '').startsWith('req_')
}

/** Checks `Prefer: handling` (RFC 7240 §3). */
function isConfirmed(headers: HttpHeaders): boolean {
  return /(?:^|[,;\s])handling\s*=\s*"?(strict|lenient)\b/i.test(headers['preference-applied'] ?? '')
}

/** Undefined if the operation declares no body. */
export async function readAnswer(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  { params = {} }: AnyInput,
): Promise<Pick<Result<unknown>, 'data' | 'id'>> {
  const { value } = await readBody(target, reply)
  const [named] = Object.values(params)
  const byName = named !== undefined && parseReference(named).by === 'id' ? named : null
  if (operation.response === null) return { data: undefined, id: byName }
  if (!isJsonObject(value)) throw undeclaredError(target)
  const id = value[operation.identifier ?? 'id']
  return { data: value, id: typeof id === 'string' ? id : byName }
}

function undeclaredError(target: Target): ProtocolError {
  return new ProtocolError(target, 'unexpected_shape', `${subjectOf(target)} is not what the API declares`)
}

export async function readPage(target: Target, reply: HttpResponse): Promise<RawPage> {
  const { value: body } = await readBody(target, reply)
  if (!isJsonObject(body) || !Array.isArray(body['data'])) throw undeclaredError(target)
  return { items: body['data'], around: body, headers: reply.headers }
}

/** Throws a ProtocolError if a page repeats. */
export async function* readPages(
  request: OutgoingRequest,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<RawPage & { readonly more: boolean }> {
  const seen = new Set<string>()
  for (let page = await read(request); ; ) {
    const cursor = page.around['nextCursor']
    const next = typeof cursor === 'string' && cursor !== '' ? cursor : null
    yield { ...page, more: next !== null }
    if (next === null) return
    if (seen.has(next)) throw repeatedError(request)
    seen.add(next)
    const { items } = page
    page = await read({ ...request, url: withParameter(request.url, 'cursor', next) })
    // A platform may ignore the number of the page.
    if (items.length > 0 && isDeepStrictEqual(items, page.items)) throw repeatedError(request)
  }
}

function repeatedError(request: OutgoingRequest): ProtocolError {
  const message = `${hostOf(request)} returned the same page twice (${lineOf(request)})`
  return new ProtocolError(request, 'cursor_repeated', message)
}

function withParameter(address: string, name: string, value: string): string {
  const url = new URL(address)
  url.searchParams.set(name, value)
  return url.href
}

const maxBodyBytes = 64 * 1024 * 1024

/** Maximum length of a plain-text response to a write. */
const maxSentenceLength = 500

/** A response whose body is a stream of bytes. */
export interface StreamedResponse extends HttpResponse {
  readonly body: AsyncIterable<Uint8Array> | null
}

export function streamOf(response: HttpResponse): StreamedResponse {
  const { body } = response
  return { ...response, body: body === null ? null : bytesOf(body) }
}

export async function* bytesOf(body: HttpBody): AsyncGenerator<Uint8Array> {
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : body
  for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** `whole` is true if that is all of the body. The rest is not read. */
export async function readStart(
  { body }: Pick<HttpResponse, 'body'>,
  limitBytes: number,
): Promise<{ readonly bytes: Buffer; readonly whole: boolean }> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : bufferOf(body)
    return { bytes: bytes.subarray(0, limitBytes), whole: bytes.length <= limitBytes }
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body === null ? [] : bytesOf(body)) {
    size += chunk.byteLength
    chunks.push(chunk)
    if (size > limitBytes) return { bytes: Buffer.concat(chunks, limitBytes), whole: false }
  }
  return { bytes: Buffer.concat(chunks, size), whole: true }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Null as soon as the body exceeds the limit, without reading the rest. */
export async function readBytes(reply: HttpResponse, limitBytes: number): Promise<Buffer | null> {
  const { bytes, whole } = await readStart(reply, limitBytes)
  return whole ? bytes : null
}

/** Discards an unread body and closes its connection: a stream must be begun before it can be ended. */
export async function discardBody(reply: HttpResponse): Promise<void> {
  await readBytes(reply, 0).catch(() => {})
}

export function mediaTypeOf(reply: HttpResponse): string {
  return (reply.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * Decodes a body as UTF-8, as JSON requires (RFC 8259 §8.1), else in its charset. Throws NotUtf8Error if both fail: a
 * replacement character could be written back later.
 */
export function bodyText(reply: HttpResponse, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (error) {
    const [, charset = 'utf-8'] = /;\s*charset="?([\w-]+)/i.exec(reply.headers['content-type'] ?? '') ?? []
    if (!/^utf-?8$/i.test(charset)) {
      try {
        return new TextDecoder(charset, { fatal: true }).decode(bytes)
      } catch {
        // The charset is unknown, or does not fit either.
      }
    }
    throw error
  }
}

/** JSON, empty, or a sentence such as `OK` in response to a write. */
export interface Body {
  readonly form: 'json' | 'empty' | 'sentence'
  /** Null for an empty body. */
  readonly value: unknown
}

/** Null if there is no JSON value. */
export async function readJson(
  target: Target,
  reply: HttpResponse,
  limitBytes = maxBodyBytes,
): Promise<unknown> {
  const { form, value } = await readBody(target, reply, limitBytes)
  return form === 'json' ? value : null
}

/** Fields are not validated. Throws ProtocolError for a web page, invalid or truncated JSON, and a long body. */
export async function readBody(
  target: Target,
  reply: HttpResponse,
  limitBytes = maxBodyBytes,
): Promise<Body> {
  const { body } = reply
  // Text comes from an academy in this process; bytes of it would only be decoded again.
  const isShort = typeof body === 'string' && Buffer.byteLength(body) <= limitBytes
  const content = isShort ? body : await readBytes(reply, limitBytes)
  if (content === null) {
    const limit = `${Math.floor(limitBytes / 1024 / 1024)} MiB`
    throw new ProtocolError(target, 'too_large', `${subjectOf(target)} is larger than ${limit}`)
  }
  let text = ''
  try {
    text = typeof content === 'string' ? content.replace(/^\uFEFF/, '') : bodyText(reply, content)
    return text.trim() === '' ? { form: 'empty', value: null } : { form: 'json', value: parseJson(text) }
  } catch (cause) {
    if (cause instanceof JsonLimitError || cause instanceof NotUtf8Error) {
      throw new ProtocolError(
        target,
        'not_json',
        `${subjectOf(target)} cannot be read: ${cause.message}`,
        cause,
      )
    }
    const sentence = text.trim()
    if (target.method !== 'GET' && isSentence(sentence)) {
      return { form: 'sentence', value: sentence }
    }
    const raw = { status: reply.status, headers: reply.headers, body: text.slice(0, 64 * 1024) }
    if (isPage(reply, text)) throw webPageError(target, raw)
    const message = `${subjectOf(target)} is not valid JSON, or was cut short after ${Buffer.byteLength(content)} bytes`
    throw new ProtocolError(target, 'not_json', message, cause, raw)
  }
}

/** Web pages and truncated JSON begin differently. */
function isSentence(text: string): boolean {
  return text.length <= maxSentenceLength && /^\p{L}[^\n\p{Cc}]*$/u.test(text)
}

/** Throws ProtocolError if a stream requested in one of `media` arrives as a web page or as JSON. */
export function assertMediaType(target: Target, reply: HttpResponse, media: readonly string[]): void {
  const type = mediaTypeOf(reply)
  if (media.length === 0 || media.includes(type)) return
  if (type === 'text/html') throw webPageError(target)
  if (type === 'application/json' || type.endsWith('+json')) {
    const message = `${subjectOf(target)} is ${type}, not ${media.join(' or ')}`
    throw new ProtocolError(target, 'unexpected_type', message)
  }
}

export function isPage(reply: HttpResponse, text: string): boolean {
  return mediaTypeOf(reply) === 'text/html' || /^\s*<(!doctype|html|\?xml)/i.test(text.slice(0, 256))
}

function webPageError(target: Target, raw?: RawAnswer): ProtocolError {
  const message = `${subjectOf(target)} is a web page, not JSON; is ${new URL(target.url).origin} the URL of the API?`
  return new ProtocolError(target, 'html', message, undefined, raw)
}

/** `The response from school.example to GET /v1/courses`. */
export function subjectOf(target: Target): string {
  return `The response from ${hostOf(target)} to ${lineOf(target)}`
}
