import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { parseReference } from '../codec/reference.ts'
import type { HttpHeaders, HttpResponse } from '../contract/http.ts'
import type { Operation } from '../contract/operation.ts'
import { type AnyInput, isConfirmed, type OutgoingRequest, type Result } from './call-input.ts'
import { answer, readBody } from './decode.ts'
import { hostOf, lineOf, ProtocolError, type Target } from './errors.ts'

/** A page of a list. */
export interface RawPage {
  readonly items: readonly unknown[]
  /** Objects that enclose the items, the outermost first; empty for a bare array. */
  readonly around: readonly JsonObject[]
  readonly headers: HttpHeaders
  /** True for a page of a server of this API. */
  readonly isOwn: boolean
}

/** A page of a list, and whether the list has more. */
export interface WalkedPage extends RawPage {
  /** True if the list has more items, even if the client cannot get them. */
  readonly more: boolean
}

/** A result without data, and without anything that response headers say. */
export const bareResult: Omit<Result<unknown>, 'data'> = {
  status: 200,
  requestId: null,
  etag: null,
  replayed: false,
  unchanged: false,
  location: null,
  strict: false,
  fromList: false,
  id: null,
  written: null,
  date: null,
}

/** True for the reply of a server of this API: it confirms how it handled the request, and has its own request ids. */
export function isOwnReply({ headers }: Pick<HttpResponse, 'headers'>): boolean {
  return isConfirmed(headers) && (headers['x-request-id'] ?? '').startsWith('req_')
}

/** Reads the response of a server of this API as the operation declares it; undefined if it declares no body. */
export async function readOwnAnswer(
  target: Target,
  reply: HttpResponse,
  operation: Operation,
  { params = {} }: AnyInput,
): Promise<Pick<Result<unknown>, 'data' | 'written' | 'id'>> {
  const { value } = await readBody(target, reply)
  const [named] = Object.values(params)
  const byName = named !== undefined && parseReference(named).by === 'id' ? named : null
  if (operation.response === null) return { data: undefined, written: null, id: byName }
  if (!isJsonObject(value)) throw undeclared(target)
  const id = value[operation.identifier ?? 'id']
  return { data: value, written: null, id: typeof id === 'string' ? id : byName }
}

function undeclared(target: Target): ProtocolError {
  return new ProtocolError(target, 'unexpected_shape', `${answer(target)} is not what the API declares`)
}

/** Reads a page of a list of a server of this API. */
export async function readOwnPage(target: Target, reply: HttpResponse): Promise<RawPage> {
  const { value: body } = await readBody(target, reply)
  if (!isJsonObject(body) || !Array.isArray(body['data'])) throw undeclared(target)
  return { items: body['data'], around: [body], headers: reply.headers, isOwn: true }
}

/** Yields every page of a list of a server of this API. Throws a ProtocolError if a cursor repeats. */
export async function* readOwnPages(
  request: OutgoingRequest,
  first: RawPage,
  read: (request: OutgoingRequest) => Promise<RawPage>,
): AsyncGenerator<WalkedPage> {
  const seen = new Set<string>()
  for (let page = first; ; ) {
    const cursor = page.around.at(-1)?.['nextCursor']
    const next = typeof cursor === 'string' && cursor !== '' ? cursor : null
    yield { ...page, more: next !== null }
    if (next === null) return
    if (seen.has(next)) throw repeatedError(request)
    seen.add(next)
    page = await read({ ...request, url: withParameter(request.url, 'cursor', next) })
  }
}

/** Returns the error for a platform that sent the same page again as its next one. */
export function repeatedError(request: OutgoingRequest): ProtocolError {
  const message = `${hostOf(request)} returned the same page twice (${lineOf(request)})`
  return new ProtocolError(request, 'cursor_repeated', message)
}

/** Returns the address with a query parameter set. */
export function withParameter(address: string, name: string, value: string): string {
  const url = new URL(address)
  url.searchParams.set(name, value)
  return url.href
}
