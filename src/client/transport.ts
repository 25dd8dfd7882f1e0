/** One HTTP request as data. */
export interface Exchange {
  readonly method: string
  /** Absolute, with the query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** What came back; the web's Response has this shape, and so has what an academy in this process answers. */
export interface Reply {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

/**
 * Carries one request and gives the reply as soon as its head is there; never follows a redirect. Faults of the wire
 * are thrown as ConnectionError, TimeoutError or ProtocolError; an aborted signal's reason is thrown as it is.
 */
export type Transport = (request: Exchange) => Promise<Reply>
