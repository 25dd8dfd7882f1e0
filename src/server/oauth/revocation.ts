import sql from 'sql-template-tag'
import { oauthPaths } from '../../contract/oauth.ts'
import { digest } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import { revokeGrant } from '../credentials/grants.ts'
import type { Row } from '../database/database.ts'
import { originOf } from '../http/request-context.ts'
import { clientEndpoint } from './client-endpoint.ts'
import { type Issuing, writingOf } from './grant-tokens.ts'
import { clientReply, OAuthError } from './oauth-error.ts'
import { requiredParameter } from './parameter.ts'

/**
 * The revocation endpoint (RFC 7009). A refresh token ends its whole grant; an access token ends alone, as §2.1 lets a
 * server choose, because a client that drops one has not signed out. What is not known is revoked already: 200.
 */
export const revocationEndpoint = clientEndpoint(oauthPaths.revoke, async ({ visit, form, client }) => {
  const hash = digest(requiredParameter(form, 'token'))
  const { academy, request } = visit
  const { database, newId } = academy
  await database.write((transaction) =>
    revoke({ database: transaction, newId, now: request.now, origin: originOf(request) }, hash, client.id),
  )
  return clientReply(200, {})
})

interface Owner extends Row {
  readonly grant_id: string
  readonly client_id: string
  readonly user_id: string
}

/** Throws `invalid_grant` for the token of another client, which stays (RFC 7009 §2.1). */
async function revoke(issuing: Issuing, hash: string, clientId: string): Promise<void> {
  const { database } = issuing
  const refresh = await database.one<Owner>(sql`
    select t.grant_id, g.client_id, g.user_id from refresh_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`)
  const access = await database.one<Owner>(sql`
    select t.grant_id, g.client_id, g.user_id from access_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`)
  const owner = refresh ?? access
  if (owner && owner.client_id !== clientId) {
    throw new OAuthError('invalid_grant', 'The token was issued to another client.')
  }
  if (refresh) await revokeGrant(writingOf(issuing, clientId, refresh.user_id), refresh.grant_id)
  else if (access) {
    await database.run(sql`delete from access_tokens where hash = ${hash}`)
    const { grant_id: id, user_id: userId } = access
    const before = { id, userId, clientId }
    await recordChange(writingOf(issuing, clientId, userId), {
      action: 'grant.token_revoked',
      id,
      before,
      after: null,
    })
  }
}
