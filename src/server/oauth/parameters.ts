import { scopes as known } from '../../contract/constants.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { grantable } from '../access/principal.ts'
import { maxUrlBytes } from '../http/request-context.ts'
import { OAuthError } from './oauth-error.ts'

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
