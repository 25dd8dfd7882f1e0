import { createServer, type Socket } from 'node:net'
import { type Caller, type CallerOptions, createCaller } from '../../src/client/caller.ts'
import { createNetworkTransport } from '../../src/client/network.ts'
import type { Wait } from '../../src/client/retry.ts'
import { type ClosableTransport, createUndiciTransport, type UndiciOptions } from '../../src/client/undici.ts'
import type { Transport } from '../../src/contract/http.ts'
import { answerOf } from '../helpers/web.ts'

export const origin = 'https://academy.example'

/** The two ways over the network: of the library, and of the command line. They must not be told apart. */
export const networks: readonly (readonly [string, (options?: UndiciOptions) => ClosableTransport])[] = [
  ['undici', createUndiciTransport],
  ["Node's own client", createNetworkTransport],
]

/** A caller that waits for nothing and remembers what it would have waited. */
export interface Trial {
  readonly caller: Caller
  readonly sleeps: number[]
  readonly waits: Wait[]
  close(): Promise<void>
}

/** A caller over undici with a key, a clock that stands still and jitter at its middle. */
export function trial(options: Partial<CallerOptions> = {}): Trial {
  const sleeps: number[] = []
  const waits: Wait[] = []
  const transport = createUndiciTransport()
  const caller = createCaller({
    baseUrl: origin,
    transport,
    authorization: async () => 'Bearer lpk_secret',
    now: () => Date.parse('2026-01-31T09:30:00Z'),
    random: () => 0.5,
    sleep: async (ms) => {
      sleeps.push(ms)
    },
    onWait: (wait) => waits.push(wait),
    ...options,
  })
  return { caller, sleeps, waits, close: () => transport.close() }
}

/** The body of a reply as text. */
export async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  let text = ''
  for await (const chunk of body ?? []) text += Buffer.from(chunk).toString('utf8')
  return text
}

/** A transport that answers from a list of replies and remembers the requests. */
export function scripted(...answers: readonly Response[]): {
  transport: Transport
  requests: Parameters<Transport>[0][]
} {
  const requests: Parameters<Transport>[0][] = []
  const left = [...answers]
  const transport: Transport = async (request) => {
    requests.push(request)
    const answer = left.shift()
    if (answer === undefined) throw new Error(`nothing answers ${request.method} ${request.url}`)
    return answerOf(answer)
  }
  return { transport, requests }
}

/** A loopback server that treats each connection as `handle` does, once the head of its first request is there. */
export async function startSocketServer(
  handle: (socket: Socket, head: string) => void,
): Promise<{ url: string; heads: string[]; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const heads: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      heads.push(chunk.toString('latin1'))
      handle(socket, chunk.toString('latin1'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    heads,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
