import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SelfSigned } from './certificate.ts'
import { urlWith } from './postgres.ts'

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** What stands before a PostgreSQL server. */
export interface PostgresFront extends AsyncDisposable {
  /** The same database, through here. */
  readonly url: string
  /** Called with what the client says and what the server answers; `cut` ends both sides at once. */
  onClient: (text: string, cut: () => void) => void
  onServer: (text: string, cut: () => void) => void
  /** True to pass on nothing, as a network does that has lost a cable. */
  isSilent: boolean
  /** How many connections have come. */
  readonly connections: () => number
  /** True once a client spoke TLS. */
  readonly wasEncrypted: () => boolean
}

/**
 * Passes connections on to the server of this URL, on a port of its own; with a certificate it speaks TLS, as PostgreSQL
 * does, where the client asks for it, and `only` then: any other connection is cut.
 */
export async function postgresFront(
  url: string,
  { tls, only = false, host = '127.0.0.1' }: { tls?: SelfSigned; only?: boolean; host?: string } = {},
): Promise<PostgresFront> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  let connections = 0
  let wasEncrypted = false
  const server = createServer((client) => {
    connections += 1
    const upstream = connect(Number(port), hostname)
    const cut = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', cut).on('close', cut)
    }
    const pass = (socket: Socket) => {
      socket.on('error', cut)
      socket.on('data', (chunk: Buffer) => {
        front.onClient(chunk.toString('latin1'), cut)
        if (!upstream.destroyed && !front.isSilent) upstream.write(chunk)
      })
      upstream.on('data', (chunk: Buffer) => {
        front.onServer(chunk.toString('latin1'), cut)
        if (!socket.destroyed) socket.write(chunk)
      })
    }
    client.once('data', (first: Buffer) => {
      if (!first.equals(sslRequest)) {
        if (only) return cut()
        pass(client)
        client.emit('data', first)
        return
      }
      client.write(tls ? 'S' : 'N')
      if (!tls) return pass(client)
      wasEncrypted = true
      pass(new TLSSocket(client, { isServer: true, ...tls }))
    })
  })
  await once(server.listen(0, host), 'listening')
  // A server that listens on a host and port has an address object.
  const own = (server.address() as AddressInfo).port
  const front: PostgresFront = {
    url: urlWith(url, { host: `${host === '127.0.0.1' ? 'localhost' : host}:${own}` }),
    onClient: () => undefined,
    onServer: () => undefined,
    isSilent: false,
    connections: () => connections,
    wasEncrypted: () => wasEncrypted,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return front
}
