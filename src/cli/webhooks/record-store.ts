import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { xapiVersions } from '../../contract/constants.ts'

/** A learning record store on this machine, for people who try an endpoint of kind `xapi`. */
export interface RecordStore {
  /** URL up to `/statements`. */
  readonly url: string
  readonly username: string
  readonly password: string
  close(): Promise<void>
}

/** Larger than a batch of 500 statements. */
const maxBytes = 4 * 1024 * 1024
const username = 'learnctl'

/**
 * Plays a learning record store on a free loopback port: it takes statements with its own password (xAPI 1.0.3,
 * Communication 2.1.2), tells its versions, and keeps nothing.
 */
export async function playRecordStore(
  onStatements: (statements: readonly JsonObject[]) => Promise<void>,
): Promise<RecordStore> {
  const { createServer } = await import('node:http')
  const password = randomBytes(24).toString('base64url')
  const authorization = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)

  function isAllowed(request: IncomingMessage): boolean {
    const given = Buffer.from(request.headers.authorization ?? '')
    return given.length === authorization.length && timingSafeEqual(given, authorization)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = request
    if (method === 'GET' && url === '/xapi/about') return endJson(response, 200, { version: xapiVersions })
    if (url !== '/xapi/statements') return endJson(response, 404, { message: 'No such resource' })
    if (!isAllowed(request)) return endJson(response, 401, { message: 'Wrong user name or password' })
    if (method !== 'POST') return endJson(response, 405, { message: 'Statements are not kept' })
    const body = await textOf(request)
    if (body === null) return endJson(response, 413, { message: 'Too large' })
    const statements = [parseJsonOrNull(body)].flat()
    if (!statements.every(isJsonObject)) return endJson(response, 400, { message: 'Not statements' })
    await onStatements(statements)
    endJson(
      response,
      200,
      statements.map(({ id }) => id),
    )
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A TCP server's address has a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/xapi`,
    username,
    password,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function endJson(response: ServerResponse, status: number, value: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-experience-api-version': xapiVersions[0] })
    .end(JSON.stringify(value))
}

async function textOf(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    const bytes: Buffer = piece
    size += bytes.length
    if (size > maxBytes) return null
    pieces.push(bytes)
  }
  return Buffer.concat(pieces).toString('utf8')
}
