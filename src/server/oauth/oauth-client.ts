import { scopes as known, type MachineScope } from '../../contract/constants.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { grantable } from '../access/principal.ts'
import { digest, isSame } from '../access/secret.ts'
import { findAppRow } from '../credentials/apps.ts'
import type { Database } from '../database/database.ts'
import { countFailure, countRequest } from '../http/limits.ts'
import { recordRefusedRequest } from '../http/record-refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readForm } from '../http/request-body.ts'
import { maxUrlBytes } from '../http/request-context.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import type { ProblemError } from '../problem-error.ts'

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

/** Takes a form, and returns errors as in RFC 6749 §5.2. */
export function clientRoute(
  path: WebRoute['path'],
  answer: (request: ClientRequest) => Reply | Promise<Reply>,
): WebRoute {
  return {
    method: 'POST',
    path,
    refuse: refuseAsOAuth,
    countsItself: true,
    handle: (visit) => answerForm(visit, answer),
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
      const { academy, limits, request } = visit
      await recordRefusedRequest(academy, limits, request, `POST ${request.path}`, error.code, undefined)
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
  countFailure(limits, request.address)
  throw new OAuthError('invalid_client', 'The client is unknown, or its secret is incorrect.', {
    challenged: authorization !== null,
  })
}

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

const maxValueLength = maxUrlBytes

/**
 * Returns a parameter; an empty one counts as absent. Throws `invalid_request` if it is repeated (RFC 6749
 * §3.1, §3.2).
 */
export function readParameter(given: URLSearchParams, name: string): string | undefined {
  const values = given.getAll(name)
  if (values.length > 1)
    throw new OAuthError('invalid_request', `The parameter ${name} must be given only once.`)
  const [value = ''] = values
  if (value.length > maxValueLength) {
    throw new OAuthError(
      'invalid_request',
      `The parameter ${name} has more than ${maxValueLength} characters.`,
    )
  }
  return value || undefined
}

/** Throws `invalid_request` without it. */
export function readRequiredParameter(given: URLSearchParams, name: string): string {
  const value = readParameter(given, name)
  if (value !== undefined) return value
  throw new OAuthError('invalid_request', `The parameter ${name} is required.`)
}

/** `read` without any. Ignores unknown ones. Throws `invalid_scope` if none is left, or if malformed (RFC 6749 §3.3). */
export function parseScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return ['read']
  if (!/^[!#-[\]-~]+( [!#-[\]-~]+)*$/.test(text)) {
    throw new OAuthError('invalid_scope', 'The scope must be names separated by single spaces.')
  }
  const names = text.split(' ')
  const asked = known.filter((scope) => names.includes(scope))
  if (asked.length > 0) return asked
  throw new OAuthError('invalid_scope', `No known scope was requested; the scopes are ${known.join(', ')}.`)
}

/** Throws `invalid_scope` if none is left. */
export function grantableScopesOf(asked: readonly Scope[], role: RoleName): readonly Scope[] {
  const given = asked.filter((scope) => grantable[role].includes(scope))
  if (given.length > 0) return given
  throw new OAuthError('invalid_scope', `The role ${role} cannot grant any of these scopes.`)
}

/** RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5, OpenID Connect Core §3.1.2.6. */
type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'server_error'
  | 'temporarily_unavailable'

export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  /** True if the client authenticated with a header: the response needs a challenge (RFC 6749 §5.2). */
  readonly challenged: boolean

  constructor(code: OAuthErrorCode, description: string, { challenged = false } = {}) {
    super(description)
    this.code = code
    this.challenged = challenged
  }
}

const codeOfStatus: Readonly<Record<number, OAuthErrorCode>> = {
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
}

/** Creates a response that must not be cached (RFC 6749 §5.1). */
export function clientReply(status: number, body: object, headers: Reply['headers'] = {}): Reply {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json', pragma: 'no-cache' },
    body: JSON.stringify(body),
  }
}

/** RFC 6749 §5.2. */
export function refusalReply({ code, message, challenged }: OAuthError): Reply {
  const status = code === 'invalid_client' ? 401 : 400
  const headers: Reply['headers'] = challenged ? { 'www-authenticate': 'Basic realm="learnctl"' } : {}
  return { ...clientReply(status, { error: code, error_description: toPrintable(message) }, headers), code }
}

export function refuseAsOAuth({ status, message, headers, code }: ProblemError): Reply {
  const error = codeOfStatus[status] ?? 'invalid_request'
  return { ...clientReply(status, { error, error_description: toPrintable(message) }, headers), code }
}

/** A description must not contain other characters (RFC 6749 §5.2). */
export function toPrintable(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?')
}
