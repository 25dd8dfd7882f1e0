import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { networkTest } from '../../codec/network-address.ts'

export type ClientAddress = (peer: string, headers: IncomingHttpHeaders) => string

/**
 * Creates a function that finds the client address behind trusted proxies, each an address or a network.
 * Reads the forwarding headers from the right: the first address that is not a proxy is the client. If
 * Forwarded (RFC 7239) and X-Forwarded-For contradict each other, the client may have written one of them;
 * then, and if the last proxy names no address, returns the proxy's own.
 */
export function clientAddressOf(proxies: readonly string[]): ClientAddress {
  if (proxies.length === 0) return (peer) => peer
  const isTrusted = networkTest(proxies)

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

/** The last known one if a proxy named none. */
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

/** RFC 7239 §4; null for an element that is not an address. */
function forwardedFor(header: string): (string | null)[] {
  return header.split(',').map((element) => {
    const pair = element.split(';').find((one) => /^\s*for=/i.test(one))
    return addressIn(pair?.slice(pair.indexOf('=') + 1).replaceAll('"', '') ?? '')
  })
}

/** Without its port (RFC 7239 §6); null for `unknown` and obfuscated names. */
function addressIn(node: string): string | null {
  const text = node.trim().toLowerCase()
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1')
  return isIP(bare) === 0 ? null : bare
}
