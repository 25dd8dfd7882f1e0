/**
 * Header values by name in lower case; what came in several lines is one value, joined by ", " (RFC 9110 §5.3),
 * cookies by "; ".
 */
export type HttpHeaders = Readonly<Record<string, string>>

/** A body as it is at hand: text (sent as UTF-8), bytes, or pieces that are still to come. */
export type HttpBody = string | Uint8Array | AsyncIterable<string | Uint8Array>

/** One HTTP request, as data. */
export interface HttpRequest {
  readonly method: string
  /** Absolute, with the query. */
  readonly url: string
  readonly headers: HttpHeaders
  readonly body?: HttpBody
  readonly signal?: AbortSignal
  /** Where it came from, as far as its carrier knows: an IP address. */
  readonly address?: string
}

/** One HTTP response, as data. */
export interface HttpResponse {
  readonly status: number
  readonly headers: HttpHeaders
  /** Null where there is none. A stream has to be read to its end, or left by `break`. */
  readonly body: HttpBody | null
}

/**
 * One HTTP exchange, whoever carries it: a socket, or a call. It gives the response as soon as its head is there and
 * never follows a redirect. A client's transport throws ConnectionError, TimeoutError or ProtocolError on faults of the
 * wire, and an aborted signal's reason as it is; a server's answers whatever comes.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>
