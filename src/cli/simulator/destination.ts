import { assertConfidential, isLoopback, normaliseBaseUrl } from '../../client/base-url.ts'
import type { HttpHeaders, HttpRequest, Transport } from '../../contract/http.ts'
import type { LmsKind } from '../../contract/integration-choices.ts'
import type { SignedDelivery } from '../../webhooks/delivery.ts'
import type { Context } from '../command/context.ts'

/** Where simulated deliveries go. */
export interface Destination {
  readonly url: string
  /** False for an academy in this process, and a server on this machine. */
  readonly isElsewhere: boolean
  readonly transport: () => Promise<Transport>
}

/**
 * The webhook address at `--to`, which may be a base URL or the whole address, or of the profile's platform or academy. Throws
 * RequestError on what is no such URL, and on plain http to another machine.
 *
 * @param served the base URL at which a local academy is told to be (default the one that its server has)
 */
export function destinationOf(
  { session, settings }: Pick<Context, 'session' | 'settings'>,
  kind: LmsKind,
  to: string | undefined,
  served = 'http://127.0.0.1:4700',
): Destination {
  const path = `/webhooks/${kind}/grades`
  const target = to === undefined ? session.target() : null
  if (target?.kind === 'local') {
    const url = served + path
    return { url, isElsewhere: false, transport: async () => (await session.open()).transport }
  }
  const base = normaliseBaseUrl(target?.url ?? to ?? '')
  const url = base.endsWith(path) ? base : base + path
  if (!settings.insecureHttp.value) assertConfidential(url)
  return { url, isElsewhere: !isLoopback(url), transport: async () => session.network }
}

/** The request that a delivery is. */
export function requestOf(url: string, { headers, query, body }: SignedDelivery): HttpRequest {
  const search = new URLSearchParams(query).toString()
  const sent: HttpHeaders = { accept: 'application/json', ...headers }
  return { method: 'POST', url: search === '' ? url : `${url}?${search}`, headers: sent, body }
}
