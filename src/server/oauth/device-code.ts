import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import { oauthPaths } from '../../contract/oauth.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { digest, fingerprint, hmacKeyOf, newCredential } from '../access/secret.ts'
import type { Database, Row } from '../database/database.ts'
import { type IssuedTokens, type Issuing, openGrant } from './issue-tokens.ts'
import { clientRoute, type OAuthClient } from './oauth-client.ts'
import { clientReply, OAuthError } from './oauth-error.ts'
import { grantableScopesOf, parseScopes, readParameter } from './parameters.ts'

/** Added to the interval of a client that polls too fast (RFC 8628 §3.5). */
const slowDownSeconds = 5
// No vowels, which could form words, and no similar characters (RFC 8628 §6.1).
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const userCodeLength = 8

const deviceTiming = { lifetimeSeconds: 600, intervalSeconds: 5 } as const

export interface WaitingDevice {
  readonly client: { readonly id: string; readonly name: string }
  readonly scopes: readonly Scope[]
}

interface DeviceRow extends Row {
  readonly client_id: string
  readonly scopes: string
  readonly expires_at: string
  readonly interval_seconds: number
  readonly polled_at: string | null
  readonly user_id: string | null
  readonly decision: string | null
  readonly role: RoleName | null
  readonly status: string | null
}

/** RFC 8628 §3.2. */
async function newDevice(
  { database, now }: Pick<Issuing, 'database' | 'now'>,
  { id }: OAuthClient,
  scopes: readonly Scope[],
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = newCredential('deviceCode')
  const expiresAt = new Date(now.getTime() + deviceTiming.lifetimeSeconds * 1000).toISOString()
  for (;;) {
    const userCode = newUserCode()
    const made = await database.run(sql`
      insert into device_codes (hash, user_code_hash, client_id, scopes, expires_at, interval_seconds)
      values (${digest(deviceCode)}, ${await hashOf(database, userCode)}, ${id}, ${JSON.stringify(scopes)}, ${expiresAt},
              ${deviceTiming.intervalSeconds})
      on conflict (user_code_hash) do nothing`)
    if (made === 1) return { deviceCode, userCode }
  }
}

/** Letters in two groups (RFC 8628 §6.1). */
export function formatUserCode(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}

export async function findWaitingDevice(
  database: Database,
  now: Date,
  userCode: string,
): Promise<WaitingDevice | undefined> {
  const row = await database.one<{ id: string; name: string; scopes: string }>(sql`
    select c.id, c.name, d.scopes from device_codes d join oauth_clients c on c.id = d.client_id
    where d.user_code_hash = ${await hashOf(database, userCode)} and d.expires_at > ${now.toISOString()}
      and d.decision is null`)
  return row && { client: { id: row.id, name: row.name }, scopes: JSON.parse(row.scopes) as Scope[] }
}

/** False if the device is no longer waiting. */
export async function decideDevice(
  { database, now }: Pick<Issuing, 'database' | 'now'>,
  userCode: string,
  userId: string,
  scopes: readonly Scope[] | null,
): Promise<boolean> {
  const decided = await database.run(sql`
    update device_codes set user_id = ${userId}, decision = ${scopes ? 'allowed' : 'denied'},
      scopes = coalesce(${scopes && JSON.stringify(scopes)}, scopes)
    where user_code_hash = ${await hashOf(database, userCode)} and expires_at > ${now.toISOString()} and decision is null`)
  return decided === 1
}

/**
 * Answers a polling device (RFC 8628 §3.5): tokens, once, or an error. That is returned, to be thrown after
 * the commit, because polling too fast adds five seconds to the interval.
 */
export async function pollDevice(
  issuing: Issuing,
  client: OAuthClient,
  deviceCode: string,
): Promise<IssuedTokens | OAuthError> {
  const { database, now } = issuing
  const time = now.toISOString()
  const hash = digest(deviceCode)
  const row = await database.one<DeviceRow>(sql`
    select d.client_id, d.scopes, d.expires_at, d.interval_seconds, d.polled_at, d.user_id, d.decision, u.role, u.status
    from device_codes d left join users u on u.id = d.user_id
    where d.hash = ${hash}`)
  if (!row || row.client_id !== client.id) {
    return new OAuthError('invalid_grant', 'The device code is unknown.')
  }
  if (row.expires_at <= time) return new OAuthError('expired_token', 'The device code has expired.')
  if (row.decision === null || !row.user_id || !row.role) {
    const waitedMs = row.polled_at ? now.getTime() - Date.parse(row.polled_at) : Number.POSITIVE_INFINITY
    const isEarly = waitedMs < row.interval_seconds * 1000
    await database.run(sql`
      update device_codes set polled_at = ${time}, interval_seconds = interval_seconds + ${isEarly ? slowDownSeconds : 0}
      where hash = ${hash}`)
    return isEarly
      ? new OAuthError('slow_down', 'Polling too fast; wait five more seconds between requests.')
      : new OAuthError('authorization_pending', 'The user has not answered yet.')
  }
  await database.run(sql`delete from device_codes where hash = ${hash}`)
  if (row.decision === 'denied') return new OAuthError('access_denied', 'The request was denied.')
  if (row.status !== 'active') return new OAuthError('access_denied', 'The account is not active.')
  const scopes = grantableScopesOf(JSON.parse(row.scopes) as Scope[], row.role)
  return (await openGrant(issuing, { client, userId: row.user_id, scopes })).tokens
}

function newUserCode(): string {
  const letters = Array.from({ length: userCodeLength }, () => alphabet[randomInt(alphabet.length)] ?? '')
  return formatUserCode(letters.join(''))
}

async function hashOf(database: Database, userCode: string): Promise<string> {
  return fingerprint(await hmacKeyOf(database), Buffer.from(`user code ${formatUserCode(userCode)}`))
}

/** Returns the two codes (RFC 8628 §3.1). */
export const deviceAuthorizationRoute = clientRoute(
  oauthPaths.deviceAuthorization,
  async ({ visit, form, client }) => {
    const scopes = parseScopes(readParameter(form, 'scope'))
    const { academy, request, issuer } = visit
    const { database } = academy
    const { deviceCode, userCode } = await database.write((transaction) =>
      newDevice({ database: transaction, now: request.now }, client, scopes),
    )
    const page = issuer + oauthPaths.device
    return clientReply(200, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: deviceTiming.lifetimeSeconds,
      interval: deviceTiming.intervalSeconds,
    })
  },
)
