import { isIP } from 'node:net'
import { isNetwork, networkTest } from '../../codec/network-address.ts'

/**
 * Addresses that are not public: this machine, private networks and special purposes (IANA IPv4 and IPv6 Special-Purpose
 * Address Registries, RFC 6890).
 */
const isSpecial = networkTest([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Not global unicast (RFC 4291 §2.4), and its ranges for tunnels, documentation and protocols.
  ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
const isLoopback = networkTest(['127.0.0.0/8', '::1/128'])

export interface Reach {
  readonly allow?: readonly string[] | undefined
  /** The server itself listens on loopback only. */
  readonly loopback: boolean
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

export interface AddressGuard {
  readonly allowsAddress: (address: string) => boolean
  /** The host was allowed by name, at any address. */
  readonly allowsHost: (host: string) => boolean
}

export function createAddressGuard({ allow = [], loopback: hasLoopback }: Reach): AddressGuard {
  const isNamed = networkTest(allow.filter(isNetwork))
  const hosts = new Set(allow.filter((each) => !isNetwork(each)).map((host) => host.toLowerCase()))
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress(address) {
      if (isNamed(address) || (hasLoopback && isLoopback(address))) return true
      return isIP(address) !== 0 && !isSpecial(address)
    },
  }
}
