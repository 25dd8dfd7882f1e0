import { isJsonObject, parseJsonOrNull } from '../codec/json-text.ts'
import { type Fault, statusOf } from '../contract/errors.ts'
import type { HttpHeaders, HttpResponse } from '../contract/http.ts'
import { ApiError, hostOf, lineOf, ProtocolError, type RawAnswer, type Target } from './errors.ts'
import { bodyText, isPage, mediaTypeOf, readStart } from './reply.ts'

const maxProblemBytes = 64 * 1024

/** An expired API key gets a 403, an expired token a 401. */
export type CredentialKind = 'api_key' | 'access_token'

/** Used for responses without a code of this API. */
const codeByStatus: Readonly<Record<number, string>> = {
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
 * Returns the error for an unsuccessful reply: ApiError from status 400 on, else ProtocolError (redirects are never
 * followed, so that no credential leaves its origin). Reads problem+json, and of any other body its `detail`, `message`
 * or `error`, else its first line.
 */
export async function errorOf(
  target: Target & { readonly headers?: HttpHeaders },
  reply: HttpResponse,
  credential: CredentialKind | null,
  now: () => number,
): Promise<ApiError | ProtocolError> {
  const answer = await answerOf(reply)
  const { status } = reply
  if (status < 400) return redirected(target, reply, answer)
  // The body may be a web page or plain text; then the status is enough.
  const value = parseJsonOrNull(answer.body)
  const problem = isJsonObject(value) ? value : null
  const parsed = ownProblem(problem) ?? readError(value)
  const code = codeOf(reply, problem)
  const needed = neededScopesOf(reply)
  const page = isPage(reply, answer.body)
  const plain = page ? null : firstLineOf(answer.body, value)
  const expired =
    status === 403 && code === null && credential === 'api_key' && !page && isExpiredKey(parsed, plain)
  const knownCode = needed ? 'insufficient_scope' : expired ? 'expired_key' : codeByStatus[status]
  return new ApiError(target, {
    status,
    code: code ?? knownCode ?? `http_${status}`,
    coded: code !== null,
    detail: parsed.detail ?? plain ?? statusText(target, status, page),
    faults: parsed.faults,
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

/** Null for any other body. */
function ownProblem(problem: Readonly<Record<string, unknown>> | null): ErrorContent | null {
  const { type, requestId, detail, errors } = problem ?? {}
  const isOwn = type === 'about:blank' && typeof detail === 'string' && String(requestId).startsWith('req_')
  if (!isOwn) return null
  // The API declares these types.
  const faults = (Array.isArray(errors) ? errors : []) as readonly Fault[]
  return { detail, faults, code: textOf(problem?.['code']) }
}

interface ErrorContent {
  /** Null if there is none. */
  readonly detail: string | null
  readonly faults: readonly Fault[]
  readonly code: string | null
}

/** `detail`, `message` or `error`, which may be an object with one of them. */
function readError(body: unknown): ErrorContent {
  if (!isJsonObject(body)) return { detail: null, faults: [], code: null }
  const { detail, message, error } = body
  const inner = isJsonObject(error) ? readError(error) : null
  const text = textOf(detail) ?? textOf(message) ?? textOf(error) ?? inner?.detail ?? null
  const code = textOf(body['code']) ?? inner?.code ?? null
  return { detail: text === null ? null : text.slice(0, maxDetail), faults: faultsIn(body['errors']), code }
}

/** Maximum length of a text; longer ones, such as stack traces, are cut. */
const maxDetail = 1000
/** Maximum length of a line that is shown as it came. */
const maxLine = 200

/** Reads the problems of RFC 9457's example: `[{"detail": …, "pointer": …}]`. */
function faultsIn(errors: unknown): Fault[] {
  return (Array.isArray(errors) ? errors : []).flatMap((each) => {
    const { detail, pointer, code } = isJsonObject(each) ? each : {}
    const text = textOf(detail)
    const place = textOf(pointer)
    return text === null
      ? []
      : [{ code: textOf(code) ?? 'invalid', detail: text, ...(place !== null && { pointer: place }) }]
  })
}

async function answerOf(reply: HttpResponse): Promise<RawAnswer> {
  const { status, headers } = reply
  try {
    const { bytes } = await readStart(reply, maxProblemBytes)
    return { status, headers, body: lenientText(reply, bytes) }
  } catch (error) {
    // The content coding is unknown or invalid; the status is enough.
    if (error instanceof ProtocolError) return { status, headers, body: '' }
    throw error
  }
}

/** Replaces invalid characters: the error is still readable. */
function lenientText(reply: HttpResponse, bytes: Buffer): string {
  try {
    return bodyText(reply, bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

/** Words that add nothing to the status 403. */
const statusWords =
  /\b(?:http|error|status|code|403|request|access|forbidden|denied|unauthori[sz]ed|is|was|the)\b/gi

/** True without a reason, too: the published interface has no code for an expired key. Another reason is a missing permission. */
function isExpiredKey({ code, faults, detail }: ErrorContent, plain: string | null): boolean {
  const firstCode = code ?? faults.map(({ code }) => code).find((code) => code !== 'invalid') ?? null
  if (firstCode !== null) return /expired/i.test(firstCode)
  const reasons = [...[detail ?? plain ?? ''], ...faults.map(({ detail }) => detail)]
    .map((text) => text.replaceAll(statusWords, ''))
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
  return reasons.length === 0 || reasons.some(saysKeyExpired)
}

/** False for courses, trials and subscriptions, which expire as well. */
function saysKeyExpired(text: string): boolean {
  return (
    /expire/i.test(text) &&
    /key|token|credential|secret|session|^[^\p{L}]*(?:has )?expired[^\p{L}]*$/iu.test(text)
  )
}

function statusText(target: Target, status: number, isWebPage: boolean): string {
  const said = `${hostOf(target)} returned ${status} (${lineOf(target)})`
  // The platform's own errors are JSON.
  return isWebPage && status === 403
    ? `${said} with a web page; a gateway or firewall may have refused it`
    : said
}

/** RFC 6750 §3.1; null if scopes are not the reason. */
function neededScopesOf({ status, headers }: HttpResponse): readonly string[] | null {
  const challenge = headers['www-authenticate'] ?? ''
  if (status !== 403 || !/(^|[\s,])error="?insufficient_scope\b/i.test(challenge)) return null
  const scope = /(?:^|[\s,])scope="([^"]*)"/i.exec(challenge)?.[1] ?? ''
  // Only the characters of RFC 6749 §3.3: the scopes are shown in a command to copy.
  return scope.split(' ').filter((word) => /^[\w.:/-]+$/.test(word))
}

function redirected(target: Target, reply: HttpResponse, answer: RawAnswer): ProtocolError {
  const location = reply.headers['location'] ?? null
  const to = location && URL.canParse(location, target.url) ? ` to ${new URL(location, target.url).href}` : ''
  const message = `${hostOf(target)} returned ${reply.status}${to}; redirects are not followed (${lineOf(target)})`
  return new ProtocolError(target, 'redirected', message, undefined, answer)
}

/** Null for the codes of other platforms, which mean something else. */
function codeOf(reply: HttpResponse, problem: Readonly<Record<string, unknown>> | null): string | null {
  const code = textOf(problem?.['code'])
  if (code === null) return null
  return ourCodes.has(code) || mediaTypeOf(reply) === 'application/problem+json' ? code : null
}

/** Null without a line, and for JSON that says nothing or cannot be read. */
function firstLineOf(text: string, value: unknown): string | null {
  const [line = ''] = text.trim().split('\n', 1)
  const isJson = /^[[{]/.test(line)
  const isEmpty = isJson ? value === null || Object.keys(value as object).length === 0 : line === ''
  return isEmpty ? null : line.slice(0, maxLine)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Seconds or a date (RFC 9110 §10.2.3), which is compared with the reply's `Date`; null if absent or invalid. */
export function retryAfterOf(reply: HttpResponse, nowMs: number): number | null {
  const value = reply.headers['retry-after']?.trim() ?? ''
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000
  const until = dateOf(value)
  if (until === null) return null
  return Math.max(0, until - (dateOf(reply.headers['date'] ?? '') ?? nowMs))
}

/** RFC 9110 §5.6.7: all three forms begin with the name of a day and are in UTC. */
function dateOf(text: string): number | null {
  const utc = text.endsWith('GMT') ? text : `${text} GMT`
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(utc) : Number.NaN
  return Number.isNaN(time) ? null : time
}
