/** Header values by lower-case name. Repeated headers are joined with ", " (RFC 9110 §5.3), cookies with "; ". */
export type HttpHeaders = Readonly<Record<string, string>>

/** A body: text (sent as UTF-8), bytes, or a stream of either. */
export type HttpBody = string | Uint8Array | AsyncIterable<string | Uint8Array>

export interface HttpRequest {
  readonly method: string
  /** Absolute, with the query. */
  readonly url: string
  readonly headers: HttpHeaders
  readonly body?: HttpBody
  readonly signal?: AbortSignal
  /** IP address of the sender, if known. */
  readonly address?: string
}

export interface HttpResponse {
  readonly status: number
  readonly headers: HttpHeaders
  /** Null if there is none. A stream must be read to its end, or left with `break`. */
  readonly body: HttpBody | null
}

/**
 * Performs one HTTP exchange, over the network or as a function call. It resolves as soon as the response headers are
 * known, and never follows redirects. A client's transport throws ConnectionError, TimeoutError or ProtocolError, or
 * the reason of an aborted signal; a server's transport always returns a response.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>
