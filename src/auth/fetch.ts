/** A request to an authorization server, as oauth4webapi makes it (its `CustomFetchOptions`). */
export interface FetchRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Carries such a request and gives the whole answer, a real `Response`, whatever its status; no redirect is followed.
 * Throws faults of the network as they are, and a SignInError on an answer that is no HTTP or too long to be OAuth's.
 */
export type Fetch = (url: string, request: FetchRequest) => Promise<Response>
