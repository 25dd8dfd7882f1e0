import { SignInError } from '../auth/errors.ts'
import {
  AmbiguousError,
  ApiError,
  ConnectionError,
  hostOf,
  lineOf,
  NotOfferedError,
  PlatformError,
  ProtocolError,
  RequestError,
  type Target as Sent,
  TimeoutError,
} from '../client/errors.ts'
import { findNearest } from '../codec/nearest.ts'
import { ConfigError, SettingError, systemCode } from '../config/errors.ts'
import type { Credential, Target } from '../config/target.ts'
import { TableError } from '../tables/column.ts'
import { isDestructive } from './command/aliases.ts'
import type { Command } from './command/command.ts'
import { describeFaults, type RefusalView, RefusedCallError } from './operation/refused-call.ts'
import { signInCommand } from './session/sign-in-command.ts'
import { CommandError, type ExitName, type FaultOptions, type InterruptedError } from './terminal/errors.ts'

export interface Failure {
  /** Stable, for scripts. */
  readonly code: string
  readonly exit: ExitName
  readonly message: string
  readonly why: readonly string[]
  readonly hint: string | null
  readonly status: number | null
  readonly requestId: string | null
  readonly retryable: boolean
  readonly details: readonly unknown[]
}

const nothing = { why: [], hint: null, status: null, requestId: null, retryable: false, details: [] } as const

