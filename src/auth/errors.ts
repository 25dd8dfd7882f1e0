export type SignInCode =
  /** The authorization server's metadata is unusable (RFC 8414). */
  | 'metadata_unusable'
  /** Credentials would be sent unencrypted. */
  | 'insecure_endpoint'
  | 'access_denied'
  /** The authorization server refused with another code (RFC 6749 §4.1.2.1, §5.2). */
  | 'sign_in_refused'
  /** Includes an expired code. */
  | 'sign_in_timed_out'
  /** The response is from another authorization server (RFC 9207). */
  | 'wrong_issuer'
  /** The listener for the redirect cannot be started. */
  | 'port_unavailable'
  | 'flow_not_offered'
  /** The token endpoint refused (RFC 6749 §5.2). */
  | 'token_refused'
  /** The response does not conform to OAuth. */
  | 'answer_unusable'
  /** 429 or 503. All other codes mean wrong credentials. */
  | 'server_unavailable'
  /** The grant has ended: expired, revoked, or used by another process. */
  | 'signed_out'

interface SignInErrorOptions extends ErrorOptions {
  readonly why?: readonly string[]
  readonly hint?: string
}

/** A failed sign-in or refresh. Exits as wrong credentials do, except `server_unavailable`. */
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
