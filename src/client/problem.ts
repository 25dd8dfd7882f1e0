import { isJsonObject } from '../codec/json-object.ts'
import { type Fault, statusOf } from '../contract/errors.ts'
import type { HttpResponse } from '../contract/http.ts'
import { mediaTypeOf, readBytes } from './decode.ts'
import { ApiError, hostOf, lineOf, ProtocolError, type Target } from './errors.ts'
import { retryAfterOf } from './retry-after.ts'

/** The most that is read of an answer that is not a success: 64 KiB. */
const maximumProblemBytes = 64 * 1024

/** What the bearer credential in use is: an expired API key is a 403, an expired token a 401. */
export type CredentialKind = 'api_key' | 'access_token'

/** How an answer without a code of ours is called, by status. */
const uncoded: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'invalid_token',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'content_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  421: 'misdirected_request',
  422: 'validation_failed',
  429: 'rate_limited',
  500: 'internal',
  502: 'bad_gateway',
  503: 'unavailable',
  504: 'gateway_timeout',
}

const ourCodes: ReadonlySet<string> = new Set([...Object.keys(statusOf), 'idempotency_in_progress'])

/**
 * The error that a reply without success stands for: ApiError from status 400 on, else ProtocolError (a redirect is
 * never followed, so that no credential leaves its origin). Reads problem+json, any JSON object with a `message` or
 * `error`, and short plain text.
 */
export async function errorOf(
  target: Target,
  reply: HttpResponse,
  credential: CredentialKind | null,
  now: () => number,
): Promise<ApiError | ProtocolError> {
  const bytes = await readBytes(reply, maximumProblemBytes).catch((error: unknown) => {
    // What came in a coding that cannot be read says less than its status does.
    if (error instanceof ProtocolError) return null
    throw error
  })
  if (reply.status < 400) return redirected(target, reply)
  const text = bytes?.toString('utf8') ?? ''
  const problem = objectOf(text)
  const code = codeOf(reply, problem)
  const needed = neededScopesOf(reply)
  const expired = reply.status === 403 && code === null && credential === 'api_key'
  const known = needed ? 'insufficient_scope' : expired ? 'expired_key' : uncoded[reply.status]
  return new ApiError(target, {
    status: reply.status,
    code: code ?? known ?? `http_${reply.status}`,
    coded: code !== null,
    detail:
      detailOf(problem) ??
      plainTextOf(reply, text) ??
      `${hostOf(target)} returned ${reply.status} (${lineOf(target)})`,
    faults: Array.isArray(problem?.['errors']) ? problem['errors'].filter(isFault) : [],
    problem,
    requestId: textOf(problem?.['requestId']) ?? reply.headers['x-request-id'] ?? null,
    retryAfterMs: retryAfterOf(reply, now()),
    neededScopes: needed ?? [],
  })
}

/** What a 403 would have taken, where its challenge says that the scope is the reason (RFC 6750 §3.1); else null. */
function neededScopesOf({ status, headers }: HttpResponse): readonly string[] | null {
  const challenge = headers['www-authenticate'] ?? ''
  if (status !== 403 || !/(^|[\s,])error="?insufficient_scope\b/i.test(challenge)) return null
  const scope = /(?:^|[\s,])scope="([^"]*)"/i.exec(challenge)?.[1] ?? ''
  // As RFC 6749 §3.3 spells them; anything else would end up in a command that somebody copies.
  return scope.split(' ').filter((word) => /^[\w.:/-]+$/.test(word))
}

function redirected(target: Target, reply: HttpResponse): ProtocolError {
  const location = reply.headers['location'] ?? null
  const to = location && URL.canParse(location, target.url) ? ` to ${new URL(location, target.url).href}` : ''
  const message = `${hostOf(target)} returned ${reply.status}${to}; redirects are not followed (${lineOf(target)})`
  return new ProtocolError(target, 'redirected', message)
}

/** Our code, or null: other platforms have codes as well, and theirs say nothing about ours. */
function codeOf(reply: HttpResponse, problem: Readonly<Record<string, unknown>> | null): string | null {
  const code = textOf(problem?.['code'])
  if (code === null) return null
  return ourCodes.has(code) || mediaTypeOf(reply) === 'application/problem+json' ? code : null
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null // Pages and plain text are answers, too; the status says enough.
  }
}

function detailOf(problem: Readonly<Record<string, unknown>> | null): string | null {
  if (problem === null) return null
  const error = problem['error']
  const nested = isJsonObject(error) ? textOf(error['message']) : null
  const names = ['detail', 'message', 'error_description', 'error', 'title']
  return names.map((name) => textOf(problem[name])).find((text) => text !== null) ?? nested
}

function plainTextOf(reply: HttpResponse, text: string): string | null {
  const line = text.trim()
  return mediaTypeOf(reply) === 'text/plain' && line !== '' && line.length <= 200 && !line.includes('\n')
    ? line
    : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function isFault(value: unknown): value is Fault {
  return isJsonObject(value) && typeof value['code'] === 'string' && typeof value['detail'] === 'string'
}
