import { scopes as known } from '../../contract/constants.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { grantable } from '../access/principal.ts'
import type { Reply } from '../http/reply.ts'
import { maxUrlBytes } from '../http/request-context.ts'
import type { ProblemError } from '../problem-error.ts'

const maxValueLength = maxUrlBytes

/**
 * Returns a parameter; an empty one counts as absent. Throws `invalid_request` if it is repeated (RFC 6749
 * §3.1, §3.2).
 */
export function readParameter(given: URLSearchParams, name: string): string | undefined {
  const values = given.getAll(name)
  if (values.length > 1)
    throw new OAuthError('invalid_request', `The parameter ${name} must be given only once.`)
  const [value = ''] = values
  if (value.length > maxValueLength) {
    throw new OAuthError(
      'invalid_request',
      `The parameter ${name} has more than ${maxValueLength} characters.`,
    )
  }
  return value || undefined
}

/** Throws `invalid_request` without it. */
export function readRequiredParameter(given: URLSearchParams, name: string): string {
  const value = readParameter(given, name)
  if (value !== undefined) return value
  throw new OAuthError('invalid_request', `The parameter ${name} is required.`)
}

/**
 * Parses requested scopes; `read` without any. Ignores unknown ones. Throws `invalid_scope` if none is left,
 * or if the text is malformed (RFC 6749 §3.3).
 */
export function parseScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return ['read']
  if (!/^[!#-[\]-~]+( [!#-[\]-~]+)*$/.test(text)) {
    throw new OAuthError('invalid_scope', 'The scope must be names separated by single spaces.')
  }
  const names = text.split(' ')
  const asked = known.filter((scope) => names.includes(scope))
  if (asked.length > 0) return asked
  throw new OAuthError('invalid_scope', `No known scope was requested; the scopes are ${known.join(', ')}.`)
}

/** Returns the scopes that a user with this role can grant now; throws `invalid_scope` if none is left. */
export function grantableScopesOf(asked: readonly Scope[], role: RoleName): readonly Scope[] {
  const given = asked.filter((scope) => grantable[role].includes(scope))
  if (given.length > 0) return given
  throw new OAuthError('invalid_scope', `The role ${role} cannot grant any of these scopes.`)
}

/** RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5, OpenID Connect Core §3.1.2.6. */
type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'server_error'
  | 'temporarily_unavailable'

/** For a client rather than a user. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  /**
   * True if the client authenticated with a header, so that the response needs a challenge (RFC 6749 §5.2).
   */
  readonly challenged: boolean

  constructor(code: OAuthErrorCode, description: string, { challenged = false } = {}) {
    super(description)
    this.code = code
    this.challenged = challenged
  }
}

const codeOfStatus: Readonly<Record<number, OAuthErrorCode>> = {
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** Creates a response that must not be cached (RFC 6749 §5.1). */
export function clientReply(status: number, body: object, headers: Reply['headers'] = {}): Reply {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json', pragma: 'no-cache' },
    body: JSON.stringify(body),
  }
}

/** RFC 6749 §5.2. */
export function refusalReply({ code, message, challenged }: OAuthError): Reply {
  const status = code === 'invalid_client' ? 401 : 400
  const headers: Reply['headers'] = challenged ? { 'www-authenticate': 'Basic realm="learnctl"' } : {}
  return { ...clientReply(status, { error: code, error_description: toPrintable(message) }, headers), code }
}

/** For another problem, such as 415, 429 or 500. */
export function refuseAsOAuth({ status, message, headers, code }: ProblemError): Reply {
  const error = codeOfStatus[status] ?? 'invalid_request'
  return { ...clientReply(status, { error, error_description: toPrintable(message) }, headers), code }
}

/** A description must not contain other characters (RFC 6749 §5.2). */
export function toPrintable(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?')
}
