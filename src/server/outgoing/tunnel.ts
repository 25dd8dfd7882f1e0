import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { isLoopbackHost } from '../../codec/network-address.ts'
import type { HttpProxy } from '../../codec/proxy.ts'

/** The message is a clause in lower case and contains no secret. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError'
}

interface TunnelEnd {
  /** Without the brackets of IPv6. */
  readonly host: string
  readonly port: number
  /** Allowed at any address. */
  readonly isNamed: boolean
  /** Finds allowed addresses only. */
  readonly lookup: LookupFunction
}

/**
 * Opens a tunnel through a proxy; null if the host resolves to loopback, which the proxy would take for itself. The proxy
 * gets the checked address, because it could resolve the name differently; it resolves hosts allowed by name itself.
 * Throws TunnelError, errors of the lookup, and the reason of an aborted signal.
 */
export async function openTunnel(
  proxy: HttpProxy,
  end: TunnelEnd,
  signal: AbortSignal,
): Promise<Socket | null> {
  const { host, port, isNamed, lookup } = end
  const address = isNamed || isIP(host) !== 0 ? host : await addressOf(host, lookup)
  return isLoopbackHost(address.includes(':') ? `[${address}]` : address)
    ? null
    : connectThrough(proxy, address, port, signal)
}

function addressOf(host: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: false }, (error, address) => (error ? reject(error) : resolve(String(address))))
  })
}

/** RFC 9110 §9.3.6. */
function connectThrough(proxy: HttpProxy, host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const send = proxy.url.startsWith('https:') ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const connect = send(proxy.url, {
    method: 'CONNECT',
    path: authority,
    agent: false,
    signal,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
  })
  connect.on('connect', ({ statusCode }, socket, head) => {
    // Data before the first request is not from the target.
    if (statusCode === 200 && head.length === 0) return resolve(socket as Socket)
    socket.destroy()
    return reject(
      new TunnelError(
        `the proxy ${proxy.host} refused to connect to ${authority}: it returned ${statusCode}`,
      ),
    )
  })
  connect.on('error', (error: NodeJS.ErrnoException) => {
    const reason = new TunnelError(`cannot connect to the proxy ${proxy.host}: ${error.code}`, {
      cause: error,
    })
    reject(signal.aborted ? signal.reason : reason)
  })
  connect.end()
  return promise
}
