import { maximumUrlBytes } from '../http/request-context.ts'
import { OAuthError } from './oauth-error.ts'

/** As long as in an address, which is as long as any has reason to be. */
const longestValue = maximumUrlBytes

/**
 * A parameter of a request; one without a value counts as absent, and what nobody asks for is ignored. Throws
 * `invalid_request` where it came more than once (RFC 6749 §3.1, §3.2).
 */
export function parameter(given: URLSearchParams, name: string): string | undefined {
  const values = given.getAll(name)
  if (values.length > 1)
    throw new OAuthError('invalid_request', `The parameter ${name} must be given only once.`)
  const [value = ''] = values
  if (value.length > longestValue) {
    throw new OAuthError('invalid_request', `The parameter ${name} has more than ${longestValue} characters.`)
  }
  return value || undefined
}

/** A parameter that has to be there; throws `invalid_request`. */
export function requiredParameter(given: URLSearchParams, name: string): string {
  const value = parameter(given, name)
  if (value !== undefined) return value
  throw new OAuthError('invalid_request', `The parameter ${name} is required.`)
}
