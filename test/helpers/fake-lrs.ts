import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from './listen.ts'

/** A statement as the record store keeps it. */
interface StoredStatement {
  readonly id: string
  readonly actor: object
  readonly verb: { readonly id: string; readonly display: Readonly<Record<string, string>> }
  readonly object: { readonly id: string }
  readonly result?: object
  readonly timestamp: string
}

/**
 * A learning record store on the loopback, by the xAPI specification (adlnet/xAPI-Spec@ca782a1, Communication 2.1.2, 2.8
 * and 3.3) and the rules of its conformance tests (adlnet/lrs-conformance-test-suite@2ec25f2): a batch is stored as a whole or
 * not at all, an id that occurs twice in it is refused, and another statement with a known id is a conflict.
 */
export interface FakeLrs {
  /** URL up to `/statements`. */
  readonly url: string
  readonly tokenUrl: string
  readonly statements: Map<string, StoredStatement>
  /** Statement requests that were not refused for their credential: how many statements each had. */
  readonly batches: number[]
  readonly requests: {
    readonly method: string
    readonly path: string
    readonly headers: IncomingHttpHeaders
  }[]
  /** Returns why it refuses a statement; undefined if it does not. */
  refuses: (statement: StoredStatement) => string | undefined
  /** How it answers wrong; undefined for right. */
  fault: LrsFault | undefined
  /** Tokens that are valid; a revoked one is removed. */
  readonly tokens: Set<string>
}

type LrsFault =
  | 'login_page'
  | 'redirect'
  | 'half'
  | 'throttled'
  | 'unavailable'
  | 'forbidden'
  | 'conflicts_always'
  | 'token_refused'
  | 'expired_tokens'

interface LrsOptions {
  /** Versions that it knows (Communication 2.8). */
  readonly versions?: readonly string[]
  /** User name and password, or client id and secret. */
  readonly credential?: readonly [string, string]
  /** True to accept access tokens of the client instead of the password. */
  readonly oauth?: boolean
  readonly maxBatch?: number
}

/** Starts a record store; it ends with the test. */
export async function startLrs({
  versions = ['1.0.0', '1.0.1', '1.0.2', '1.0.3', '2.0.0'],
  credential = ['academy', 'secret of the academy'],
  oauth = false,
  maxBatch = Number.POSITIVE_INFINITY,
}: LrsOptions = {}): Promise<FakeLrs> {
  const basic = `Basic ${Buffer.from(credential.join(':')).toString('base64')}`
  const client = `Basic ${Buffer.from(credential.map(encodeURIComponent).join(':')).toString('base64')}`

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const { method = '', headers } = request
    const url = new URL(request.url ?? '', 'http://lrs')
    lrs.requests.push({ method, path: url.pathname, headers })
    if (url.pathname === '/token') return grant(response, headers, body)
    if (!url.pathname.startsWith('/xapi/')) return end(response, 404, 'Not found')
    if (lrs.fault === 'login_page') return end(response, 200, '<!DOCTYPE html><title>Sign in</title>')
    if (lrs.fault === 'redirect') return end(response, 302, '', { location: '/login' })
    if (url.pathname === '/xapi/about') return endJson(response, 200, { version: versions })
    if (url.pathname !== '/xapi/statements') return end(response, 404, 'Not found')
    const version = String(headers['x-experience-api-version'] ?? '')
    if (!versions.some((one) => one.split('.', 2).join() === version.split('.', 2).join())) {
      return endJson(response, 400, { error: `X-Experience-API-Version ${version} is not supported` })
    }
    const known = oauth ? [...lrs.tokens].map((token) => `Bearer ${token}`) : [basic]
    if (!known.includes(String(headers.authorization))) return end(response, 401, 'Unauthorized')
    if (lrs.fault === 'forbidden') return end(response, 403, 'Forbidden')
    if (lrs.fault === 'throttled') return end(response, 429, 'Slow down', { 'retry-after': '30' })
    if (lrs.fault === 'unavailable') return end(response, 503, 'Maintenance')
    if (method === 'GET') return find(response, url.searchParams.get('statementId') ?? '')
    store(response, body)
  })

  function grant(response: ServerResponse, headers: IncomingHttpHeaders, body: string) {
    const isKnown = headers.authorization === client && lrs.fault !== 'token_refused'
    if (!isKnown) return endJson(response, 401, { error: 'invalid_client' })
    if (new URLSearchParams(body).get('grant_type') !== 'client_credentials') {
      return endJson(response, 400, { error: 'unsupported_grant_type' })
    }
    const token = `token-${lrs.tokens.size + 1}-${'x'.repeat(20)}`
    if (lrs.fault !== 'expired_tokens') lrs.tokens.add(token)
    endJson(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 3600 })
  }

  function find(response: ServerResponse, id: string) {
    const found = lrs.statements.get(id)
    if (!found) return end(response, 404, 'Not found')
    endJson(response, 200, { ...found, stored: found.timestamp, version: '1.0.0' })
  }

  function store(response: ServerResponse, body: string) {
    const statements: StoredStatement[] = [JSON.parse(body)].flat()
    lrs.batches.push(statements.length)
    const ids = statements.map(({ id }) => id)
    if (statements.length > maxBatch) return end(response, 413, 'Too large')
    if (new Set(ids).size < ids.length) return endJson(response, 400, { message: 'An id occurs twice' })
    for (const statement of statements) {
      const why = lrs.refuses(statement)
      if (why !== undefined) return endJson(response, 400, { message: why })
    }
    const conflict = statements.find((statement) => {
      const stored = lrs.statements.get(statement.id)
      return stored && (lrs.fault === 'conflicts_always' || coreOf(stored) !== coreOf(statement))
    })
    if (conflict) return end(response, 409, `Statement ${conflict.id} conflicts`)
    for (const statement of statements) lrs.statements.set(statement.id, statement)
    // The statements are stored, but the response does not arrive.
    if (lrs.fault === 'half') return void response.destroy()
    endJson(response, 200, ids)
  }

  const { port, close } = await listen(server)
  onTestFinished(close)
  const lrs: FakeLrs = {
    url: `http://127.0.0.1:${port}/xapi`,
    tokenUrl: `http://127.0.0.1:${port}/token`,
    statements: new Map(),
    batches: [],
    requests: [],
    refuses: () => undefined,
    fault: undefined,
    tokens: new Set(),
  }
  return lrs
}

function coreOf({ actor, verb, object, result }: StoredStatement): string {
  return JSON.stringify([actor, verb.id, object.id, result])
}

function endJson(response: ServerResponse, status: number, value: unknown): void {
  end(response, status, JSON.stringify(value), { 'content-type': 'application/json' })
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text)
}
