import { isIP } from 'node:net'
import { addressGuard, type Reach } from '../../outgoing/address-guard.ts'

/** Tells what may be connected to. */
export interface Targets {
  /** Why nothing is sent there, whatever its host resolves to; undefined where that depends on the address. */
  refusalOf(url: URL): string | undefined
  /** Why this address of a host is not connected to; undefined where it may be. */
  refusalAt(protocol: string, hostname: string, address: string): string | undefined
  /** True for a host that is allowed at any address. */
  isNamed(hostname: string): boolean
}

const publicAlone = addressGuard({ loopback: false })

/** The rules for whoever has this reach: what is public is sent to by https alone. */
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

/** The address that a host of a URL is, as a URL has it: in brackets for IPv6, and an IPv4 address of any form in four parts. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? undefined : bare
}
