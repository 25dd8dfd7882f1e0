import sql from 'sql-template-tag'
import { scopes } from '../../contract/constants.ts'
import { deviceGrantType, oauthPaths } from '../../contract/oauth.ts'
import type { RoleName, Scope } from '../../contract/operation.ts'
import { grantable } from '../access/principal.ts'
import { digest } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import { revokeGrant } from '../credentials/grants.ts'
import type { Database, Row } from '../database/database.ts'
import { mayRecordRefusal } from '../http/limits.ts'
import type { Reply } from '../http/reply.ts'
import { originOf } from '../http/request-context.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { ProblemError } from '../problem-error.ts'
import { exchangeCode, promptValues } from './authorization-code.ts'
import { pollDevice } from './device.tsx'
import {
  type ClientToken,
  findClientToken,
  type IssuedTokens,
  type Issuing,
  issueClientToken,
  rotateRefreshToken,
  writingOf,
} from './issue-tokens.ts'
import {
  clientReply,
  clientRoute,
  type OAuthClient,
  OAuthError,
  parseScopes,
  readParameter,
  readRequiredParameter,
} from './oauth-client.ts'

/** Issues tokens in a transaction. Returns, instead of throwing, a refusal whose writes must be committed. */
type Issue = (issuing: Issuing, client: OAuthClient) => Promise<IssuedTokens | ClientToken | OAuthError>

/** Throws before anything is written if a parameter is missing. */
const grantTypes: Readonly<Record<string, (form: URLSearchParams) => Issue>> = {
  authorization_code(form) {
    const code = readRequiredParameter(form, 'code')
    const redirectUri = readRequiredParameter(form, 'redirect_uri')
    const verifier = readParameter(form, 'code_verifier')
    return (issuing, client) => exchangeCode(issuing, client, { code, redirectUri, verifier })
  },
  refresh_token(form) {
    const refreshToken = readRequiredParameter(form, 'refresh_token')
    const scope = readParameter(form, 'scope')
    const asked = scope === undefined ? undefined : parseScopes(scope)
    return (issuing, client) => rotateRefreshToken(issuing, client, refreshToken, asked)
  },
  client_credentials(form) {
    const scope = readParameter(form, 'scope')
    return (issuing, client) => issueClientToken(issuing, client, scope)
  },
  [deviceGrantType](form) {
    const deviceCode = readRequiredParameter(form, 'device_code')
    return (issuing, client) => pollDevice(issuing, client, deviceCode)
  },
}

export const grantTypeNames = Object.keys(grantTypes)

/** RFC 6749 §3.2. Each request is one transaction, so that a code or token is used only once. */
export const tokenRoute = clientRoute(oauthPaths.token, async ({ visit, form, client }) => {
  const issue = readGrant(form)
  const { academy, request } = visit
  const { database, newId } = academy
  const origin = originOf(request)
  const recordsRefresh =
    form.get('grant_type') === 'refresh_token' && mayRecordRefusal(visit.limits, 'refresh', request.address)
  const issued = await database.write((transaction) =>
    issue({ database: transaction, newId, now: request.now, origin, recordsRefresh }, client),
  )
  if (issued instanceof OAuthError) throw issued
  return clientReply(200, {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresInSeconds,
    ...('refreshToken' in issued && { refresh_token: issued.refreshToken }),
    scope: issued.scopes.join(' '),
  })
})

function readGrant(form: URLSearchParams): Issue {
  const name = readRequiredParameter(form, 'grant_type')
  const read = Object.hasOwn(grantTypes, name) ? grantTypes[name] : undefined
  if (read) return read(form)
  throw new OAuthError('unsupported_grant_type', `The grant_type must be ${grantTypeNames.join(', ')}.`)
}

/** RFC 7662. Tokens of other clients and API keys are reported as inactive (§2.2, §4). */
export const introspectionRoute = clientRoute(oauthPaths.introspect, async ({ visit, form, client }) => {
  const token = readRequiredParameter(form, 'token')
  const { database, request, issuer } = visit
  const now = request.now.toISOString()
  const found = await findLiveToken(database, token, client.id, now)
  if (!found)
    return clientReply(200, await introspectClientToken(database, token, client, request.now, issuer))
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
})

