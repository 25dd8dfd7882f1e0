/** A request as oauth4webapi makes it (its `CustomFetchOptions`). */
export interface OAuthRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | undefined
}

/**
 * Carries a request to an authorization server and gives the whole answer, a real `Response`, whatever its status; no
 * redirect is followed. It rejects where there is no answer.
 */
export type OAuthFetch = (url: string, request: OAuthRequest) => Promise<Response>
