import { oauthPaths } from '../../contract/oauth.ts'
import { clientEndpoint } from './client-endpoint.ts'
import { deviceTiming, newDevice } from './device-code.ts'
import { clientReply } from './oauth-error.ts'
import { parameter } from './parameter.ts'
import { askedScopes } from './scope-text.ts'

/** Where a device asks for its two codes (RFC 8628 §3.1). */
export const deviceAuthorizationEndpoint = clientEndpoint(
  oauthPaths.deviceAuthorization,
  async ({ visit, form, client }) => {
    const scopes = askedScopes(parameter(form, 'scope'))
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
