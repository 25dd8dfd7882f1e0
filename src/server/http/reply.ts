import { hash } from 'node:crypto'
import type { HttpHeaders } from '../../contract/http.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Actor } from '../changes/writing.ts'
import type { Page } from '../database/page.ts'
import { isDamage, reasonOf } from '../database/sqlite/connection.ts'
import { ProblemError, problemOf, unavailable } from '../problem-error.ts'
import type { Preconditions } from './precondition.ts'

/** Enough to be unique; six bits each. */
const tagLength = 22

/** Before the common headers are added. */
export interface Reply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<string | Uint8Array> | null
  readonly code?: string
  readonly principal?: Actor | undefined
  /** Default: that of the network. */
  readonly bucket?: Bucket | undefined
  readonly cause?: unknown
}

/**
 * `known` counts requests of a user over all credentials and browsers, or of an application with a secret; `anonymous`
 * those of a network without a credential; `signIn` those of a network to get one. So no client can use up what another
 * one needs to sign in.
 */
export type BucketKind = 'known' | 'anonymous' | 'signIn'

export interface Bucket {
  readonly kind: BucketKind
  readonly name: string
}

export class Streamed {
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: AsyncIterable<string>

  constructor(headers: Readonly<Record<string, string>>, chunks: AsyncIterable<string>) {
    this.headers = headers
    this.chunks = chunks
  }
}

/** JSON text already, such as the JSON of a row. */
export class Written {
  readonly body: string
  /** Repeated in response headers. */
  readonly headerValues: { readonly version?: number; readonly nextCursor?: string | null }

  constructor(body: string, headerValues: Written['headerValues']) {
    this.body = body
    this.headerValues = headerValues
  }
}

/** The items are JSON text already. */
export function writePage({ data, ...rest }: Page<string>): Written {
  return new Written(`{"data":[${data.join(',')}],${JSON.stringify(rest).slice(1)}`, rest)
}

/** Status, ETag and Location follow from the operation and its answer. Throws 412. */
export function successOf(
  operation: Operation,
  answer: unknown,
  { path, search }: { path: string; search: string },
  preconditions: Preconditions,
  tagged = true,
): Reply {
  const { status, method } = operation
  const negotiated: Record<string, string> = operation.media ? { vary: 'Accept' } : {}
  if (answer instanceof Streamed) {
    preconditions.isKnown(null)
    return { status, headers: { ...negotiated, ...answer.headers }, body: answer.chunks }
  }
  if (method !== 'GET') preconditions.requireChecked()
  if (status === 204) return { status, headers: {}, body: null }
  const values = answer instanceof Written ? answer.headerValues : (answer ?? {})
  const {
    [operation.identifier ?? 'id']: id,
    version,
    nextCursor,
  } = values as Readonly<Record<string, unknown>>
  const headers: Record<string, string> = { ...negotiated, 'content-type': 'application/json' }
  let body = answer instanceof Written ? answer.body : undefined
  if (method === 'PUT' && version !== undefined && version === preconditions.versionBefore)
    headers['unchanged'] = 'true'
  if (typeof version === 'number') headers['etag'] = `"${version}"`
  else if (method === 'GET' && tagged) {
    body ??= JSON.stringify(answer)
    headers['etag'] = tagOf(body)
  }
  if (method === 'GET' && preconditions.isKnown(headers['etag'] ?? null)) {
    return { status: 304, headers, body: null }
  }
  if (status === 201) headers['location'] = locationOf(operation, path, String(id), version)
  if (operation.list && typeof nextCursor === 'string')
    headers['link'] = formatNextLink(path, search, nextCursor)
  return { status, headers, body: body ?? JSON.stringify(answer) }
}

function tagOf(body: string): string {
  return `"${hash('sha256', body, 'base64url').slice(0, tagLength)}"`
}

function locationOf(operation: Operation, path: string, id: string, version: unknown): string {
  if (operation.path.endsWith('/restore')) return path.replace(/\/[^/]+\/restore$/, `/${version}`)
  return `${path}/${id}`
}

function formatNextLink(path: string, search: string, cursor: string): string {
  const query = new URLSearchParams(search)
  query.set('cursor', cursor)
  return `<${path}?${query}>; rel="next"`
}

/** RFC 7240 §4.4. */
type Handling = 'strict' | 'lenient'

/** Null without a preference, or for a leniency that the operation does not support. */
export function handlingOf({ lenient }: Operation, { prefer }: HttpHeaders): Handling | null {
  if (prefer === undefined) return null
  const wanted = /(?:^|[,;])\s*handling\s*=\s*"?(strict|lenient)"?\s*(?:$|[,;])/i.exec(prefer)?.[1]
  const handling = wanted?.toLowerCase()
  return handling === 'strict' || (handling === 'lenient' && lenient !== undefined) ? handling : null
}

export function withHandling(reply: Reply, handling: Handling | null): Reply {
  if (handling === null) return reply
  return { ...reply, headers: { ...reply.headers, 'preference-applied': `handling=${handling}` } }
}

interface Refused {
  readonly path: string
  readonly requestId: string
}

export type Refuse = (fault: ProblemError, request: Refused) => Reply

export function refusalOf(request: Refused, error: unknown, refuse: Refuse = problemReply): Reply {
  const fault = faultOf(error)
  return { ...refuse(fault, request), cause: fault.cause }
}

/** RFC 9457. */
export function problemReply(fault: ProblemError, { path, requestId }: Refused): Reply {
  return {
    status: fault.status,
    headers: { ...fault.headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(problemOf(fault, path, requestId)),
    code: fault.code,
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED; SQLITE_READONLY, SQLITE_IOERR and SQLITE_FULL (SQLite, Result Codes). */
const temporaryErrors: readonly number[] = [5, 6, 8, 10, 13]
/** The lowest byte of an extended result code is the primary one. */
const primaryCodeMask = 0xff

/**
 * Converts any thrown value to a problem. An unexpected error becomes 500 `internal` without details, except
 * the cause for the log; a database that is locked or cannot write becomes 503.
 */
export function faultOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  if (code === 'ERR_SQLITE_ERROR' && temporaryErrors.includes(errcode & primaryCodeMask)) {
    return unavailable(`The database ${reasonOf(error)}.`, 1, error)
  }
  if (code === 'ERR_SQLITE_ERROR' && isDamage(error)) {
    const detail = `The database ${reasonOf(error)}; stop the server and restore a backup.`
    return new ProblemError('internal', detail, { cause: error })
  }
  return new ProblemError('internal', 'Internal error; see the server log for this request id.', {
    cause: error,
  })
}
