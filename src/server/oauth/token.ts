import { deviceGrantType, oauthPaths } from '../../contract/oauth.ts'
import { mayRecord } from '../http/refusal-bounds.ts'
import { originOf } from '../http/request-context.ts'
import { exchangeCode } from './authorization-code.ts'
import { clientEndpoint } from './client-endpoint.ts'
import { pollDevice } from './device-code.ts'
import { type IssuedTokens, type Issuing, rotate } from './grant-tokens.ts'
import type { OAuthClient } from './oauth-client.ts'
import { clientReply, OAuthError } from './oauth-error.ts'
import { parameter, requiredParameter } from './parameter.ts'
import { askedScopes } from './scope-text.ts'

/** Gives out tokens inside a transaction. A refusal that is to be remembered is given back instead of thrown. */
type Give = (issuing: Issuing, client: OAuthClient) => Promise<IssuedTokens | OAuthError>

/** What each grant type asks of the form; each throws what it misses before anything is written. */
const grantTypes: Readonly<Record<string, (form: URLSearchParams) => Give>> = {
  authorization_code(form) {
    const code = requiredParameter(form, 'code')
    const redirectUri = requiredParameter(form, 'redirect_uri')
    const verifier = parameter(form, 'code_verifier')
    return (issuing, client) => exchangeCode(issuing, client, { code, redirectUri, verifier })
  },
  refresh_token(form) {
    const refreshToken = requiredParameter(form, 'refresh_token')
    const scope = parameter(form, 'scope')
    const asked = scope === undefined ? undefined : askedScopes(scope)
    return (issuing, client) => rotate(issuing, client, refreshToken, asked)
  },
  [deviceGrantType](form) {
    const deviceCode = requiredParameter(form, 'device_code')
    return (issuing, client) => pollDevice(issuing, client, deviceCode)
  },
}

/** The grant types that the token endpoint knows. */
export const grantTypeNames = Object.keys(grantTypes)

/** The token endpoint (RFC 6749 §3.2); each answer is one transaction, so that nothing is given out twice. */
export const tokenEndpoint = clientEndpoint(oauthPaths.token, async ({ visit, form, client }) => {
  const give = giveOf(form)
  const { academy, request } = visit
  const { database, newId } = academy
  const origin = originOf(request)
  const recordsRefresh =
    form.get('grant_type') === 'refresh_token' && mayRecord(visit.limits, 'refresh', request.address)
  const issued = await database.write((transaction) =>
    give({ database: transaction, newId, now: request.now, origin, recordsRefresh }, client),
  )
  if (issued instanceof OAuthError) throw issued
  return clientReply(200, {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresInSeconds,
    refresh_token: issued.refreshToken,
    scope: issued.scopes.join(' '),
  })
})

function giveOf(form: URLSearchParams): Give {
  const name = requiredParameter(form, 'grant_type')
  const read = Object.hasOwn(grantTypes, name) ? grantTypes[name] : undefined
  if (read) return read(form)
  throw new OAuthError('unsupported_grant_type', `The grant_type must be ${grantTypeNames.join(', ')}.`)
}
