import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { systemCode } from '../config/errors.ts'
import { type CallbackPage, plainAnswer } from './callback-page.ts'
import { SignInError } from './errors.ts'

const defaultPath = '/callback'
/** Addresses to listen on, the first that is available (RFC 8252 §7.3). */
const loopbackHosts = ['127.0.0.1', '::1']
/** Time for the browser to fetch its page after the sign-in has ended. */
const graceMs = 1000

/** A listener on this machine for the redirect that ends a sign-in (RFC 8252 §7.3). */
export interface Loopback {
  readonly redirectUri: string
  /** Parameters of the first redirect with the state; never settles without one. */
  readonly redirected: Promise<URLSearchParams>
  /** Answers the redirect and stops listening. */
  close(page: CallbackPage): Promise<void>
}

/**
 * Listens for the redirect that has this state and refuses every other request: at `redirectUri`, or on a free port
 * of the first available of `hosts`. Throws SignInError `port_unavailable`.
 */
export async function openLoopback(
  state: string,
  redirectUri: string | null,
  hosts: readonly string[] = loopbackHosts,
): Promise<Loopback> {
  const fixed = redirectUri === null ? null : new URL(redirectUri)
  const servers = fixed ? await listenAt(fixed) : await listenAnywhere(hosts)
  const [first] = servers
  const address = first?.address()
  // A TCP server's address has a port.
  const { family, port } = address as AddressInfo
  const host = fixed?.host ?? (family === 'IPv6' ? `[::1]:${port}` : `127.0.0.1:${port}`)
  const path = fixed?.pathname ?? defaultPath
  const waiting: ServerResponse[] = []
  const { promise: redirected, resolve } = Promise.withResolvers<URLSearchParams>()

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const [target = '', query = ''] = (request.url ?? '').split(/\?(.*)/s)
    const parameters = new URLSearchParams(query)
    const status = target === path ? faultStatusOf(request, host) : 404
    if (status !== null || !hasState(parameters, state)) {
      const { headers, body } = plainAnswer(status ?? 400)
      response.writeHead(status ?? 400, headers).end(body)
      return
    }
    // A browser may send the request twice; both get the page.
    waiting.push(response)
    resolve(parameters)
  }

  for (const server of servers) server.on('request', answer)
  return {
    redirectUri: redirectUri ?? `http://${host}${path}`,
    redirected,
    close: async (page) => {
      for (const server of servers) server.close()
      await answerAll(waiting, page)
      for (const server of servers) server.closeAllConnections()
    },
  }
}

/** True if the parameters contain this state, and each OAuth parameter at most once (RFC 6749 §3.1). */
function hasState(parameters: URLSearchParams, state: string): boolean {
  const names = ['state', 'code', 'error', 'iss']
  if (names.some((name) => parameters.getAll(name).length > 1)) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(parameters.get('state') ?? ''), digest(state))
}

/**
 * Returns the error status of a request for the right path. Any web page can make the browser send a request
 * here.
 */
function faultStatusOf({ method, headersDistinct }: IncomingMessage, host: string): 400 | 405 | null {
  const hosts = headersDistinct['host'] ?? []
  if (hosts.length !== 1 || hosts[0] !== host) return 400
  return method === 'GET' ? null : 405
}

async function answerAll(
  waiting: readonly ServerResponse[],
  { status, headers, body }: CallbackPage,
): Promise<void> {
  const fetched = waiting.map(
    (response) =>
      new Promise<void>((resolve) => {
        // The response is complete when the connection has closed.
        response.socket?.once('close', () => resolve())
        if (response.socket === null || response.socket.destroyed) resolve()
        response.writeHead(status, headers).end(body)
      }),
  )
  const grace = new AbortController()
  await Promise.race([
    Promise.all(fetched),
    wait(graceMs, undefined, { signal: grace.signal }).catch(() => {}),
  ])
  grace.abort()
}

async function listenAnywhere(hosts: readonly string[]): Promise<Server[]> {
  const faults: unknown[] = []
  for (const host of hosts) {
    try {
      return [await listen(host, 0)]
    } catch (fault) {
      faults.push(fault)
    }
  }
  const codes = faults.map((fault) => systemCode(fault) ?? String(fault))
  throw new SignInError('port_unavailable', `Cannot listen on this machine: ${codes.join(', ')}`, {
    hint: 'Use: learnctl auth login --device',
    cause: faults[0],
  })
}

/**
 * Listens on both loopback addresses for `localhost`, if both exist: another program could take the other
 * one.
 */
async function listenAt({ hostname, port, host }: URL): Promise<Server[]> {
  const addresses = hostname === 'localhost' ? ['127.0.0.1', '::1'] : [hostname.replace(/^\[|\]$/g, '')]
  const servers: Server[] = []
  const faults: unknown[] = []
  for (const address of addresses) {
    try {
      servers.push(await listen(address, Number(port || 80)))
    } catch (fault) {
      faults.push(fault)
    }
  }
  const decisive = faults.find((fault) => systemCode(fault) === 'EADDRINUSE') ?? faults[0]
  const absent = faults.every((fault) => /^E(ADDRNOTAVAIL|AFNOSUPPORT)$/.test(systemCode(fault) ?? ''))
  if (servers.length > 0 && absent) return servers
  for (const server of servers) server.close()
  throw unavailable(host, decisive)
}

function unavailable(host: string, fault: unknown): SignInError {
  const code = systemCode(fault)
  if (code === 'EADDRINUSE') {
    return new SignInError('port_unavailable', `Cannot listen on ${host}: the port is already in use`, {
      hint: 'Stop the program that uses it, or register another redirect URI',
      cause: fault,
    })
  }
  const reason = code === 'EACCES' ? 'permission denied' : (code ?? String(fault))
  return new SignInError('port_unavailable', `Cannot listen on ${host}: ${reason}`, { cause: fault })
}

function listen(host: string, port: number): Promise<Server> {
  const server = createServer({
    keepAlive: false,
    headersTimeout: 10_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1000,
  })
  server.maxConnections = 64
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen({ host, port, exclusive: true }, () => resolve(server))
  })
}

/**
 * Reads a redirect that the user pasted, as a URL or as its query. Returns its parameters, or why it is
 * unusable.
 */
export function readPasted(text: string, state: string): URLSearchParams | string {
  const trimmed = text.trim()
  const query = URL.canParse(trimmed) ? new URL(trimmed).search : trimmed
  const parameters = new URLSearchParams(query)
  if (parameters.has('response_type')) {
    return 'This is the URL to open; paste the final URL of the browser instead'
  }
  if (!parameters.has('code') && !parameters.has('error')) {
    return 'No code found; paste the final URL of the browser'
  }
  if (!parameters.has('state')) return 'Paste the whole URL, including the state'
  if (!hasState(parameters, state)) return 'This URL belongs to another sign-in'
  return parameters
}
