import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import Provider, { type Configuration } from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'
import { deviceGrantType } from '../../src/contract/oauth.ts'
import { listen } from '../helpers/listen.ts'

/** An authorization server on a loopback port, with an API that only has the profile of the user. */
export interface ForeignServer {
  readonly url: string
  close(): void
}

const secret = 'a-secret-of-the-tests'

/** The default adapter under another name: oidc-provider warns about its own. */
class Memory extends MemoryAdapter {}

const hourSeconds = 3600

/** Starts oidc-provider, configured for this program. */
export async function startOidcProvider(): Promise<ForeignServer> {
  const server = createServer()
  const { url, close } = await listen(server)
  const provider = new Provider(url, configuration())
  const handle = provider.callback()
  server.on('request', async (request, response) => {
    const path = request.url ?? ''
    if (path.startsWith('/interaction/')) await decide(provider, request, response)
    else if (path === '/v1/user/profile') await showProfile(provider, request, response)
    else await handle(request, response)
  })
  return { url, close }
}

function configuration(): Configuration {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const grants = ['authorization_code', 'refresh_token', deviceGrantType]
  const registered = { grant_types: grants, response_types: ['code'] as const }
  const showForm = (context: { body?: unknown }, form: string) => {
    context.body = form
  }
  return {
    adapter: Memory,
    clients: [
      {
        ...registered,
        client_id: 'learnctl',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
      },
      {
        ...registered,
        client_id: 'confidential',
        client_secret: secret,
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/back'],
      },
    ],
    // More scopes than this program requests by itself, because it cannot know that this server would grant a part.
    scopes: ['read', 'write', 'admin'],
    ttl: {
      AccessToken: hourSeconds,
      RefreshToken: 24 * hourSeconds,
      Session: 24 * hourSeconds,
      Grant: 24 * hourSeconds,
      Interaction: hourSeconds,
      DeviceCode: 600,
    },
    jwks: { keys: [key] },
    cookies: { keys: ['of-the-tests'] },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async () => true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: async (context, form) => showForm(context, form),
        userCodeConfirmSource: async (context, form) => showForm(context, form),
        successSource: async (context) => showForm(context, 'done'),
      },
    },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  }
}

/** Actions of the user on the pages for sign-in and consent. */
async function decide(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'ada' } })
    return
  }
  const clientId = String(params['client_id'])
  // Extend the existing grant, as the server's own example does: one grant for each browser session.
  const before = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const grant = before ?? new provider.Grant({ clientId, ...(session && { accountId: session.accountId }) })
  grant.addOIDCScope(String(params['scope']))
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

async function showProfile(
  provider: Provider,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = await provider.AccessToken.find(headers.authorization?.replace('Bearer ', '') ?? '')
  response.writeHead(token ? 200 : 401, { 'content-type': 'application/json' })
  response.end(JSON.stringify(token ? { id: token.accountId } : { message: 'Invalid token' }))
}

/** Secret of the client `confidential`. */
export { secret as clientSecret }
