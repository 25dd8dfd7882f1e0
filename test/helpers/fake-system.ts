import { createServer } from 'node:http'
import type { Outgoing } from '../../src/server/outgoing/outgoing.ts'
import { listen } from './listen.ts'

/** A request to a system that stands in for another one. */
export interface FakeRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Its response. */
export interface FakeResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** Sends only so many bytes of the body, and breaks off the connection. */
  readonly breaksAfter?: number
}

/** A system that stands in for another one. */
export type FakeSystem = (request: FakeRequest) => FakeResponse | Promise<FakeResponse>

/** Returns a response with a value as JSON. */
export function json(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): FakeResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  }
}

/** Sends requests to a host to a system in this process, and others to the network. */
export function outgoingTo(host: string, system: FakeSystem, others: Outgoing): Outgoing {
  return async (request) => {
    const url = new URL(request.url)
    if (url.host !== host) return others(request)
    const { method, headers, body = '' } = request
    const answer = await system({ method, url, headers, body })
    return {
      status: answer.status,
      headers: answer.headers ?? {},
      body: Buffer.from(answer.body),
      isCut: false,
    }
  }
}

/** Serves a system on loopback. */
export async function serveFake(system: FakeSystem): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    const answer = await system({ method: request.method ?? 'GET', url, headers: request.headers, body })
    const headers = { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)) }
    response.writeHead(answer.status, headers)
    if (answer.breaksAfter === undefined) response.end(answer.body)
    else response.write(answer.body.slice(0, answer.breaksAfter), () => response.destroy())
  })
  return listen(server)
}