export function failureOf(error: unknown, target: Target | null): Failure {
  if (error instanceof RefusedCallError) return failureOfApiError(error.refusal, target, error)
  if (error instanceof ApiError) return failureOfApiError(error, target)
  if (error instanceof CommandError) {
    const { code, exit, message, why, details } = error
    return { ...nothing, code, exit, message, why, hint: hintOf(error), details }
  }
  if (error instanceof TableError) {
    const { code, message, hint } = error
    return { ...nothing, code, exit: 'failure', message, hint }
  }
  if (error instanceof SignInError) {
    const { code, message, why, hint = null } = error
    const later = code === 'server_unavailable'
    return { ...nothing, code, exit: later ? 'unavailable' : 'auth', message, why, hint, retryable: later }
  }
  if (error instanceof SettingError) {
    return { ...nothing, code: error.code, exit: 'usage', message: error.message, hint: hintOf(error) }
  }
  if (error instanceof ConfigError) {
    return { ...nothing, code: error.code, exit: 'failure', message: error.message, hint: error.hint ?? null }
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    const { code, message } = error
    return {
      ...nothing,
      code,
      exit: 'unavailable',
      message,
      hint: reachHint(error, target),
      retryable: true,
    }
  }
  if (error instanceof AmbiguousError) {
    return {
      ...nothing,
      code: error.code,
      exit: 'unavailable',
      message: error.message,
      hint: checkHint(error),
    }
  }
  if (error instanceof RequestError) {
    const { code, message, why } = error
    const exit = code === 'precondition_failed' ? 'conflict' : 'usage'
    // Only --if-version sets this header.
    const text = message.replace('If-Match', '--if-version')
    return { ...nothing, code, exit, message: text, why, hint: requestHint(error) }
  }
  if (error instanceof PlatformError) return failureOfPlatform(error)
  if (error instanceof ProtocolError && isUnclear(error)) {
    const why = ['It may have succeeded']
    return {
      ...nothing,
      code: error.code,
      exit: 'failure',
      message: error.message,
      why,
      hint: checkHint(error),
    }
  }
  if (error instanceof ProtocolError || error instanceof NotOfferedError) {
    return { ...nothing, code: error.code, exit: 'failure', message: error.message }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { ...nothing, code: 'unexpected', exit: 'failure', message: `Internal error: ${message}` }
}

function failureOfPlatform(error: PlatformError): Failure {
  const { code, message, line } = error
  const isFiltered = code === 'not_filtered' || code === 'not_sorted'
  const rows = isFiltered ? '; --ignore-filters shows the rows as they came' : ''
  return {
    ...nothing,
    code,
    exit: 'failure',
    message,
    why: isUnclear(error) ? ['It may have succeeded', checkHint(error)] : [],
    hint: `Describe the platform in a file (docs/platforms.md), with a line such as ${line}${rows}`,
  }
}

function requestHint({ code, noun }: RequestError): string | null {
  switch (code) {
    case 'insecure_http':
      return 'Use https, or --insecure-http to allow it'
    case 'version_unknown':
      return 'Run the command without --if-version'
    case 'not_resolved':
      return noun === 'course'
        ? 'Use the id of the course: learnctl courses list'
        : `Use the id of the ${noun}`
    default:
      return null
  }
}

/** The response does not show that the write was done, or redirects: after 307 and 308 repeat it (RFC 9110 §15.4.8). */
function isUnclear({ method, code, answer }: ProtocolError): boolean {
  const status = answer?.status ?? 0
  if (code === 'not_shown' || code === 'not_set') return true
  if (code === 'not_described') return method !== 'GET'
  const taken = answer !== null && status < 300
  const led = code === 'redirected' && status !== 307 && status !== 308
  return (
    method !== 'GET' && (code === 'too_large' || led || (taken && (code === 'html' || code === 'not_json')))
  )
}

/**
 * Suggests how to see whether a write was done; any platform has users and lessons, but maybe no list of
 * them.
 */
function checkHint({ method, url }: Sent): string {
  const { pathname } = new URL(url)
  if (method === 'POST' && /\/v1\/(users|lessons)$/.test(pathname))
    return 'Check on the platform before you retry'
  const noun = /\/v1\/([a-z]+)/.exec(pathname)?.[1] ?? 'courses'
  return `Check before you retry: learnctl ${noun === 'learners' ? 'analytics export' : `${noun} list`}`
}

export function interruptionFault(
  { exit }: InterruptedError,
  interruption: Command['interruption'],
  unanswered: readonly Sent[],
): CommandError {
  const word = exit === 'interrupted' ? 'Interrupted' : 'Terminated'
  if (interruption === 'continues') {
    return new CommandError(exit, exit, `${word}; run the same command to continue`)
  }
  const [first] = unanswered
  if (!first || interruption === 'explained') return new CommandError(exit, exit, word)
  const lost = unanswered.length === 1 ? lineOf(first) : `${unanswered.length} requests`
  const hint = checkHint(first)
  return new CommandError(exit, exit, `${word}; ${lost} may have succeeded`, {
    ...(hint !== null && { hint }),
  })
}

/** Any other status is a failure. */
export const exitOfStatus: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'auth',
  403: 'forbidden',
  404: 'notFound',
  408: 'unavailable',
  409: 'conflict',
  412: 'conflict',
  413: 'usage',
  414: 'usage',
  415: 'usage',
  422: 'usage',
  429: 'unavailable',
  431: 'usage',
  503: 'unavailable',
}

const exitOfCode: Readonly<Record<string, ExitName>> = {
  expired_key: 'auth',
  idempotency_mismatch: 'conflict',
}

const anywhere: RefusalView = { flagOf: () => null, hint: null }

function failureOfApiError(error: ApiError, target: Target | null, seen: RefusalView = anywhere): Failure {
  const { code, status, requestId, retryAfterMs, faults, answer } = error
  const exit = exitOfCode[code] ?? exitOfStatus[status] ?? 'failure'
  const wait =
    retryAfterMs === null ? [] : [`The server asks you to wait ${Math.ceil(retryAfterMs / 1000)} s`]
  const { message, why } = describeFaults(error, seen)
  const place = lineOf(error)
  // The text alone would not show that the platform reported success.
  const returned =
    answer.status < 300 && !message.includes(place)
      ? [`${hostOf(error)} returned ${answer.status} (${place})`]
      : []
  const scopes = code === 'insufficient_scope' ? scopeHint(error, target) : null
  const again = code === 'plan_outdated' ? 'Run the same command again' : null
  return {
    code,
    exit,
    message,
    why: [...why, ...returned, ...wait, ...(exit === 'auth' ? credentialLines(target) : [])],
    hint: exit === 'auth' ? signInHint(target) : (scopes ?? seen.hint ?? again),
    status,
    requestId,
    retryable: exit === 'unavailable',
    details: faults,
  }
}

