import { isIP } from 'node:net'

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
