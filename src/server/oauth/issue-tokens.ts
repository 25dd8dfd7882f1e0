import sql from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import { timeText } from '../../codec/time-text.ts'
import { type MachineScope, machineScopes } from '../../contract/constants.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import type { Origin } from '../access/principal.ts'
import { digest, newCredential } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import { makeRoomForGrant, revokeGrant } from '../credentials/grants.ts'
import type { Database, Row, Transaction } from '../database/database.ts'
import type { AppOptions } from '../http/request-context.ts'
import { grantableScopesOf, type OAuthClient, OAuthError } from './oauth-client.ts'

const accessMs = 60 * 60 * 1000
const dayMs = 24 * 60 * 60 * 1000
const graceMs = 10_000

export const grantDays = { unused: 30, max: 90 } as const

export interface Issuing extends Pick<AppOptions, 'newId'> {
  readonly database: Transaction
  readonly now: Date
  readonly origin: Origin
  /** The first tokens always are. */
  readonly recordsRefresh?: boolean
}

/** Null if the user is unknown. */
export function writingOf(
  { database, now, newId, origin }: Issuing,
  clientId: string,
  userId: string | null,
): Writing {
  const principal = { userId, credential: clientId }
  return { database, now: now.toISOString(), newId, principal, origin }
}

export interface IssuedTokens {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly refreshToken: string
  readonly scopes: readonly Scope[]
}

interface RefreshRow extends Row {
  readonly grant_id: string
  readonly expires_at: string
  readonly used_at: string | null
  /** Hash of the next refresh token; null before the exchange, and after it was exchanged again. */
  readonly successor: string | null
  readonly successor_used: number | null
  readonly client_id: string
  readonly user_id: string
  readonly scopes: string
  readonly created_at: string
  readonly revoked_at: string | null
  readonly role: RoleName
  readonly status: string
}

export async function openGrant(
  issuing: Issuing,
  { client, userId, scopes }: { client: OAuthClient; userId: string; scopes: readonly Scope[] },
): Promise<{ grantId: string; tokens: IssuedTokens }> {
  const { database, now, newId } = issuing
  const grantId = newId('gnt')
  const createdAt = now.toISOString()
  await makeRoomForGrant(writingOf(issuing, client.id, userId), userId)
  await database.run(sql`
    insert into grants (id, client_id, user_id, scopes, created_at, expires_at)
    values (${grantId}, ${client.id}, ${userId}, ${JSON.stringify(scopes)}, ${createdAt}, ${createdAt})`)
  const grant = { id: grantId, userId, clientId: client.id, clientName: client.name, scopes, createdAt }
  const change = { action: 'grant.created', id: grantId, before: null, after: grant } as const
  await recordChange(writingOf(issuing, client.id, userId), change)
  return { grantId, tokens: await issueTokens(issuing, { grantId, createdAt, scopes }) }
}

/**
 * Exchanges a refresh token for new tokens, once. A second use revokes the grant, because it may be by a
 * thief (RFC 9700 §4.14.2): therefore its refusal is returned, to be thrown after the commit. Since a
 * response may be lost, the same client may repeat the exchange within ten seconds, unless the new refresh
 * token was used; that one is then invalid.
 */
export async function rotateRefreshToken(
  issuing: Issuing,
  client: OAuthClient,
  refreshToken: string,
  asked: readonly Scope[] | undefined,
): Promise<IssuedTokens | OAuthError> {
  const { database, now } = issuing
  const time = now.toISOString()
  const hash = digest(refreshToken)
  const row = await database.one<RefreshRow>(sql`
    select r.grant_id, r.expires_at, r.used_at, r.successor, s.used_at is not null as successor_used, g.client_id,
      g.user_id, g.scopes, g.created_at, g.revoked_at, u.role, u.status
    from refresh_tokens r join grants g on g.id = r.grant_id join users u on u.id = g.user_id
      left join refresh_tokens s on s.hash = r.successor
    where r.hash = ${hash}`)
  if (row?.used_at && !isLostAnswer(row, row.used_at, client, now)) {
    await revokeGrant(writingOf(issuing, client.id, null), row.grant_id)
    return new OAuthError(
      'invalid_grant',
      'The refresh token has already been used; all tokens issued for it are revoked.',
    )
  }
  const isInvalid = !row || row.revoked_at !== null || row.expires_at <= time || row.status !== 'active'
  if (isInvalid || row.client_id !== client.id) {
    return new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked.')
  }
  const granted = JSON.parse(row.scopes) as Scope[]
  if (asked?.some((scope) => !granted.includes(scope))) {
    return new OAuthError('invalid_scope', `The scope exceeds what was granted: ${granted.join(' ')}.`)
  }
  const scopes = grantableScopesOf(asked ?? granted, row.role)
  const tokens = await issueTokens(issuing, { grantId: row.grant_id, createdAt: row.created_at, scopes })
  const successor = row.used_at ? null : digest(tokens.refreshToken)
  await database.run(sql`
    update refresh_tokens set used_at = coalesce(used_at, ${time}), successor = ${successor} where hash = ${hash}`)
  // A client that has the lost response would not have asked again.
  if (row.successor)
    await database.run(sql`update refresh_tokens set used_at = ${time} where hash = ${row.successor}`)
  await database.run(sql`update grants set last_used_at = ${time} where id = ${row.grant_id}`)
  if (issuing.recordsRefresh) {
    const after = { id: row.grant_id, userId: row.user_id, clientId: client.id, scopes }
    const change = { action: 'grant.refreshed', id: row.grant_id, before: null, after } as const
    await recordChange(writingOf(issuing, client.id, row.user_id), change)
  }
  return tokens
}

/** The client probably repeats the exchange because the response was lost. */
function isLostAnswer(row: RefreshRow, usedAt: string, client: OAuthClient, now: Date): boolean {
  const isSoon = now.getTime() - Date.parse(usedAt) < graceMs
  return isSoon && row.client_id === client.id && row.successor !== null && row.successor_used === 0
}

async function issueTokens(
  { database, now }: Issuing,
  { grantId, createdAt, scopes }: { grantId: string; createdAt: string; scopes: readonly Scope[] },
): Promise<IssuedTokens> {
  const accessToken = newCredential('accessToken')
  const refreshToken = newCredential('refreshToken')
  const lastMs = Date.parse(createdAt) + grantDays.max * dayMs
  const unusedMs = Math.min(grantDays.unused * dayMs, lastMs - now.getTime())
  const lifetimeMs = Math.min(accessMs, unusedMs)
  const endsAt = isoAfter(now, unusedMs)
  await database.run(sql`
    insert into access_tokens (hash, grant_id, scopes, expires_at)
    values (${digest(accessToken)}, ${grantId}, ${JSON.stringify(scopes)}, ${isoAfter(now, lifetimeMs)})`)
  await database.run(sql`
    insert into refresh_tokens (hash, grant_id, expires_at) values (${digest(refreshToken)}, ${grantId}, ${endsAt})`)
  await database.run(sql`update grants set expires_at = ${endsAt} where id = ${grantId}`)
  return { accessToken, expiresInSeconds: Math.floor(lifetimeMs / 1000), refreshToken, scopes }
}

function isoAfter(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString()
}

const lifetimeMs = 60 * 60 * 1000
/** Live tokens of an application: the oldest ends when another is issued. */
const maxLive = 100

export interface ClientToken {
  readonly accessToken: string
  readonly expiresInSeconds: number
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
 * RFC 6749 §4.4, without a refresh token. The default scope is all that the application has. Throws `unauthorized_client`
 * for one that acts only for users, and `invalid_scope` if nothing is left.
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
