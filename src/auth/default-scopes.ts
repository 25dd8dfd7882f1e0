import { scopes as apiScopes } from '../contract/keys.ts'

/** What most commands need, and what a platform that refuses a scope beyond somebody's role is asked for. */
export const usualScopes: readonly string[] = ['read', 'write']

/**
 * The scopes to ask for where nobody names any. A server whose scopes are exactly those of this API is asked for all of
 * them, as it grants those that the role may have (RFC 6749 §3.3); any other might refuse the whole sign-in.
 */
export function defaultScopes(supported: readonly string[] | null): readonly string[] {
  const own: readonly string[] = apiScopes
  const same = supported?.length === own.length && own.every((scope) => supported.includes(scope))
  return same ? own : usualScopes
}
