import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Tells which address a request comes from. */
export type ClientAddress = (peer: string, headers: IncomingHttpHeaders) => string

/**
 * The address of a client behind these proxies, each an address or a network. What a request says of the way that it
 * came is believed as far as proxies told it: from the right, the first address that is no proxy's. Where Forwarded
 * (RFC 7239) and X-Forwarded-For tell of two clients, the client itself wrote one of them, and nobody can tell which:
 * then, and where the last proxy names no address, it is the proxy's own.
 */
export function clientAddressOf(proxies: readonly string[]): ClientAddress {
  if (proxies.length === 0) return (peer) => peer
  const isTrusted = trustedAmong(proxies)

  return (peer, { forwarded, 'x-forwarded-for': xForwardedFor }) => {
    if (!isTrusted(peer)) return peer
    const lists = [
      ...(forwarded === undefined ? [] : [forwardedFor(forwarded)]),
      ...(xForwardedFor === undefined ? [] : [[xForwardedFor].flat().join(',').split(',').map(addressIn)]),
    ]
    const [client = peer, other = client] = lists.map((list) => clientIn(list, peer, isTrusted))
    return client === other ? client : peer
  }
}

/** Tells whether an address is one of these proxies, each an address or a network. */
export function trustedAmong(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    trusted.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return (address) => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** The last address before the proxies; where one of them named none, the last that is known. */
function clientIn(
  way: readonly (string | null)[],
  peer: string,
  isTrusted: (address: string) => boolean,
): string {
  let known = peer
  for (const address of way.toReversed()) {
    if (address === null) return known
    known = address
    if (!isTrusted(address)) return known
  }
  return known
}

/** What each element of Forwarded names after `for=` (RFC 7239 §4); null where it names no address. */
function forwardedFor(header: string): (string | null)[] {
  return header.split(',').map((element) => {
    const pair = element.split(';').find((one) => /^\s*for=/i.test(one))
    return addressIn(pair?.slice(pair.indexOf('=') + 1).replaceAll('"', '') ?? '')
  })
}

/** The address of a node, which may have a port (RFC 7239 §6); null for `unknown` and names that stand for one. */
function addressIn(node: string): string | null {
  const text = node.trim().toLowerCase()
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1')
  return isIP(bare) === 0 ? null : bare
}