function signInHint(target: Target | null): string {
  const credential = target?.kind === 'remote' ? target.credential : null
  const variable = variableOf(credential)
  if (variable !== null) {
    const [shadowed] = credential?.shadows ?? []
    const otherwise = shadowed ? `use the credential from ${shadowed.name}` : `run: ${signInCommand(target)}`
    return `Set ${variable} to a valid credential, or unset it and ${otherwise}`
  }
  return `Sign in again: ${signInCommand(target, { withKey: credential?.kind === 'api_key' })}`
}

/** Null for one of a profile. */
function variableOf(credential: Credential | null): string | null {
  return credential && !credential.kept && credential.origin.source === 'environment'
    ? credential.origin.name
    : null
}

const ownScopes = ['read', 'write', 'admin']

/** RFC 6750 §3.1; in addition to the present ones. */
function scopeHint({ neededScopes }: ApiError, target: Target | null): string | null {
  if (target?.kind !== 'remote' || !target.credential) return null
  const { kind, kept } = target.credential
  // Other keys and tokens do not show their scopes, so assume the common ones.
  const granted = kept?.tokens?.scopes ?? (kind === 'api_key' ? ['read'] : ['read', 'write'])
  const needed = neededScopes.length > 0 ? neededScopes : ownScopes
  const wanted = [...granted, ...needed]
  const scopes = [...new Set([...ownScopes.filter((scope) => wanted.includes(scope)), ...wanted])]
  if (kind === 'api_key') {
    return `Ask an admin for a key with these scopes: learnctl keys create --name <name> --scopes ${scopes.join(',')}`
  }
  const variable = variableOf(target.credential)
  const first =
    variable === null
      ? 'Sign in again with more scopes: '
      : `Set ${variable} to a token with the scopes ${scopes.join(' ')}, or unset it and run: `
  return first + signInCommand(target, { scopes })
}

export function credentialLines(target: Target | null): string[] {
  if (target?.kind !== 'remote' || !target.credential) return []
  const { kind, origin, shadows } = target.credential
  const what = kind === 'api_key' ? 'API key' : 'access token'
  const used = `The ${what} from ${origin.name} was sent to ${new URL(target.url).origin}`
  return [used, ...shadows.map(({ name }) => `It overrides the one from ${name}`)]
}

function reachHint(error: ConnectionError | TimeoutError, target: Target | null): string | null {
  if (error.code === 'first_byte_timeout') return 'Use --timeout to wait longer'
  const url = new URL(error.url)
  if (error.code === 'not_tls') return `If the server uses plain http: --url http://${url.host}`
  if (error.code === 'tls' && /SELF_SIGNED|UNABLE_TO_/.test(systemCode(error.cause) ?? ''))
    return 'To trust its certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file'
  // A server that expects TLS closes other connections.
  if (error.code === 'reset' && url.protocol === 'http:')
    return `If the server uses TLS: --url https://${url.host}`
  if (error.proxy && error.code !== 'cut_short' && error.code !== 'idle_timeout')
    return `The proxy is from ${error.proxy.variable}; NO_PROXY lists hosts to reach without it`
  // The server was reached, so the URL is right.
  if (error.code === 'cut_short' || error.code === 'idle_timeout' || error.code === 'reset') return null
  return target?.kind === 'remote' ? `The URL is from ${target.origin.name}` : null
}

interface Hinting {
  readonly hint: string | undefined
  readonly choice: FaultOptions['choice']
}

const nothingChosen: NonNullable<FaultOptions['choice']> = { given: '', valid: [] }

function hintOf({ hint, choice }: Hinting): string | null {
  const { given, valid, means = {} } = choice ?? nothingChosen
  const words = findNearest(given, [...valid, ...Object.keys(means)])
  const near = [...new Set(words.map((word) => means[word] ?? word))].filter((word) => !isDestructive(word))
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : (hint ?? null)
}
