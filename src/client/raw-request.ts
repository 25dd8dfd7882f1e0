import type { OutgoingRequest } from './call-input.ts'
import { encodeIdempotencyKey, encodeQuery, type QueryParameters } from './encode.ts'
import { RequestError } from './errors.ts'

/** A plain HTTP request, for paths that the contract does not declare. */
export interface RawRequest {
  readonly method: string
  /** Path that begins with `/`, such as `/v1/courses`; it is appended to the base URL. */
  readonly path: string
  readonly query?: QueryParameters
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** Returns the request without its credential. Throws RequestError for an invalid path. */
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
