import { ProxySettingError, readProxies } from '../../codec/proxy.ts'
import type { Reach } from './address-guard.ts'
import {
  openGuardedClient,
  RefusedTarget,
  type Resolve,
  readBeginning,
  TunnelError,
  targetsOf,
} from './guarded-client.ts'

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** From the DNS lookup to the last byte. */
  readonly timeoutMs: number
  /** Longer responses are cut. */
  readonly maximumBytes: number
  readonly signal?: AbortSignal
}

/** Redirects are not followed. */
export interface OutgoingResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  readonly isCut: boolean
}

export type OutgoingTrouble =
  | 'forbidden_address'
  | 'unencrypted'
  | 'timeout'
  | 'not_found'
  | 'unreachable'
  | 'tls'
  | 'broken'

/** There was no response. The message is a clause in lower case and contains no secret. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly trouble: OutgoingTrouble

  constructor(trouble: OutgoingTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.trouble = trouble
  }
}

export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingResponse>

/**
 * Returns a function that sends requests within a reach. Each has a connection of its own, whose address is checked.
 *
 * @param resolve resolves hosts; default: the system's
 */
export function createOutgoing(reach: Reach, resolve?: Resolve): Outgoing {
  const client = openGuardedClient(targetsOf(reach), 0, readProxies(reach.env ?? {}), resolve)
  return async ({ method, url, headers, body, timeoutMs, maximumBytes, signal }) => {
    const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
    try {
      const answer = await client.send(url, {
        method,
        headers: { 'accept-encoding': 'identity', 'user-agent': 'learnctl', ...headers },
        ...(body !== undefined && { body }),
        signal: ended,
      })
      const { bytes, isCut, fault } = await readBeginning(answer.body, maximumBytes)
      if (fault !== undefined) throw fault
      return { status: answer.statusCode, headers: answer.headers, body: bytes, isCut }
    } catch (error) {
      throw signal?.aborted
        ? signal.reason
        : troubleOf(error, new URL(url).hostname, timeoutMs, ended.aborted)
    }
  }
}

function troubleOf(error: unknown, hostname: string, timeoutMs: number, isLate: boolean): unknown {
  const host = hostname.replace(/^\[|\]$/g, '')
  const { code = '', message } = error as NodeJS.ErrnoException
  const trouble = (name: OutgoingTrouble, text: string) => new OutgoingError(name, text, { cause: error })
  if (error instanceof RefusedTarget) {
    return / requires https$/.test(message)
      ? trouble('unencrypted', `${host} requires https: others could read what is sent over http`)
      : trouble('forbidden_address', `${host} is not a public address`)
  }
  if (error instanceof TunnelError || error instanceof ProxySettingError)
    return trouble('unreachable', message)
  if (isLate) return trouble('timeout', `${host} did not answer within ${timeoutMs / 1000} s`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return trouble('not_found', `host ${host} not found`)
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return trouble('unreachable', `cannot connect to ${host}: ETIMEDOUT`)
  if (/^(E[A-Z]+)$/.test(code) && code !== 'EPROTO' && code !== 'ECONNRESET') {
    return trouble('unreachable', `cannot connect to ${host}: ${code}`)
  }
  if (/CERT|^ERR_(TLS|SSL)|^EPROTO$|SIGNATURE|ISSUER/.test(code)) {
    return trouble('tls', `cannot verify the certificate of ${host}: ${code}`)
  }
  return trouble('broken', `${host} broke off the connection${code && `: ${code}`}`)
}
