import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogEntry } from '../http/log.ts'
import type { Reply } from '../http/reply.ts'

// While the socket takes some pieces, the next ones are made.
const piecesAhead = 2

interface NodeEnvironment {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** The address that a request came from. */
export function addressOf(env: unknown): string {
  return (env as NodeEnvironment).incoming.socket.remoteAddress ?? 'unknown'
}

/** Makes the web Response of a reply; a stream that fails half-way breaks its connection and is logged. */
export function webResponse(log: (entry: LogEntry) => void): (reply: Reply, env: unknown) => Response {
  return ({ status, headers, body }, env) => {
    const content =
      body === null || typeof body === 'string' ? body : streamOf(body, env as NodeEnvironment, log)
    return new Response(content, { status, headers })
  }
}

function streamOf(
  pieces: AsyncIterable<string>,
  { incoming, outgoing }: NodeEnvironment,
  log: (entry: LogEntry) => void,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const startedMs = performance.now()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next()
          if (done) controller.close()
          else controller.enqueue(Buffer.from(value))
        } catch (cause) {
          log({
            time: new Date().toISOString(),
            requestId: String(outgoing.getHeader('x-request-id') ?? ''),
            method: incoming.method ?? '',
            path: incoming.url?.split('?', 1)[0] ?? '',
            status: 500,
            durationMs: performance.now() - startedMs,
            code: 'stream_broken',
            cause,
          })
          // A clean end would make the part that went out look whole.
          outgoing.destroy()
          controller.close()
        }
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: piecesAhead },
  )
}
