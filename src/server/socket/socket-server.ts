import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP } from 'node:net'

/** A certificate with its chain, and its key, both PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/**
 * How long slow clients are waited for, in milliseconds. Node's own are 60 s, 300 s and a check every 30 s: enough for a
 * few hundred idle sockets to hold a server.
 */
export const slowClientTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/** What answers HTTP on a port, or HTTPS (TLS 1.2 and above, RFC 8996) where there is a certificate. */
export function createSocketServer(
  tls: TlsFiles | undefined,
  timeouts: typeof slowClientTimeouts,
  listener: RequestListener,
): Server {
  // Node would answer a missing Host by itself, without problem details.
  const options = { ...timeouts, requireHostHeader: false }
  if (!tls) return createServer(options, listener)
  const handshakeTimeout = timeouts.headersTimeout
  return createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout }, listener)
}

/** One year, as browsers want it (RFC 6797 §6.1). */
const strictTransport = { 'strict-transport-security': 'max-age=31536000' } as const

/**
 * What tells browsers that this host is always https (RFC 6797); nothing where it is not. An address is no host to
 * them, and on the loopback the promise would hold for all other programs of the machine.
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
