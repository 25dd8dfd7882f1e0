import { isJsonObject } from '../codec/json-object.ts'
import { parseJsonOrNull } from '../codec/json-text.ts'
import { type Fault, statusOf } from '../contract/errors.ts'
import type { HttpHeaders, HttpResponse } from '../contract/http.ts'
import { bodyText, isPage, mediaTypeOf, readStart } from './decode.ts'
import { ApiError, hostOf, lineOf, ProtocolError, type RawAnswer, type Target } from './errors.ts'
import type { FailureStatus, ToldError } from './foreign/refusal.ts'
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
  431: 'headers_too_large',
  500: 'internal',
  502: 'bad_gateway',
  503: 'unavailable',
  504: 'gateway_timeout',
}

const ourCodes: ReadonlySet<string> = new Set([...Object.keys(statusOf), 'idempotency_in_progress'])

/**
 * The error that a reply without success stands for: ApiError from status 400 on, else ProtocolError (a redirect is
 * never followed, so that no credential leaves its origin). Reads problem+json, the JSON of other platforms, and short
 * plain text.
 *
 * @param failure set for a reply with the status of a success, whose body tells of a failure
 */
export async function errorOf(
  target: Target & { readonly headers?: HttpHeaders },
  reply: HttpResponse,
  credential: CredentialKind | null,
  now: () => number,
  failure?: FailureStatus,
): Promise<ApiError | ProtocolError> {
  const answer = await answerOf(reply)
  // Where a failure has no status of its own, there is only that of a success.
  const status = failure?.said ?? reply.status
  if (status < 400 && !failure) return redirected(target, reply, answer)
  // Pages and plain text are answers, too; the status says enough.
  const value = parseJsonOrNull(answer.body)
  const problem = isJsonObject(value) ? value : null
  const told = ownTold(problem) ?? (await import('./foreign/refusal.ts')).toldError(value)
  const code = codeOf(reply, problem)
  const needed = neededScopesOf(reply)
  const page = isPage(reply, answer.body)
  const plain = plainTextOf(reply, answer.body)
  const expired =
    status === 403 &&
    code === null &&
    credential === 'api_key' &&
    !page &&
    isExpiredKey(told, plain === null ? told.texts : [plain])
  const known = needed ? 'insufficient_scope' : expired ? 'expired_key' : uncoded[status]
  const uncertain = failure?.said === null ? 'failed' : null
  return new ApiError(target, {
    status,
    code: uncertain ?? code ?? known ?? `http_${status}`,
    coded: code !== null,
    detail: told.detail ?? plain ?? statusText(target, reply, { page, failure, code: told.code }),
    faults: told.faults,
    problem,
    requestId:
      textOf(problem?.['requestId']) ??
      reply.headers['x-request-id'] ??
      target.headers?.['x-request-id'] ??
      null,
    retryAfterMs: retryAfterOf(reply, now()),
    neededScopes: needed ?? [],
    answer,
  })
}

/** What a problem of a server of this API says; null for any other body. */
function ownTold(problem: Readonly<Record<string, unknown>> | null): ToldError | null {
  const { type, requestId, detail, errors } = problem ?? {}
  const isOwn = type === 'about:blank' && typeof detail === 'string' && String(requestId).startsWith('req_')
  if (!isOwn) return null
  // As the API declares them.
  const faults = (Array.isArray(errors) ? errors : []) as readonly Fault[]
  return { detail, faults, code: textOf(problem?.['code']), texts: [detail] }
}

async function answerOf(reply: HttpResponse): Promise<RawAnswer> {
  const { status, headers } = reply
  try {
    const { bytes } = await readStart(reply, maximumProblemBytes)
    return { status, headers, body: shownText(reply, bytes) }
  } catch (error) {
    // What came in a coding that cannot be read says less than its status does.
    if (error instanceof ProtocolError) return { status, headers, body: '' }
    throw error
  }
}

/** An error is better told with a letter replaced than not at all. */
function shownText(reply: HttpResponse, bytes: Buffer): string {
  try {
    return bodyText(reply, bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

/** Words that say no more than the status 403 does. */
const statusWords =
  /\b(?:http|error|status|code|403|request|access|forbidden|denied|unauthori[sz]ed|is|was|the)\b/gi

/**
 * True for a 403 that says that the key has expired, or that gives no reason: the published interface has no code for an
 * expired key. A code or a text with another reason means that the key may not do this.
 */
function isExpiredKey({ code, faults }: ToldError, texts: readonly string[]): boolean {
  const told = code ?? faults.map(({ code }) => code).find((code) => code !== 'invalid') ?? null
  if (told !== null) return /expired/i.test(told)
  const reasons = [...texts, ...faults.map(({ detail }) => detail)]
    .map((text) => text.replaceAll(statusWords, ''))
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
  return reasons.length === 0 || reasons.some(saysKeyExpired)
}

/** Courses, trials and subscriptions expire as well. */
function saysKeyExpired(text: string): boolean {
  return (
    /expire/i.test(text) &&
    /key|token|credential|secret|session|^[^\p{L}]*(?:has )?expired[^\p{L}]*$/iu.test(text)
  )
}

function statusText(
  target: Target,
  { status }: HttpResponse,
  {
    page,
    failure,
    code,
  }: {
    readonly page: boolean
    readonly failure: FailureStatus | undefined
    readonly code: string | null
  },
): string {
  const parts = [
    ...(failure && failure.said !== null ? [`the status ${failure.said}`] : []),
    ...(code === null ? [] : [`the error ${code}`]),
  ]
  if (failure && parts.length === 0) parts.push('an error')
  const inside = parts.length === 0 ? '' : ` with ${parts.join(' and ')}`
  const said = `${hostOf(target)} returned ${status}${inside} (${lineOf(target)})`
  // The platform itself answers in JSON.
  return page && status === 403 ? `${said} with a web page; a gateway or firewall may have refused it` : said
}

/** What a 403 would have taken, where its challenge says that the scope is the reason (RFC 6750 §3.1); else null. */
function neededScopesOf({ status, headers }: HttpResponse): readonly string[] | null {
  const challenge = headers['www-authenticate'] ?? ''
  if (status !== 403 || !/(^|[\s,])error="?insufficient_scope\b/i.test(challenge)) return null
  const scope = /(?:^|[\s,])scope="([^"]*)"/i.exec(challenge)?.[1] ?? ''
  // As RFC 6749 §3.3 spells them; anything else would end up in a command that somebody copies.
  return scope.split(' ').filter((word) => /^[\w.:/-]+$/.test(word))
}

function redirected(target: Target, reply: HttpResponse, answer: RawAnswer): ProtocolError {
  const location = reply.headers['location'] ?? null
  const to = location && URL.canParse(location, target.url) ? ` to ${new URL(location, target.url).href}` : ''
  const message = `${hostOf(target)} returned ${reply.status}${to}; redirects are not followed (${lineOf(target)})`
  return new ProtocolError(target, 'redirected', message, undefined, answer)
}

/** Our code, or null: other platforms have codes as well, and theirs say nothing about ours. */
function codeOf(reply: HttpResponse, problem: Readonly<Record<string, unknown>> | null): string | null {
  const code = textOf(problem?.['code'])
  if (code === null) return null
  return ourCodes.has(code) || mediaTypeOf(reply) === 'application/problem+json' ? code : null
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
