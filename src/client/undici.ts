import type { Dispatcher } from 'undici'
import { isLoopbackHost } from '../codec/network-address.ts'
import { type HttpProxy, readProxies } from '../codec/proxy.ts'
import type { HttpHeaders, HttpRequest, HttpResponse, Transport } from '../contract/http.ts'
import { version } from '../contract/version.ts'
import { acceptedCodings } from './content-coding.ts'
import { networkErrorOf } from './network-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface UndiciOptions {
  readonly connectTimeoutMs?: number
  /** Variables to read HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY from; loopback addresses never use a proxy. */
  readonly env?: Environment
}

export type ClosableTransport = Transport & { close(): Promise<void> }

/**
 * Creates the network transport, with kept-alive HTTP/1.1 connections. Undici is loaded with the first request;
 * `close` drops every connection at once, also those in use.
 */
export function createUndiciTransport(options: UndiciOptions = {}): ClosableTransport {
  const dispatchers = new Map<HttpProxy | null, Promise<Dispatcher>>()
  const connectTimeoutMs = options.connectTimeoutMs ?? 5000
  const findProxy = readProxies(options.env ?? {})

  function dispatcherFor(proxy: HttpProxy | null): Promise<Dispatcher> {
    const dispatcher = dispatchers.get(proxy) ?? openDispatcher(proxy, connectTimeoutMs)
    dispatchers.set(proxy, dispatcher)
    return dispatcher
  }

  async function send(request: HttpRequest): Promise<HttpResponse> {
    const url = new URL(request.url)
    const { origin, hostname, pathname, search } = url
    let proxy: HttpProxy | null = null
    try {
      proxy = findProxy(url)
      const dispatcher = await dispatcherFor(proxy)
      const { statusCode, headers, body } = await dispatcher.request({
        origin,
        path: pathname + search,
        method: request.method as Dispatcher.HttpMethod,
        headers: { ...defaultHeaders(hostname), ...request.headers },
        // undici accepts iterables although its type does not say so (undici, lib/core/request.js).
        body: (request.body ?? null) as string | Uint8Array | null,
        signal: request.signal ?? null,
      })
      return { status: statusCode, headers: joinHeaders(headers), body: read(request, body, proxy) }
    } catch (error) {
      throw networkErrorOf(request, error, { part: 'head', connectTimeoutMs, proxy })
    }
  }

  async function* read(
    request: HttpRequest,
    body: AsyncIterable<Uint8Array>,
    proxy: HttpProxy | null,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      throw networkErrorOf(request, error, { part: 'body', connectTimeoutMs, proxy })
    }
  }

  async function close(): Promise<void> {
    const open = await Promise.all(dispatchers.values())
    dispatchers.clear()
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()))
  }

  return Object.assign(send, { close })
}

/** No compression on loopback, where it costs more than it saves. */
export function defaultHeaders(hostname: string): HttpHeaders {
  const coding = isLoopbackHost(hostname) ? 'identity' : acceptedCodings
  return { 'accept-encoding': coding, 'user-agent': userAgent }
}

async function openDispatcher(proxy: HttpProxy | null, connectTimeoutMs: number): Promise<Dispatcher> {
  // The caller applies the other timeouts, for any transport.
  const options = { headersTimeout: 0, bodyTimeout: 0, allowH2: false }
  // Missing in its type (undici, lib/dispatcher/proxy-agent.js).
  const limits = { connectTimeout: connectTimeoutMs }
  const { Agent, Pool, ProxyAgent } = await import('undici')
  if (!proxy) return new Agent({ ...options, connect: { timeout: connectTimeoutMs } })
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    ...limits,
    // Limits the wait for the proxy's response to CONNECT to that for a connection.
    clientFactory: (origin, pool) => new Pool(origin, { ...pool, headersTimeout: connectTimeoutMs }),
  })
}

/** Returns response headers by lower-case name, repeated ones joined into one line. */
export function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): HttpHeaders {
  const lines: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) lines[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return lines
}

/** Value of the User-Agent header (RFC 9110 §10.1.5): `learnctl/1.2.3 (linux; node 24.1.0)`. */
export const userAgent = `learnctl/${version} (${process.platform}; node ${process.versions.node})`
