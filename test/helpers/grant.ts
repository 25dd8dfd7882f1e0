import sql from 'sql-template-tag'
import { ownClientId } from '../../src/contract/oauth.ts'
import { digest, newCredential } from '../../src/server/access/secret.ts'
import { idMaker } from '../../src/server/database/id.ts'
import { day, hour, type TestAcademy } from './test-academy.ts'

/** Whom a grant is of, and to which application. */
export interface GrantGiven {
  readonly userId: string
  readonly clientId?: string
  readonly scopes?: readonly string[]
}

/** Keeps a grant with both its tokens as if its user had just signed in. */
export async function giveGrant(
  { database, clock }: TestAcademy,
  given: GrantGiven,
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
