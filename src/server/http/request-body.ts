import { isDeepStrictEqual } from 'node:util'
import { jsonFaultIn } from '../../codec/json-fault.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { HttpRequest } from '../../contract/http.ts'
import { ProblemError } from '../problem-error.ts'

const maxBytes = 1024 * 1024
const maxFormBytes = 128 * 1024
const maxFields = 100

export interface RequestBody {
  readonly bytes: Uint8Array
  readonly value: unknown
}

const mergePatchType = 'application/merge-patch+json'
export const patchTypes = [mergePatchType, 'application/json'] as const

const nothing: RequestBody = { bytes: new Uint8Array(), value: undefined }

/** At most 1 MiB; throws 413, 415 and 400. */
export async function readJsonBody(request: HttpRequest, merge: boolean): Promise<RequestBody> {
  requireType(request, merge ? ['application/json', mergePatchType] : ['application/json'])
  const bytes = await readBytes(request)
  return { bytes, value: parseJson(bytes) }
}

/**
 * Reads a form (application/x-www-form-urlencoded) of at most 128 KiB and 100 fields; throws 413 and 415.
 * Forms mostly come from anonymous clients, and parsing many small fields takes seconds.
 */
export async function readForm(request: HttpRequest): Promise<URLSearchParams> {
  requireType(request, ['application/x-www-form-urlencoded'])
  const text = Buffer.from(await readBytes(request, maxFormBytes)).toString()
  if (text.split('&', maxFields + 1).length <= maxFields) return new URLSearchParams(text)
  throw new ProblemError('content_too_large', `The form has more than ${maxFields} fields.`)
}

export async function readNoBody(request: HttpRequest): Promise<RequestBody> {
  if (request.method === 'GET' || request.method === 'HEAD') return nothing
  return { bytes: await readBytes(request), value: undefined }
}

/** Throws 415, also for a body that is compressed or not in UTF-8 (RFC 9110 §15.5.16). */
export function requireType({ method, headers }: HttpRequest, types: readonly string[]): void {
  const { 'content-type': given, 'content-encoding': coding } = headers
  const [type, ...parameters] = given?.split(';').map((part) => part.trim().toLowerCase()) ?? []
  if (type === undefined || !types.includes(type)) {
    const what = type ? `${type} is not supported` : 'is required'
    throw new ProblemError('unsupported_media_type', `Content-Type ${what}; use ${types[0]}.`, {
      headers: { [acceptFor[method] ?? 'accept']: types.join(', ') },
    })
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset=("?)(utf-?8|us-ascii)\1$/.test(charset)) {
    const detail = `Charset ${charset.slice('charset='.length)} is not supported; use UTF-8.`
    throw new ProblemError('unsupported_media_type', detail)
  }
  if (coding !== undefined && !/^identity$/i.test(coding.trim())) {
    const detail = `Content-Encoding ${coding} is not supported; send the body uncompressed.`
    throw new ProblemError('unsupported_media_type', detail, { headers: { 'accept-encoding': 'identity' } })
  }
}

/** Header of a 415 with the accepted types (RFC 5789 §3.1, W3C LDP §7.1; else RFC 9110 §12.5.1). */
const acceptFor: Readonly<Record<string, string>> = { PATCH: 'accept-patch', POST: 'accept-post' }

/** Throws 413 above the maximum. */
export async function readBytes({ headers, body }: HttpRequest, maxLength = maxBytes): Promise<Uint8Array> {
  if (Number(headers['content-length'] ?? 0) > maxLength) throw tooLarge(maxLength)
  if (body === undefined) return nothing.bytes
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = Buffer.from(body)
    if (bytes.length > maxLength) throw tooLarge(maxLength)
    return bytes
  }
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > maxLength) throw tooLarge(maxLength)
      chunks.push(bytes)
    }
  } catch (cause) {
    if (cause instanceof ProblemError) throw cause
    // The client has disconnected: the error is only for the log.
    throw new ProblemError('invalid_parameter', 'The body ended before it was complete.', { cause })
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

function tooLarge(bytes: number): ProblemError {
  return new ProblemError('content_too_large', `The body is larger than ${bytes} bytes.`)
}

export const maxDepth = 32
export const maxArrayLength = 1000
export const maxMembers = 1000

/** Throws 400 `invalid_json` with the place of the error. */
export function parseJson(bytes: ArrayBuffer | Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ProblemError('invalid_json', 'The body must be UTF-8.', { cause })
  }
  try {
    const value: unknown = JSON.parse(text)
    // Not in a date, where a digit follows.
    return /-0(?!\d)/.test(text) ? withoutNegativeZeros(value, 0) : value
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new ProblemError('invalid_json', 'The body is nested too deeply.', { cause })
    }
    throw new ProblemError('invalid_json', `The body is not valid JSON: ${reasonFor(text)}.`, { cause })
  }
}

/** Columns do not store the sign: each update would be a change. Skips what `findBoundedFaults` refuses. */
function withoutNegativeZeros(value: unknown, depth: number): unknown {
  if (value === 0) return 0
  if (depth >= maxDepth) return value
  const inner = (member: unknown) => withoutNegativeZeros(member, depth + 1)
  if (Array.isArray(value)) return value.length > maxArrayLength ? value : value.map(inner)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member)]))
}

/** Explains invalid JSON. The parser's own message quotes the body, which may contain a secret. */
function reasonFor(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const { offset, line, column } = jsonFaultIn(text)
  const what = offset === text.length ? 'it ends too early' : 'unexpected character'
  return `${what} at line ${line}, column ${column}`
}

/** A step of a JSON pointer (RFC 6901 §3). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A JSON pointer in a URI fragment. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return ['#', ...path.map((step) => escapePointer(String(step)))].join('/')
}

/** RFC 7396: null removes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}

export function changedFields<Next extends object>(
  next: Next,
  current: { readonly [Field in keyof Next]?: unknown },
): (keyof Next)[] {
  // The compiler does not know that the object has only the keys of its type.
  return (Object.keys(next) as (keyof Next)[]).filter(
    (field) => !isDeepStrictEqual(next[field], current[field]),
  )
}
