import type { MachineScope } from '../../contract/constants.ts'
import { digest, isSame } from '../access/secret.ts'
import { findAppRow } from '../credentials/apps.ts'
import type { Database } from '../database/database.ts'
import { countRequest } from '../http/limits.ts'
import { recordRefusal } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readForm } from '../http/request-body.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { tooMany } from '../problem-error.ts'
import { OAuthError, readParameter, refusalReply, refuseAsOAuth } from './parameters.ts'

export interface OAuthClient {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Without a secret, because it could not keep one (RFC 6749 §2.1). */
  readonly isPublic: boolean
  readonly secretHash: string | null
  readonly machineScopes: readonly MachineScope[]
}

interface ClientRequest {
  readonly visit: Visit
  readonly client: OAuthClient
  readonly form: URLSearchParams
}

/**
 * Creates a route that takes a form, authenticates the client, and returns errors as in RFC 6749 §5.2.
 */
export function clientRoute(
  path: WebRoute['path'],
  answer: (request: ClientRequest) => Reply | Promise<Reply>,
): WebRoute {
  return {
    method: 'POST',
    path,
    refuse: refuseAsOAuth,
    countsItself: true,
    handle: (visit) => ({ reply: () => answerForm(visit, answer) }),
  }
}

async function answerForm(
  visit: Visit,
  answer: (request: ClientRequest) => Reply | Promise<Reply>,
): Promise<Reply> {
  try {
    const form = await readForm(visit.request.raw)
    const client = await authenticateClient(visit, form)
    // Any program can use the id of a public client, so these requests are counted by network.
    countRequest(
      visit.limits,
      client.isPublic ? { kind: 'signIn', name: visit.request.address } : { kind: 'known', name: client.id },
    )
    return await answer({ visit, form, client })
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_client') {
      const details = { operation: `POST ${visit.request.path}`, code: error.code }
      const refused = { action: 'request.refused', subjectId: null, details } as const
      await recordRefusal(visit.academy, visit.limits, visit.request, refused)
    }
    if (error instanceof OAuthError) return refusalReply(error)
    throw error
  }
}

export async function findClient(database: Database, id: string): Promise<OAuthClient | undefined> {
  const row = await findAppRow(database, id)
  return (
    row && {
      id: row.id,
      name: row.name,
      redirectUris: JSON.parse(row.redirect_uris) as string[],
      isPublic: row.is_public === 1,
      secretHash: row.secret_hash,
      machineScopes: JSON.parse(row.machine_scopes) as MachineScope[],
    }
  )
}

/**
 * Authenticates the client of a request: by its secret in the header or the form, or by its id if it is
 * public (RFC 6749 §2.3.1, §3.2.1). Throws `invalid_client`, `invalid_request` if both are used, and 429
 * after too many failures from the address.
 */
async function authenticateClient(visit: Visit, form: URLSearchParams): Promise<OAuthClient> {
  const { database, limits, request } = visit
  const authorization = request.raw.headers['authorization'] ?? null
  const given = authorization === null ? clientInForm(form) : clientInHeader(authorization, form)
  const client = await findClient(database, given.id)
  const isAuthentic = client?.isPublic
    ? given.secret === ''
    : isSame(digest(given.secret), client?.secretHash ?? '')
  if (client && isAuthentic) return client
  const { allowed, resetSeconds } = limits.failures.take(request.address)
  if (!allowed) throw tooMany('failed credentials', resetSeconds)
  throw new OAuthError('invalid_client', 'The client is unknown, or its secret is incorrect.', {
    challenged: authorization !== null,
  })
}

/** The secret may be empty. */
interface GivenClient {
  readonly id: string
  readonly secret: string
}

function clientInForm(form: URLSearchParams): GivenClient {
  const id = readParameter(form, 'client_id')
  if (id === undefined) throw new OAuthError('invalid_client', 'The parameter client_id is required.')
  return { id, secret: readParameter(form, 'client_secret') ?? '' }
}

function clientInHeader(authorization: string, form: URLSearchParams): GivenClient {
  const [, encoded = ''] = /^Basic +([\w+/-]+=*)$/i.exec(authorization) ?? []
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  const id = decoded(text.slice(0, Math.max(0, colon)))
  const secret = decoded(text.slice(colon + 1))
  if (colon < 1 || id === undefined || secret === undefined) {
    throw new OAuthError('invalid_client', 'The Authorization header must have the form "Basic <client>".', {
      challenged: true,
    })
  }
  const named = readParameter(form, 'client_id')
  if (readParameter(form, 'client_secret') !== undefined || (named !== undefined && named !== id)) {
    throw new OAuthError(
      'invalid_request',
      'The client must authenticate in the header or in the form, not in both.',
    )
  }
  return { id, secret }
}

/**
 * Decodes an id or secret, which is form-encoded before base64 (RFC 6749 §2.3.1); undefined if it is invalid.
 */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
