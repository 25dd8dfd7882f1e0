import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, type Server as NetServer, type Socket } from 'node:net'
import { networkOf } from '../http/limits.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/**
 * Timeouts of slow clients, in milliseconds. Node's defaults are 60 s, 300 s and a check every 30 s, with
 * which a few hundred idle sockets can block a server.
 */
export const slowClientTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/** HTTPS (TLS 1.2 and above, RFC 8996) if there is a certificate. */
export function createSocketServer(
  tls: TlsFiles | undefined,
  timeouts: typeof slowClientTimeouts,
  listener: RequestListener,
): Server {
  // Node would refuse a missing Host without problem details.
  const options = { ...timeouts, requireHostHeader: false }
  if (!tls) return createServer(options, listener)
  const handshakeTimeout = timeouts.headersTimeout
  return createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout }, listener)
}

/** A year, as browsers require (RFC 6797 §6.1). */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' } as const

/**
 * Returns the header that makes browsers always use https (RFC 6797), for a public https URL. Not for
 * addresses, which browsers ignore, nor for loopback, where it would affect other programs on the machine.
 */
export function strictTransportOf({
  publicUrl,
  tls,
}: {
  publicUrl: string | undefined
  tls?: TlsFiles | undefined
}): (host: string | undefined) => Readonly<Record<string, string>> {
  const headersAt = (url: string) => (isSecureHost(url) ? strictTransport : {})
  if (publicUrl !== undefined) {
    const always = headersAt(publicUrl)
    return () => always
  }
  return tls ? (host) => headersAt(`https://${host}`) : () => ({})
}

function isSecureHost(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const isName = isIP(hostname) === 0 && !hostname.startsWith('[')
  return protocol === 'https:' && isName && !/(^|\.)localhost\.?$/.test(hostname)
}

/** In total, and from one network. */
export interface ConnectionCap {
  readonly whole: number
  readonly each: number
}

/** A browser opens six, a program rarely more than a hundred. */
export const defaultCap: ConnectionCap = { whole: 1000, each: 250 }

/**
 * Refuses further connections of a network with its maximum, so that no client can block others. A trusted
 * proxy has many clients and may use the total.
 */
export function capConnections(
  server: NetServer,
  { whole, each }: ConnectionCap,
  isTrusted: (address: string) => boolean,
  refuse: (socket: Socket) => void,
): void {
  const open = new Map<string, number>()
  server.maxConnections = whole
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrusted(address)) return
    const network = networkOf(address)
    const count = (open.get(network) ?? 0) + 1
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
    if (count > each) refuse(socket)
  })
}
