import { isIP } from 'node:net'
import { addressGuard, type Reach } from '../../outgoing/address-guard.ts'

/** Rules on where messages may be sent. */
export interface Targets {
  /** Returns why a URL is forbidden for any address of its host; undefined if that depends on the address. */
  refusalOf(url: URL): string | undefined
  /** Returns why an address of a host is forbidden; undefined if it is allowed. */
  refusalAt(protocol: string, hostname: string, address: string): string | undefined
  /** True for a host that is allowed at any address. */
  isNamed(hostname: string): boolean
}

const publicAlone = addressGuard({ loopback: false })

/** Returns the rules for a reach; public targets require https. */
export function targetsOf(reach: Reach): Targets {
  const guard = addressGuard(reach)

  function refusalAt(protocol: string, hostname: string, address: string): string | undefined {
    if (guard.allowsHost(hostname)) return undefined
    if (!guard.allowsAddress(address)) return `${address} is not a public address`
    const isOwn = !publicAlone.allowsAddress(address)
    return protocol === 'https:' || isOwn ? undefined : `${hostname} requires https`
  }

  return {
    refusalOf({ protocol, hostname }) {
      if (!/^https?:$/.test(protocol)) return `${protocol} is not supported`
      const address = addressIn(hostname)
      return address === undefined ? undefined : refusalAt(protocol, hostname, address)
    },
    refusalAt,
    isNamed: guard.allowsHost,
  }
}

/** Returns the IP address in a URL's hostname, without the brackets of IPv6; undefined for a name. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}
