import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import type { StoredCredential, StoredTokens } from '../../src/config/profiles.ts'
import { oauthPaths, ownClientId } from '../../src/contract/oauth.ts'
import type { Scope } from '../../src/contract/operation.ts'
import { nowhere } from '../../src/server/access/principal.ts'
import { digest, newCredential } from '../../src/server/access/secret.ts'
import type { Store } from '../../src/server/database/database.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { openGrant } from '../../src/server/oauth/issue-tokens.ts'
import { findClient } from '../../src/server/oauth/oauth-client.ts'
import { day, hour, type TestAcademy } from './test-academy.ts'

/** Starts a session in the academy at this URL as signing in does; returns what the program would store. */
export async function startSession(
  database: Store,
  given: { userId: string; url: string; now: () => Date; scopes?: readonly Scope[] },
): Promise<StoredTokens> {
  const { userId, url, now, scopes = ['read', 'write'] } = given
  const client = await findClient(database, ownClientId)
  if (!client) throw new Error('the academy does not know this program')
  const issuing = { now: now(), newId: idMaker(now), origin: nowhere }
  const { tokens } = await database.write((transaction) =>
    openGrant({ ...issuing, database: transaction }, { client, userId, scopes }),
  )
  return storedTokens(url, {
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    scopes: tokens.scopes,
    expiresAt: new Date(now().getTime() + tokens.expiresInSeconds * 1000).toISOString(),
  })
}

/** Returns tokens as they are stored, issued when the tests begin and valid for an hour by default. */
export function storedTokens(url: string, given: Partial<StoredTokens> = {}): StoredTokens {
  return {
    kind: 'oauth',
    origin: new URL(url).origin,
    storedAt: '2026-03-01T12:00:00.000Z',
    accessToken: 'access-1',
    refreshToken: 'refresh-1',
    expiresAt: '2026-03-01T13:00:00.000Z',
    lifetimeSeconds: 3600,
    scopes: ['read', 'write'],
    issuer: url,
    clientId: ownClientId,
    tokenEndpoint: url + oauthPaths.token,
    revocationEndpoint: url + oauthPaths.revoke,
    ...given,
  }
}

/** Adds a profile with this credential to a configuration directory and makes it the active one. */
export function storeProfile(
  config: string,
  url: string,
  credential?: StoredCredential,
  name = 'school',
): void {
  mkdirSync(config, { recursive: true, mode: 0o700 })
  const path = join(config, 'profiles.json')
  const before = readProfiles(config)
  const profiles = { ...before, [name]: { url, ...(credential && { credential }) } }
  writeFileSync(path, JSON.stringify({ version: 1, active: name, profiles }), { mode: 0o600 })
}

/** Reads the profiles in a configuration directory. */
export function readProfiles(config: string): Record<string, { url: string; credential?: StoredCredential }> {
  try {
    return JSON.parse(readFileSync(join(config, 'profiles.json'), 'utf8')).profiles
  } catch (error) {
    if (error instanceof SyntaxError) throw error
    return {}
  }
}

/** Returns the stored tokens of a profile; undefined if it has none. */
export function tokensIn(config: string, name = 'school'): StoredTokens | undefined {
  const credential = readProfiles(config)[name]?.credential
  return credential?.kind === 'oauth' ? credential : undefined
}

/** Stores a grant with both its tokens, as if its user had just signed in. */
export async function createGrant(
  { database, clock }: TestAcademy,
  given: { userId: string; clientId?: string; scopes?: readonly string[] },
): Promise<{ id: string; accessToken: string }> {
  const { userId, clientId = ownClientId, scopes = ['read'] } = given
  const { now } = clock
  const id = idMaker(now)('gnt')
  const accessToken = newCredential('accessToken')
  const after = (ms: number) => new Date(now().getTime() + ms).toISOString()
  const listed = JSON.stringify(scopes)
  await database.run(sql`
    insert into grants (id, client_id, user_id, scopes, created_at, expires_at)
    values (${id}, ${clientId}, ${userId}, ${listed}, ${after(0)}, ${after(90 * day)})`)
  await database.run(sql`
    insert into access_tokens (hash, grant_id, scopes, expires_at)
    values (${digest(accessToken)}, ${id}, ${listed}, ${after(hour)})`)
  await database.run(sql`
    insert into refresh_tokens (hash, grant_id, expires_at)
    values (${digest(newCredential('refreshToken'))}, ${id}, ${after(30 * day)})`)
  return { id, accessToken }
}
