import type { HttpBody, Transport } from '../../contract/http.ts'
import type { Transports } from './session.ts'

export function watchReplies(transports: Transports, onReply: (text: string) => void): Transports {
  return {
    ...transports,
    local: async (options) => {
      const opened = await transports.local(options)
      return { ...opened, transport: watchTransport(opened.transport, onReply) }
    },
    remote: async (io) => {
      const transport = await transports.remote(io)
      return Object.assign(watchTransport(transport, onReply), { close: () => transport.close() })
    },
  }
}

const maxWatchedBytes = 256 * 1024

function watchTransport(transport: Transport, onReply: (text: string) => void): Transport {
  return async (request) => {
    // A compressed body could not be read here.
    const reply = await transport({
      ...request,
      headers: { ...request.headers, 'accept-encoding': 'identity' },
    })
    const { body, headers } = reply
    if (body === null || !/json/.test(headers['content-type'] ?? '')) return reply
    return { ...reply, body: watchBody(body, onReply) }
  }
}

function watchBody(body: HttpBody, onReply: (text: string) => void): HttpBody {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    if (body.length <= maxWatchedBytes) onReply(textOf(body))
    return body
  }
  return watchPieces(body, onReply)
}

async function* watchPieces(
  pieces: AsyncIterable<string | Uint8Array>,
  onReply: (text: string) => void,
): AsyncGenerator<string | Uint8Array> {
  const kept: (string | Uint8Array)[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size <= maxWatchedBytes) kept.push(piece)
    else kept.length = 0
    yield piece
  }
  if (size > maxWatchedBytes) return
  onReply(Buffer.concat(kept.map((piece) => Buffer.from(piece))).toString('utf8'))
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
}
