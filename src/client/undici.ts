import type { Dispatcher } from 'undici'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { isLoopbackHost } from './base-url.ts'
import { acceptedCodings } from './content-coding.ts'
import { dispatched } from './dispatched.ts'
import { userAgent } from './user-agent.ts'
import { faultOf } from './wire-fault.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Options of the network transport. */
export interface UndiciOptions {
  readonly connectTimeoutMs?: number
  /** Variables to read HTTPS_PROXY, HTTP_PROXY and NO_PROXY from, lower case first; loopback is never proxied. */
  readonly env?: Environment
}

/** A transport with connections to give back. */
export type ClosableTransport = Transport & { close(): Promise<void> }

/**
 * The transport over the network, with kept-alive HTTP/1.1 connections. Nothing of it is loaded before the first
 * request; `close` drops every connection at once, also those in use.
 */
export function createUndiciTransport(options: UndiciOptions = {}): ClosableTransport {
  const dispatchers = new Map<boolean, Promise<Dispatcher>>()
  const connectTimeoutMs = options.connectTimeoutMs ?? 5000

  const isSet = hasProxy(options.env ?? {})

  function dispatcherFor(hostname: string): Promise<Dispatcher> {
    const proxied = isSet && !isLoopbackHost(hostname)
    const dispatcher =
      dispatchers.get(proxied) ?? openDispatcher(proxied, connectTimeoutMs, options.env ?? {})
    dispatchers.set(proxied, dispatcher)
    return dispatcher
  }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const { origin, hostname, pathname, search } = new URL(request.url)
    try {
      const { status, headers, body } = await dispatched(
        await dispatcherFor(hostname),
        {
          origin,
          path: pathname + search,
          method: request.method as Dispatcher.HttpMethod,
          headers: { ...standing(hostname), ...request.headers },
          // It takes iterables, too, which its type does not say (undici, lib/core/request.js).
          body: (request.body ?? null) as string | Uint8Array | null,
        },
        request.signal,
      )
      return {
        status,
        headers: linesOf(headers),
        body: body === null || body instanceof Uint8Array ? body : read(request, body),
      }
    } catch (error) {
      throw faultOf(request, error, { part: 'head', connectTimeoutMs })
    }
  }

  async function* read(request: HttpRequest, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      throw faultOf(request, error, { part: 'body', connectTimeoutMs })
    }
  }

  async function close(): Promise<void> {
    const open = await Promise.all(dispatchers.values())
    dispatchers.clear()
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()))
  }

  return Object.assign(send, { close })
}

/** True where a proxy is set for what goes to other machines, whatever is excepted from it. */
export function hasProxy(env: Environment): boolean {
  return proxyOf(env) !== null
}

/** What every request says unless it says otherwise. Within a machine, compressing costs more than it saves. */
export function standing(hostname: string): HttpHeaders {
  const coding = isLoopbackHost(hostname) ? 'identity' : acceptedCodings
  return { 'accept-encoding': coding, 'user-agent': userAgent }
}

async function openDispatcher(
  proxied: boolean,
  connectTimeoutMs: number,
  env: Environment,
): Promise<Dispatcher> {
  // The caller's timeouts guard the rest, on any transport alike.
  const options = {
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  }
  if (!proxied) {
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js')
    return new Agent(options)
  }
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js')
  return new EnvHttpProxyAgent({ ...options, ...proxyOf(env) })
}

/** Null when no proxy is set; an empty text keeps undici from looking the variables up itself. */
function proxyOf(env: Environment) {
  const either = (name: string) => env[name.toLowerCase()] || env[name] || ''
  const proxies = {
    httpProxy: either('HTTP_PROXY'),
    httpsProxy: either('HTTPS_PROXY'),
    noProxy: either('NO_PROXY'),
  }
  return proxies.httpProxy || proxies.httpsProxy ? proxies : null
}

/** The headers of a response, each as one line under its name in lower case. */
export function linesOf(headers: Readonly<Record<string, string | string[] | undefined>>): HttpHeaders {
  const lines: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) lines[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return lines
}
