import { BlockList, isIP } from 'node:net'

/** To which addresses events are sent besides public ones by https. */
export interface AllowedTargets {
  /** Host names, addresses and networks in CIDR notation, to which http is allowed, too. */
  readonly allow: readonly string[]
  /** True to send to the loopback, by http, too. */
  readonly loopback: boolean
}

/** Tells what may be connected to. */
export interface Targets {
  /** Why nothing is sent there, whatever its host resolves to; undefined where that depends on the address. */
  refusalOf(url: URL): string | undefined
  /** Why this address of a host is not connected to; undefined where it may be. */
  refusalAt(protocol: string, hostname: string, address: string): string | undefined
}

/** What is no public address of IPv4 (IANA IPv4 Special-Purpose Address Registry, and multicast). */
const specialNetworks = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/** All that is global unicast of IPv6 (RFC 4291 §2.4), of which the next ones are no public addresses either. */
const globalUnicast = ['2000::/3']
/** Protocol assignments with Teredo, documentation, and 6to4, in which any IPv4 address can be. */
const specialUnicast = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const special = listOf([...specialNetworks, ...specialUnicast])
const unicast = listOf(globalUnicast)
const loopback = listOf(['127.0.0.0/8', '::1'])

/** The rules for whoever may send to these targets. */
export function targetsOf({ allow, loopback: takesLoopback }: AllowedTargets): Targets {
  const networks = listOf(allow.filter((text) => isIP(text.split('/')[0] ?? '') !== 0))
  const hosts = new Set(allow.map((host) => host.toLowerCase()))

  const isAllowed = (hostname: string, address: string) =>
    hosts.has(hostname.toLowerCase()) || has(networks, address) || (takesLoopback && has(loopback, address))

  return {
    refusalOf(url) {
      if (!/^https?:$/.test(url.protocol)) return `${url.protocol} is not supported`
      const address = addressIn(url.hostname)
      return address === undefined ? undefined : this.refusalAt(url.protocol, url.hostname, address)
    },

    refusalAt(protocol, hostname, address) {
      if (isAllowed(hostname, address)) return undefined
      if (!isPublic(address)) return `${address} is not a public address`
      return protocol === 'https:' ? undefined : `${hostname} requires https`
    },
  }
}

/** The address that a host of a URL is, as a URL has it: in brackets for IPv6, and an IPv4 address of any form in four parts. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}

function isPublic(address: string): boolean {
  if (has(special, address)) return false
  return isIP(address) === 4 || has(unicast, address)
}

function has(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return list
}
