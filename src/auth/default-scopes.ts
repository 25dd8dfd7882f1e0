import { scopes as apiScopes } from '../contract/keys.ts'

/**
 * Scopes that most commands need. Asked for on platforms that refuse the whole sign-in if a role lacks one
 * scope.
 */
export const commonScopes: readonly string[] = ['read', 'write']

/**
 * Returns the scopes to request by default: all, if the server's scopes are exactly those of this API,
 * because it then grants those that the role may have (RFC 6749 §3.3). Another server might refuse the whole
 * sign-in.
 */
export function defaultScopes(supported: readonly string[] | null): readonly string[] {
  const own: readonly string[] = apiScopes
  const same = supported?.length === own.length && own.every((scope) => supported.includes(scope))
  return same ? own : commonScopes
}