async function introspectClientToken(
  database: Database,
  token: string,
  { id }: OAuthClient,
  now: Date,
  issuer: string,
): Promise<object> {
  const found = await findClientToken(database, token, now)
  if (found?.clientId !== id) return { active: false }
  const exp = Math.floor(Date.parse(found.expiresAt) / 1000)
  const scope = found.scopes.join(' ')
  return { active: true, scope, client_id: id, token_type: 'Bearer', exp, sub: id, iss: issuer }
}

interface TokenRow extends Row {
  readonly kind: 'access' | 'refresh'
  readonly scopes: string
  readonly expires_at: string
  readonly user_id: string
  readonly role: RoleName
}

async function findLiveToken(
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

/**
 * RFC 7009. A refresh token revokes its grant, an access token only itself (§2.1): dropping one is not signing out.
 * Returns 200 for unknown tokens.
 */
export const revocationRoute = clientRoute(oauthPaths.revoke, async ({ visit, form, client }) => {
  const hash = digest(readRequiredParameter(form, 'token'))
  const { academy, request } = visit
  const { database, newId } = academy
  await database.write((transaction) =>
    revokeToken(
      { database: transaction, newId, now: request.now, origin: originOf(request) },
      hash,
      client.id,
    ),
  )
  return clientReply(200, {})
})

interface Owner extends Row {
  readonly grant_id: string
  readonly client_id: string
  readonly user_id: string
}

/** Throws `invalid_grant` for a token of another client, which stays valid (RFC 7009 §2.1). */
async function revokeToken(issuing: Issuing, hash: string, clientId: string): Promise<void> {
  const { database } = issuing
  const refresh = await database.one<Owner>(sql`
    select t.grant_id, g.client_id, g.user_id from refresh_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`)
  const access = await database.one<Owner>(sql`
    select t.grant_id, g.client_id, g.user_id from access_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`)
  const owner = refresh ?? access
  if (!owner) {
    await database.run(sql`delete from client_tokens where hash = ${hash} and client_id = ${clientId}`)
    return
  }
  if (owner.client_id !== clientId) {
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

const clientAuthentication = ['none', 'client_secret_basic', 'client_secret_post']

/**
 * RFC 8414 and RFC 9728, each at both URLs where clients look if the issuer has a path: after the well-known part (§3.1
 * of both), and before it, which is what a proxy of that path forwards.
 */
export const metadataRoutes: readonly WebRoute[] = [
  ...documentAt(oauthPaths.metadata, serverMetadata),
  ...documentAt(oauthPaths.resourceMetadata, resourceMetadata),
]

function documentAt(place: WebRoute['path'], document: (visit: Visit) => object): WebRoute[] {
  const reply = (visit: Visit): Reply => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(document(visit)),
  })
  return [
    { method: 'GET', path: place, handle: reply },
    {
      method: 'GET',
      path: `${place}/*`,
      handle(visit) {
        const { path } = visit.request
        if (path === place + visit.base) return reply(visit)
        throw new ProblemError('not_found', `Path ${path} not found.`)
      },
    },
  ]
}

function serverMetadata({ issuer }: Visit): object {
  return {
    issuer,
    authorization_endpoint: issuer + oauthPaths.authorize,
    token_endpoint: issuer + oauthPaths.token,
    revocation_endpoint: issuer + oauthPaths.revoke,
    introspection_endpoint: issuer + oauthPaths.introspect,
    device_authorization_endpoint: issuer + oauthPaths.deviceAuthorization,
    // Scopes of machines are left out: clients sign users in with all scopes that are listed.
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypeNames,
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: promptValues,
    protected_resources: [issuer],
  }
}

/** RFC 9728 §2. */
function resourceMetadata({ issuer }: Visit): object {
  return {
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
}
