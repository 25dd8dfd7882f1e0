import sql from 'sql-template-tag'
import { oauthPaths } from '../../contract/oauth.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { grantable } from '../access/principal.ts'
import { digest } from '../access/secret.ts'
import type { Database, Row } from '../database/database.ts'
import { clientEndpoint } from './client-endpoint.ts'
import { clientReply } from './oauth-error.ts'
import { requiredParameter } from './parameter.ts'

/**
 * The introspection endpoint (RFC 7662): what a token of the client's own allows at this moment. Of everything else, the
 * token of another client and an API key among them, no more is said than that it is not active (§2.2, §4).
 */
export const introspectionEndpoint = clientEndpoint(
  oauthPaths.introspect,
  async ({ visit, form, client }) => {
    const token = requiredParameter(form, 'token')
    const { database, request, issuer } = visit
    const now = request.now.toISOString()
    const found = await liveToken(database, token, client.id, now)
    if (!found) return clientReply(200, { active: false })
    const granted = JSON.parse(found.scopes) as Scope[]
    return clientReply(200, {
      active: true,
      scope: granted.filter((scope) => grantable[found.role].includes(scope)).join(' '),
      client_id: client.id,
      ...(found.kind === 'access' && { token_type: 'Bearer' }),
      exp: Math.floor(Date.parse(found.expires_at) / 1000),
      sub: found.user_id,
      iss: issuer,
    })
  },
)

interface TokenRow extends Row {
  readonly kind: 'access' | 'refresh'
  readonly scopes: string
  readonly expires_at: string
  readonly user_id: string
  readonly role: RoleName
}

async function liveToken(
  database: Database,
  token: string,
  clientId: string,
  now: string,
): Promise<TokenRow | undefined> {
  const hash = digest(token)
  return database.one<TokenRow>(sql`
    select t.kind, coalesce(t.scopes, g.scopes) as scopes, t.expires_at, g.user_id, u.role
    from (
      select 'access' as kind, grant_id, scopes, expires_at from access_tokens where hash = ${hash}
      union all
      select 'refresh', grant_id, null, expires_at from refresh_tokens where hash = ${hash} and used_at is null
    ) t join grants g on g.id = t.grant_id join users u on u.id = g.user_id
    where g.client_id = ${clientId} and g.revoked_at is null and t.expires_at > ${now} and u.status = 'active'`)
}
