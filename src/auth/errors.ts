/** What went wrong on the way to a token. */
export type SignInCode =
  /** The authorization server's metadata cannot be used (RFC 8414). */
  | 'metadata_unusable'
  /** Credentials would travel in the clear. */
  | 'insecure_endpoint'
  /** The person said no. */
  | 'access_denied'
  /** The authorization server refused, by whatever other code (RFC 6749 §4.1.2.1, §5.2). */
  | 'sign_in_refused'
  /** Nobody signed in in time, or the code that was shown has run out. */
  | 'sign_in_timed_out'
  /** An answer came from another authorization server than the one that was asked (RFC 9207). */
  | 'wrong_issuer'
  /** The redirect cannot be listened for. */
  | 'port_unavailable'
  /** The authorization server has no such way to sign in. */
  | 'flow_not_offered'
  /** The token endpoint refused (RFC 6749 §5.2). */
  | 'token_refused'
  /** What an authorization server answered is nothing that OAuth knows. */
  | 'answer_unusable'
  /** The authorization server cannot answer now: 429 or 503. The one code that is no fault of credentials. */
  | 'server_unavailable'
  /** The grant is gone: expired, revoked, or used by somebody else. */
  | 'signed_out'

/** What a fault of signing in tells beside its message. */
export interface SignInErrorOptions extends ErrorOptions {
  /** Lines that say why. */
  readonly why?: readonly string[]
  /** What to do, with the exact command where there is one. */
  readonly hint?: string
}

/** Signing in, or staying signed in, failed: for the exit code a fault of credentials, but for `server_unavailable`. */
export class SignInError extends Error {
  override readonly name = 'SignInError'
  readonly code: SignInCode
  readonly why: readonly string[]
  readonly hint: string | undefined

  constructor(code: SignInCode, message: string, options: SignInErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.why = options.why ?? []
    this.hint = options.hint
  }
}
