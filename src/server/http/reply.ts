import type { Operation } from '../../contract/operation.ts'
import type { Principal } from '../access/principal.ts'

/** What an operation or an endpoint decided to say, before what every response carries. */
export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<string> | null
  /** The error code of a refusal, for the log. */
  readonly code?: string
  /** Whom the reply signs in, for the log. */
  readonly principal?: Principal
}

/** A success that is streamed: text in pieces, with the headers that describe it. */
export class Streamed {
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: AsyncIterable<string>

  constructor(headers: Readonly<Record<string, string>>, chunks: AsyncIterable<string>) {
    this.headers = headers
    this.chunks = chunks
  }
}

/** The reply to a request that succeeded: status, ETag and Location follow from the operation and its answer. */
export function successOf(
  operation: Operation,
  answer: unknown,
  { path, search }: { path: string; search: string },
  ifNoneMatch: string | null,
): Reply {
  if (answer instanceof Streamed)
    return { status: operation.status, headers: answer.headers, body: answer.chunks }
  if (operation.status === 204) return { status: 204, headers: {}, body: null }
  const { [operation.identifier ?? 'id']: id, version } = (answer ?? {}) as Readonly<Record<string, unknown>>
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (typeof version === 'number') headers['etag'] = `"${version}"`
  if (operation.method === 'GET' && headers['etag'] && matches(ifNoneMatch, headers['etag'])) {
    return { status: 304, headers, body: null }
  }
  if (operation.status === 201) headers['location'] = locationOf(operation, path, String(id), version)
  const { nextCursor } = answer as { nextCursor?: unknown }
  if (operation.list && typeof nextCursor === 'string') headers['link'] = nextLink(path, search, nextCursor)
  return { status: operation.status, headers, body: JSON.stringify(answer) }
}

/** True when a list of entity tags has this one, weak or strong, or is `*` (RFC 9110 §13.1.2). */
function matches(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.split(',').some((item) => item.trim() === '*' || item.trim().replace(/^W\//, '') === etag)
}

function locationOf(operation: Operation, path: string, id: string, version: unknown): string {
  if (operation.path.endsWith('/restore')) return path.replace(/\/[^/]+\/restore$/, `/${version}`)
  return `${path}/${id}`
}

function nextLink(path: string, search: string, cursor: string): string {
  const query = new URLSearchParams(search)
  query.set('cursor', cursor)
  return `<${path}?${query}>; rel="next"`
}
