import { randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { xapiVersions } from '../../contract/constants.ts'
import { isEqualSecret } from '../../lms/secrets.ts'
import { type Listener, type LoopbackReply, listenOnLoopback } from './loopback-server.ts'

const username = 'learnctl'

/**
 * Plays a learning record store, for people who try an endpoint of kind `xapi`: it takes statements with its own password (xAPI 1.0.3, Communication 2.1.2), tells its
 * versions, and keeps nothing.
 */
export async function playRecordStore(
  onStatements: (statements: readonly JsonObject[]) => Promise<void>,
): Promise<Listener> {
  const password = randomBytes(24).toString('base64url')
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const { origin, close } = await listenOnLoopback(async ({ method, url, headers }, body) => {
    if (method === 'GET' && url === '/xapi/about') return json(200, { version: xapiVersions })
    if (url !== '/xapi/statements') return json(404, { message: 'No such resource' })
    if (!isEqualSecret(headers.authorization ?? '', authorization))
      return json(401, { message: 'Wrong user name or password' })
    if (method !== 'POST') return json(405, { message: 'Statements are not kept' })
    const statements = [parseJsonOrNull(body.toString('utf8'))].flat()
    if (!statements.every(isJsonObject)) return json(400, { message: 'Not statements' })
    await onStatements(statements)
    return json(
      200,
      statements.map(({ id }) => id),
    )
  })
  return { url: `${origin}/xapi`, endpoint: { xapi: { username }, password }, close }
}

function json(status: number, value: unknown): LoopbackReply {
  const headers = { 'content-type': 'application/json', 'x-experience-api-version': xapiVersions[0] }
  return { status, headers, body: JSON.stringify(value) }
}
