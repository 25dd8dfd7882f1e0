import { rawInteger } from '../codec/json-text.ts'
import { isLoopbackHost } from '../codec/network-address.ts'
import type { Operation } from '../contract/operation.ts'
import type { AnyInput, OutgoingRequest, PathParameters } from './call.ts'
import { RequestError } from './errors.ts'

export function requestOf(
  baseUrl: string,
  operation: Operation,
  input: AnyInput,
  accept: string,
  newIdempotencyKey: () => string,
): OutgoingRequest {
  const body = input.body === undefined ? undefined : encodeBody(input.body)
  return {
    method: operation.method,
    url: baseUrl + encodePath(operation.path, input.params) + encodeQuery(input.query),
    headers: {
      accept,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(operation.method === 'POST' && {
        'idempotency-key': encodeIdempotencyKey(input.idempotencyKey ?? newIdempotencyKey()),
      }),
      ...(input.handling && { prefer: `handling=${input.handling}` }),
      ...(input.ifMatch !== undefined && { 'if-match': encodeEntityTag(input.ifMatch) }),
    },
    ...(body !== undefined && { body }),
    ...(input.signal && { signal: input.signal }),
  }
}

export interface RawRequest {
  readonly method: string
  /** Begins with `/`, such as `/v1/courses`; it is appended to the base URL. */
  readonly path: string
  readonly query?: QueryParameters
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export function rawRequestOf(
  baseUrl: string,
  raw: RawRequest,
  newIdempotencyKey: () => string,
): OutgoingRequest {
  const method = raw.method.toUpperCase()
  const address = baseUrl + raw.path + encodeQuery(raw.query)
  if (!raw.path.startsWith('/') || !URL.canParse(address) || raw.path.includes('#')) {
    throw new RequestError(
      'invalid_path',
      `${raw.path} is not a path: it must begin with /, such as /v1/courses`,
    )
  }
  const own = Object.fromEntries(
    Object.entries(raw.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const key = method === 'POST' ? encodeIdempotencyKey(raw.idempotencyKey ?? newIdempotencyKey()) : null
  return {
    method,
    url: address,
    headers: {
      accept: 'application/json',
      ...(raw.body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== null && { 'idempotency-key': key }),
      ...own,
    },
    ...(raw.body !== undefined && { body: raw.body }),
    ...(raw.signal && { signal: raw.signal }),
  }
}

/** Undefined and null are omitted, arrays become comma-separated lists. */
type QueryParameters = Readonly<Record<string, unknown>>

/** RFC 3986 §3.3. Throws RequestError for a value that is empty, ill-formed, or `.` or `..`: the URL would lose a segment. */
export function encodePath(path: string, parameters: PathParameters = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (
      typeof value !== 'string' ||
      value === '' ||
      value === '.' ||
      value === '..' ||
      !value.isWellFormed()
    ) {
      throw new RequestError('invalid_path', `${JSON.stringify(value ?? '')} cannot be used as ${name}`)
    }
    return encodeURIComponent(value)
  })
}

/** Throws RequestError for a value that is not text, a finite number, a boolean, or an array of them. */
export function encodeQuery(query: QueryParameters = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const text = Array.isArray(value)
      ? value.map((item) => textOf(name, item)).join(',')
      : textOf(name, value)
    return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`]
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed()) return value
  if (typeof value === 'boolean' || typeof value === 'bigint' || Number.isFinite(value)) return String(value)
  throw new RequestError('invalid_query', `${name} must be well-formed text, a finite number or a boolean`)
}

/** Throws RequestError for cycles, and for NaN and Infinity, which JSON would make null. */
export function encodeBody(value: unknown): string {
  try {
    const text = plainText(value)
    // NaN and Infinity would have become null.
    if (text !== null && !text.includes('null')) return text
    return JSON.stringify(value, (name, item: unknown) => {
      if (typeof item !== 'number' || Number.isFinite(item)) return rawInteger(item)
      throw new TypeError(`${name} must be a finite number, not ${item}`)
    })
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause)
    throw new RequestError('invalid_body', `Cannot write the body as JSON: ${reason}`, { cause })
  }
}

/** Returns the value as JSON without checking each value, in a third of the time; null if it cannot. */
function plainText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null
  } catch {
    // A bigint, or a cycle, which the slower way reports.
    return null
  }
}

/** RFC 8941 §3.3.3. Throws RequestError if it is empty, longer than 255 characters or not printable ASCII. */
export function encodeIdempotencyKey(key: string): string {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new RequestError('invalid_header', 'An idempotency key must be 1 to 255 printable ASCII characters')
  }
  return `"${key.replace(/["\\]/g, '\\$&')}"`
}

/** RFC 9110 §8.8.3: `7` becomes `"7"`; `"7"` and `*` are kept. */
export function encodeEntityTag(version: string | number | bigint): string {
  const text = String(version)
  if (/^(\*|"[\x21\x23-\x7e]*")$/.test(text)) return text
  if (/^[\x21\x23-\x7e]+$/.test(text)) return `"${text}"`
  throw new RequestError('invalid_header', `${JSON.stringify(text)} is not a version`)
}

/**
 * Returns the base URL: `https://host/path` without a trailing slash and without a final `/v1`, which operation
 * paths contain. Throws RequestError for an address that is not http or https, or that has a user, query or
 * fragment.
 */
export function normaliseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RequestError('invalid_base_url', `${text} is not an http or https URL`)
  }
  // The message omits the address, which may contain a password.
  if (url.username || url.password) {
    throw new RequestError(
      'invalid_base_url',
      `The URL of ${url.host} must not contain a user name or password`,
    )
  }
  if (url.search || url.hash) {
    throw new RequestError('invalid_base_url', `${text} must not contain a query or fragment`)
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '')
  return url.origin + path
}

/** True for `localhost`, its subdomains (RFC 6761 §6.3) and the loopback addresses. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname)
}

/** https, or loopback: requests cannot be read on the way. */
export function isConfidential(url: string): boolean {
  return url.startsWith('https:') || isLoopback(url)
}

/**
 * Throws RequestError if requests to this base URL would send a credential unencrypted: http to another host than
 * loopback.
 */
export function assertConfidential(baseUrl: string): void {
  if (isConfidential(baseUrl)) return
  const { host } = new URL(baseUrl)
  throw new RequestError('insecure_http', `Refusing to send the credential to ${host} over unencrypted http`)
}
