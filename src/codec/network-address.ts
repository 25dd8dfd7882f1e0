import { BlockList, isIP } from 'node:net'

/** True for an address, or for a network in CIDR notation: `10.0.0.0/8`, `2001:db8::/32` (RFC 4632 §3.1). */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}

/** True for `localhost`, its subdomains (RFC 6761 §6.3) and the loopback addresses, as a URL writes its host name. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    /^(.+\.)?localhost\.?$/.test(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === '[::1]'
  )
}

/**
 * Returns a test of whether an address is in one of these networks; false for what is no address. An IPv4-mapped IPv6 address
 * (RFC 4291 §2.5.5.2) counts as IPv4.
 */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  // By family: a common list would match IPv4 addresses against ::/96.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    lists[family].addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return (address) => {
    const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
    const version = isIP(plain)
    if (version === 0) return false
    const family = version === 4 ? 'ipv4' : 'ipv6'
    return lists[family].check(plain, family)
  }
}
