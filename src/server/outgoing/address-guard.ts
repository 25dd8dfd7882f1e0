import { BlockList, isIP } from 'node:net'
import { isNetwork } from '../../codec/network-address.ts'

/**
 * Addresses that are no public host's: this machine, private networks, and what is kept for special purposes (IANA IPv4 and
 * IPv6 Special-Purpose Address Registries, RFC 6890).
 */
const special = networks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // What is not global unicast (RFC 4291 §2.4), and parts of that which lead to other addresses or nowhere.
  ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
const loopback = networks(['127.0.0.0/8', '::1/128'])

/** Where a server may connect to on behalf of its users. */
export interface Reach {
  /** Hosts, addresses and networks besides the public ones. */
  readonly allow?: readonly string[] | undefined
  /** True where this machine may be reached as well: the server itself can be reached from nowhere else. */
  readonly loopback: boolean
  /** Variables that name proxies to connect through; none unless given. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** Tells where connections may lead. */
export interface AddressGuard {
  /** True for an address that may be connected to, whatever name led there. */
  readonly allowsAddress: (address: string) => boolean
  /** True for a host of any address, because it was named. */
  readonly allowsHost: (host: string) => boolean
}

/** A guard that lets through public addresses, and those that it is told of. */
export function addressGuard({ allow = [], loopback: hasLoopback }: Reach): AddressGuard {
  const named = networks(allow.filter(isNetwork))
  const hosts = new Set(allow.filter((each) => !isNetwork(each)).map((host) => host.toLowerCase()))
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress(address) {
      const plain = plainAddress(address)
      return contains(named, plain) || (hasLoopback && contains(loopback, plain)) || !contains(special, plain)
    },
  }
}

/** An IPv4 address that is written as an IPv6 one (RFC 4291 §2.5.5.2) as what it is. */
function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}

/** Networks, those of each family apart: a list of both takes an IPv4 address for one in ::/96, too. */
interface Networks {
  readonly ipv4: BlockList
  readonly ipv6: BlockList
}

function contains(networks: Networks, address: string): boolean {
  const version = isIP(address)
  // What is no address is nowhere that one could connect to.
  if (version === 0) return networks === special
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return networks[family].check(address, family)
}

function networks(all: readonly string[]): Networks {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of all) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    lists[family].addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return lists
}
