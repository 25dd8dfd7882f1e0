import { createServer, type Socket } from 'node:net'
import { type Caller, type CallerOptions, createCaller } from '../../src/client/caller.ts'
import { createNetworkTransport } from '../../src/client/network.ts'
import type { Wait } from '../../src/client/retry.ts'
import { type ClosableTransport, createUndiciTransport, type UndiciOptions } from '../../src/client/undici.ts'
import type { Transport } from '../../src/contract/http.ts'
import { listen } from '../helpers/listen.ts'
import { answerOf } from '../helpers/web.ts'

export const origin = 'https://academy.example'

/** Both transports over the network, of the library and of the command line, which must behave alike. */
export const networks: readonly (readonly [string, (options?: UndiciOptions) => ClosableTransport])[] = [
  ['undici', createUndiciTransport],
  ["Node's own client", createNetworkTransport],
]

/** A caller that does not wait, and the waits that it asked for. */
export interface Trial {
  readonly caller: Caller
  readonly sleeps: number[]
  readonly waits: Wait[]
  close(): Promise<void>
}

/** Returns a transport whose successes are those of a server of this API. */
export function ownReplies(send: Transport): Transport {
  return async (request) => {
    const reply = await send(request)
    if (reply.status > 299) return reply
    const own = { 'preference-applied': 'handling=strict', 'x-request-id': 'req_0' }
    return { ...reply, headers: { ...own, ...reply.headers } }
  }
}

/** A caller of a server of this API over undici, or of another platform, with a key, a fixed clock and medium jitter. */
export function testCaller(options: Partial<CallerOptions> = {}, isOwn = true): Trial {
  const sleeps: number[] = []
  const waits: Wait[] = []
  const transport = createUndiciTransport()
  const caller = createCaller({
    baseUrl: origin,
    authorization: async () => 'Bearer lpk_secret',
    now: () => Date.parse('2026-01-31T09:30:00Z'),
    random: () => 0.5,
    sleep: async (ms) => {
      sleeps.push(ms)
    },
    onWait: (wait) => waits.push(wait),
    ...options,
    transport: isOwn ? ownReplies(options.transport ?? transport) : (options.transport ?? transport),
  })
  return { caller, sleeps, waits, close: () => transport.close() }
}

/** Reads the body of a response as text. */
export async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  let text = ''
  for await (const chunk of body ?? []) text += Buffer.from(chunk).toString('utf8')
  return text
}

/** A transport that returns these responses in turn and keeps the requests. */
export function scriptedTransport(...answers: readonly Response[]): {
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

/** A loopback server that calls `handle` for each connection after the head of its first request. */
export async function startSocketServer(handle: (socket: Socket, head: string) => void) {
  const heads: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      heads.push(chunk.toString('latin1'))
      handle(socket, chunk.toString('latin1'))
    })
  })
  return { heads, ...(await listen(server)) }
}
