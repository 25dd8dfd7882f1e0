/** A request to an authorization server, as oauth4webapi makes it (its `CustomFetchOptions`). */
export interface FetchRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request to an authorization server and returns a complete `Response` of any status; follows no
 * redirect. Throws network errors unchanged, and a SignInError on a response that is not HTTP or too long for
 * OAuth.
 */
export type Fetch = (url: string, request: FetchRequest) => Promise<Response>
