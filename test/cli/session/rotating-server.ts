import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StoredTokens } from '../../../src/config/profiles.ts'
import { storedTokens } from '../../helpers/signed-in.ts'

/** A platform whose refresh tokens work once: using one again ends the session. */
export interface RotatingServer {
  readonly url: string
  /** First tokens of its only session. */
  readonly tokens: StoredTokens
  /** Refresh tokens that it received, in order. */
  readonly refreshed: readonly string[]
  /** False after a used refresh token was sent again. */
  readonly alive: () => boolean
  close(): Promise<void>
}

/**
 * Starts it on a free loopback port. It refuses the first access token, and sends that refusal to the first `crowd`
 * requests at the same moment, when all of them have arrived.
 */
export async function startRotatingServer(crowd: number): Promise<RotatingServer> {
  const refreshed: string[] = []
  const waiting: ServerResponse[] = []
  let generation = 1
  let alive = true

  const server = createServer(async (request, response) => {
    if (request.url === '/oauth/token') return send(response, ...(await refresh(request)))
    if (alive && generation > 1 && request.headers.authorization === `Bearer access-${generation}`) {
      return send(response, 200, [])
    }
    waiting.push(response)
    if (refreshed.length === 0 && waiting.length < crowd) return
    for (const one of waiting.splice(0)) send(one, 401, { message: 'Invalid token' })
  })

  async function refresh(request: IncomingMessage): Promise<[status: number, body: object]> {
    const form = new URLSearchParams(await textOf(request))
    const token = form.get('refresh_token') ?? ''
    refreshed.push(token)
    if (token !== `refresh-${generation}`) alive = false
    if (!alive) return [400, { error: 'invalid_grant' }]
    generation += 1
    const access_token = `access-${generation}`
    return [
      200,
      { access_token, token_type: 'Bearer', expires_in: 3600, refresh_token: `refresh-${generation}` },
    ]
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    tokens: storedTokens(url, { expiresAt: null, lifetimeSeconds: null }),
    refreshed,
    alive: () => alive,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
