import type { Scope } from '../../contract/operation.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit } from '../http/web-route.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { challengeOf } from './authorization-code.ts'
import { findClient, type OAuthClient } from './oauth-client.ts'
import { OAuthError, parseScopes, readParameter, readRequiredParameter, toPrintable } from './parameters.ts'

export interface Recipient {
  readonly client: OAuthClient
  readonly redirectUri: string
  /** Returned unchanged (RFC 6749 §4.1.2). */
  readonly state: string | undefined
}

export interface AuthorizationRequest {
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string | null
  readonly prompts: readonly Prompt[]
}

/**
 * Validates where the response goes. Throws 400, for the user, if that is not certain: browsers are never
 * redirected to an unregistered URI (RFC 6749 §4.1.2.1).
 */
export async function recipientOf({ database, query }: Visit): Promise<Recipient> {
  const client = await findClient(database, readForUser(query, 'client_id'))
  if (!client) throw unanswerable('The application is not registered here (client_id).')
  const redirectUri = readForUser(query, 'redirect_uri')
  if (!isRegistered(redirectUri, client.redirectUris)) {
    throw unanswerable(
      `The redirect_uri is not registered for ${client.name}, so you cannot be sent back to it.`,
    )
  }
  const [state, ...others] = query.getAll('state')
  return { client, redirectUri, state: others.length > 0 ? undefined : state || undefined }
}

/** Throws OAuthError, for the client (RFC 6749 §4.1.2.1). */
export function authorizationRequestOf({ query }: Visit, { client }: Recipient): AuthorizationRequest {
  readParameter(query, 'state')
  const type = readRequiredParameter(query, 'response_type')
  if (type !== 'code') throw new OAuthError('unsupported_response_type', 'The response_type must be code.')
  const mode = readParameter(query, 'response_mode')
  if (mode !== undefined && mode !== 'query') {
    throw new OAuthError('invalid_request', 'The response_mode must be query.')
  }
  const codeChallenge = challengeOf(query, client.isPublic)
  return { codeChallenge, prompts: promptsOf(query), scopes: parseScopes(readParameter(query, 'scope')) }
}

/** 303, with the issuer (RFC 9207) and the state. */
export function answerClient(
  { issuer }: Visit,
  { redirectUri, state }: Recipient,
  answer: { readonly code: string } | OAuthError,
): Reply {
  const parameters =
    answer instanceof OAuthError
      ? { error: answer.code, error_description: toPrintable(answer.message) }
      : { code: answer.code }
  const reply = seeOther(answerAddress(redirectUri, { ...parameters, state, iss: issuer }))
  return answer instanceof OAuthError ? { ...reply, code: answer.code } : reply
}

function readForUser(query: URLSearchParams, name: string): string {
  try {
    return readRequiredParameter(query, name)
  } catch (error) {
    throw error instanceof OAuthError ? unanswerable(error.message) : error
  }
}

function unanswerable(why: string): ProblemError {
  return new ProblemError(
    'invalid_parameter',
    `${why} Report this to the developers of the application that sent you here.`,
  )
}

/** OpenID Connect Core §3.1.2.1. */
export const promptValues = ['none', 'login', 'consent', 'select_account'] as const

type Prompt = (typeof promptValues)[number]

/**
 * Returns the requested prompts. By default there are none: every user is asked for consent and can choose
 * another account there. Throws `invalid_request` for an unsupported combination.
 */
function promptsOf(query: URLSearchParams): readonly Prompt[] {
  const given = readParameter(query, 'prompt')?.split(' ') ?? []
  const known = promptValues.filter((value) => given.includes(value))
  if (known.length !== new Set(given).size) {
    throw new OAuthError('invalid_request', `The prompt must be one or more of ${promptValues.join(', ')}.`)
  }
  if (known.includes('none') && known.length > 1) {
    throw new OAuthError('invalid_request', 'The prompt none cannot be combined with others.')
  }
  return known
}

const loopbackPort = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/

/**
 * True for a registered redirect URI: equal in every character, except the port of the literals 127.0.0.1 and
 * [::1] (RFC 9700 §4.1.3, RFC 8252 §7.3). URIs are not normalized, so that all parsers agree on them.
 */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  return registered.some((uri) => removePort(uri) === removePort(asked)) && URL.canParse(asked)
}

/** Keeps the query of the URI (RFC 6749 §3.1.2). */
function answerAddress(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value)
  const link = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return `${uri}${link}${query}`
}

/**
 * Returns the source expression with which a Content-Security-Policy allows a form to lead to the URI (CSP
 * Level 3 §2.3.1): its origin, or the scheme for an origin that cannot be written, such as IPv6.
 */
export function formTargetOf(uri: string): string {
  const { origin, protocol } = new URL(uri)
  return /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin) ? origin : protocol
}

export function placeOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'http:' && protocol !== 'https:') return `the app that opens ${protocol} links`
  const own = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  return own ? `a program on this computer (${host})` : host
}

function removePort(uri: string): string {
  return uri.replace(loopbackPort, '$1')
}
