import sql from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import { timeText } from '../../codec/time-text.ts'
import { type MachineScope, machineScopes } from '../../contract/constants.ts'
import { digest, newCredential } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { type Issuing, writingOf } from './issue-tokens.ts'
import type { OAuthClient } from './oauth-client.ts'
import { OAuthError } from './oauth-error.ts'

const lifetimeMs = 60 * 60 * 1000
/** Live tokens of an application: the oldest ends when another is issued. */
const maxLive = 100

export interface ClientToken {
  readonly accessToken: string
  readonly expiresInSeconds: number
  /** As the client named them. */
  readonly scopes: readonly string[]
}

/** In OneRoster 1.1 and 1.2; the core of a service has a name of its own. */
const scopeUri = /^https:\/\/purl\.imsglobal\.org\/spec\/or\/v1p[12]\/scope\/([a-z]+)(?:-core)?\.([a-z]+)$/

/** `roster.readonly`, or its URI in OneRoster. */
function scopeNamed(name: string): MachineScope | undefined {
  const [, service, right] = scopeUri.exec(name) ?? []
  const plain = service === undefined ? name : `${service}.${right}`
  return machineScopes.find((scope) => scope === plain)
}

/**
 * Issues a token for the application itself (RFC 6749 §4.4), without a refresh token. The scope is what it asks for and
 * has, by default all that it has. Throws `unauthorized_client` for an application that acts only for users, and
 * `invalid_scope` if nothing is left.
 */
export async function issueClientToken(
  issuing: Issuing,
  client: OAuthClient,
  asked: string | undefined,
): Promise<ClientToken> {
  const { database, now } = issuing
  if (client.machineScopes.length === 0) {
    throw new OAuthError(
      'unauthorized_client',
      'The application has no machine scopes: it acts only for users.',
    )
  }
  const names = asked === undefined ? client.machineScopes : asked.split(' ')
  const given = names.filter((name) => client.machineScopes.some((scope) => scope === scopeNamed(name)))
  if (given.length === 0) {
    throw new OAuthError('invalid_scope', `The application has the scopes ${client.machineScopes.join(' ')}.`)
  }
  const scopes = machineScopes.filter((scope) => given.some((name) => scopeNamed(name) === scope))
  const accessToken = newCredential('accessToken')
  const expiresAt = new Date(now.getTime() + lifetimeMs).toISOString()
  await database.run(sql`
    delete from client_tokens where hash in (
      select hash from client_tokens where client_id = ${client.id}
      order by expires_at desc limit ${maxLive} offset ${maxLive - 1})`)
  await database.run(sql`
    insert into client_tokens (hash, client_id, scopes, expires_at)
    values (${digest(accessToken)}, ${client.id}, ${JSON.stringify(scopes)}, ${expiresAt})`)
  const after = { clientId: client.id, scopes }
  const change = { action: 'app.authorized', id: client.id, before: null, after } as const
  await recordChange(writingOf(issuing, client.id, null), change)
  return { accessToken, expiresInSeconds: lifetimeMs / 1000, scopes: given }
}

interface ClientTokenRow extends Row {
  readonly client_id: string
  readonly scopes: string
  readonly expires_at: string
}

interface LiveClientToken {
  readonly clientId: string
  readonly scopes: readonly MachineScope[]
  /** ISO 8601 in UTC. */
  readonly expiresAt: string
}

/** Undefined for any other token, also for one that has expired. */
export async function findClientToken(
  database: Database,
  token: string,
  now: Date,
): Promise<LiveClientToken | undefined> {
  if (!isCredential('accessToken', token)) return undefined
  // The scopes of an application never change, so those of the token are still its own.
  const row = await database.one<ClientTokenRow>(sql`
    select client_id, scopes, expires_at from client_tokens
    where hash = ${digest(token)} and expires_at > ${timeText(now)}`)
  if (!row) return undefined
  const { client_id: clientId, expires_at: expiresAt } = row
  return { clientId, expiresAt, scopes: JSON.parse(row.scopes) as MachineScope[] }
}
