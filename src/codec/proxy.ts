import { BlockList, isIP } from 'node:net'
import { unescape as percentDecoded } from 'node:querystring'
import { isLoopbackHost, isNetwork } from './network-address.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface HttpProxy {
  /** Its URL without user name and password, such as `http://proxy.example:3128`. */
  readonly url: string
  /** Host name and port, for messages. */
  readonly host: string
  /** Value of Proxy-Authorization (RFC 7617); undefined without credentials. */
  readonly authorization: string | undefined
  readonly variable: string
}

/** Null to connect directly. Throws ProxySettingError. */
export type FindProxy = (url: URL) => HttpProxy | null

export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError'
}

const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']

/** Follows curl, but loopback addresses never go through a proxy: credentials may be sent to them unencrypted. */
export function readProxies(env: Environment): FindProxy {
  const proxies = new Map<string, HttpProxy | null>()
  const noProxy = settingOf(env, 'NO_PROXY')?.[1] ?? ''
  const exceptions = noProxy.split(/[\s,]+/).flatMap((entry) => (entry === '' ? [] : exceptionIn(entry)))

  function proxyFor(protocol: string): HttpProxy | null {
    const found =
      settingOf(env, protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? settingOf(env, 'ALL_PROXY')
    const proxy = found ? parseProxy(...found) : null
    proxies.set(protocol, proxy)
    return proxy
  }

  return (url) => {
    const { protocol, hostname } = url
    const port = Number(url.port) || (protocol === 'https:' ? 443 : 80)
    const host = normaliseHost(hostname)
    if (isLoopbackHost(hostname) || exceptions.some((matches) => matches(host, port))) return null
    const proxy = proxies.get(protocol)
    return proxy === undefined ? proxyFor(protocol) : proxy
  }
}

export function hasProxy(env: Environment): boolean {
  return proxyVariables.some((name) => settingOf(env, name))
}

export function listProxies(env: Environment): (HttpProxy | ProxySettingError)[] {
  return proxyVariables.flatMap((name) => {
    const setting = settingOf(env, name)
    if (!setting) return []
    try {
      return parseProxy(...setting)
    } catch (error) {
      if (error instanceof ProxySettingError) return error
      throw error
    }
  })
}

/** Parses the value of a variable; `host:port` means http. The value itself is in no message: it may hold a password. */
function parseProxy(variable: string, value: string): HttpProxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url?.hostname || !/^[\w.:[\]-]+$/.test(url.host)) {
    throw new ProxySettingError(`${variable} must be the URL of a proxy, such as http://proxy.example:3128`)
  }
  const { protocol, origin, host, username, password } = url
  if (!/^https?:$/.test(protocol)) {
    throw new ProxySettingError(
      `${variable} must be the URL of an http or https proxy; ${protocol.slice(0, -1)} proxies are not supported`,
    )
  }
  // Percent-decoded; a password with a bare % is taken as it is.
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return { url: origin, host, variable, authorization: credentials === ':' ? undefined : authorization }
}

/** An empty variable counts as not set. */
function settingOf(env: Environment, name: string): [string, string] | undefined {
  for (const each of [name.toLowerCase(), name]) {
    const value = env[each]?.trim()
    if (value) return [each, value]
  }
  return undefined
}

type Matches = (host: string, port: number) => boolean

/** `*`, an address, a network, a host with its subdomains, or `*.host` for these alone; all but a network may have a port. */
function exceptionIn(entry: string): Matches {
  if (entry.includes('/') && isNetwork(entry)) {
    const [address = '', prefix] = entry.split('/')
    const network = new BlockList()
    network.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6')
    return (host) => isIP(host) !== 0 && network.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6')
  }
  // A bare IPv6 address has more than one colon.
  const [, withPort, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  const name = normaliseHost(withPort ?? entry)
  const matchesPort = (given: number) => port === undefined || given === Number(port)
  if (name === '*') return (_, given) => matchesPort(given)
  const isWildcard = name.startsWith('*.')
  const suffix = name.replace(/^\*?\./, '')
  return (host, given) =>
    matchesPort(given) &&
    ((host === suffix && !isWildcard) || (isIP(host) === 0 && host.endsWith(`.${suffix}`)))
}

/** Lower case, without the brackets of IPv6 and the dot of the root. */
function normaliseHost(hostname: string): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  // A URL writes each IPv6 address in one form; NO_PROXY may have another.
  const isIpv6 = isIP(host) === 6
  return isIpv6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.replace(/(?<=.)\.$/, '')
}
