/** True for `localhost`, its subdomains (RFC 6761 §6.3) and the loopback addresses, as a URL writes its host name. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    /^(.+\.)?localhost\.?$/.test(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === '[::1]'
  )
}
