import { maxUrlBytes } from '../http/request-context.ts'
import { OAuthError } from './oauth-error.ts'

/** Maximum length of a value: that of a URL. */
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

/** Returns a required parameter; throws `invalid_request` without it. */
export function readRequiredParameter(given: URLSearchParams, name: string): string {
  const value = readParameter(given, name)
  if (value !== undefined) return value
  throw new OAuthError('invalid_request', `The parameter ${name} is required.`)
}
