import { createHash, hash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { systemCode } from '../config/errors.ts'
import { SignInError } from './errors.ts'

const defaultPath = '/callback'
/** Addresses to listen on, the first that is available (RFC 8252 §7.3). */
const loopbackHosts = ['127.0.0.1', '::1']
/** Time for the browser to fetch its page after the sign-in has ended. */
const graceMs = 1000

/** RFC 8252 §7.3. */
export interface Loopback {
  readonly redirectUri: string
  /** Parameters of the first redirect with the state; never settles without one. */
  readonly redirected: Promise<URLSearchParams>
  close(page: CallbackPage): Promise<void>
}

/** Listens at `redirectUri`, or a free port of the first available of `hosts`; refuses every request without this state. */
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

/** `localhost` means both addresses, if they exist: another program could take the other one. */
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

/** `text` is a URL or its query. Returns why it is unusable instead of its parameters. */
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

interface CallbackPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const style = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #51606f; --line: #d5dce3; --ground: #f6f8fa; --card: #fff;
  --good: #17663a; --bad: #a3221b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a5b1bd; --line: #36424e; --ground: #12181e;
  --card: #1b232b; --good: #7fd6a3; --bad: #ff9d94; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 32rem; margin: 12vh auto 0; padding: 0 1rem; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 2rem; }
svg { display: block; width: 3rem; height: 3rem; margin: 0 0 1rem; fill: none; stroke: currentColor; stroke-width: 2.5;
  stroke-linecap: round; stroke-linejoin: round; }
.good { color: var(--good); }
.bad { color: var(--bad); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; overflow-wrap: anywhere; }
p:last-child { margin: 0; color: var(--soft); }
`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  // The URL of this page contains the code.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  connection: 'close',
}

const tick =
  '<svg class="good" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m7.5 12.5 3 3 6-6.5"/></svg>'
const cross =
  '<svg class="bad" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="10"/><path d="m8.5 8.5 7 7m0-7-7 7"/></svg>'

export function successPage(place: string, account: string | null): CallbackPage {
  const who = account === null ? '' : ` as <strong>${escaped(account)}</strong>`
  return page(200, 'You are signed in', tick, [
    `learnctl is signed in to <strong>${escaped(place)}</strong>${who}.`,
    'You can close this page and return to the terminal.',
  ])
}

export function failurePage(reason: string): CallbackPage {
  return page(400, 'Sign-in failed', cross, [
    `${escaped(reason)}.`,
    'Return to the terminal to see what to do next. You can close this page.',
  ])
}

function page(status: number, title: string, picture: string, paragraphs: readonly string[]): CallbackPage {
  const body = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · learnctl</title>
<style>${style}</style>
</head>
<body>
<main>
<article>
${picture}
<h1>${title}</h1>
${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}
</article>
</main>
</body>
</html>
`
  return { status, headers, body }
}

const plainTexts = {
  400: 'This request does not belong to the sign-in that learnctl is waiting for.\n',
  404: 'Not found.\n',
  405: 'Method not allowed.\n',
} as const

function plainAnswer(status: 400 | 404 | 405): CallbackPage {
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'text/plain; charset=utf-8',
      ...(status === 405 && { allow: 'GET' }),
    },
    body: plainTexts[status],
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
