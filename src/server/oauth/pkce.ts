import { digest, isSame } from '../access/secret.ts'
import { OAuthError } from './oauth-error.ts'
import { readParameter } from './parameters.ts'

/**
 * Returns the code challenge of an authorization request; null if a confidential client sent none. Throws
 * `invalid_request` for a method other than S256, and if a public client sent none (RFC 7636 §4.4.1, RFC 9700
 * §2.1.1).
 */
export function challengeOf(query: URLSearchParams, isPublic: boolean): string | null {
  const challenge = readParameter(query, 'code_challenge')
  const method = readParameter(query, 'code_challenge_method')
  if (challenge === undefined) {
    if (!isPublic && method === undefined) return null
    throw new OAuthError('invalid_request', 'The parameter code_challenge is required (RFC 7636).')
  }
  // The default method is `plain` (RFC 7636 §4.3).
  if (method !== 'S256') {
    throw new OAuthError('invalid_request', 'The code_challenge_method must be S256.')
  }
  if (/^[\w-]{43}$/.test(challenge)) return challenge
  throw new OAuthError('invalid_request', 'The code_challenge must be a SHA-256 hash in base64url.')
}

/**
 * Throws `invalid_grant` if a verifier does not match the challenge of the code, or there is only one of them
 * (RFC 7636 §4.6, RFC 9700 §4.8.2), and `invalid_request` for a malformed verifier (RFC 7636 §4.1).
 */
export function requireVerifier(verifier: string | undefined, challenge: string | null): void {
  if (verifier === undefined && challenge === null) return
  if (verifier !== undefined && !/^[\w.~-]{43,128}$/.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'The code_verifier must be 43 to 128 letters, digits or -._~ (RFC 7636).',
    )
  }
  if (challenge === null) {
    throw new OAuthError('invalid_grant', 'The authorization request had no code_challenge.')
  }
  if (verifier !== undefined && isSame(digest(verifier), challenge)) return
  throw new OAuthError('invalid_grant', 'The code_verifier does not match the code_challenge.')
}
