import type { Endpoint, EndpointRequest } from '../http/endpoint.ts'
import { recordRefusal } from '../http/refusal.ts'
import type { Reply } from '../http/reply.ts'
import { readForm } from '../http/request-body.ts'
import { count } from '../http/request-context.ts'
import { authenticateClient, type OAuthClient } from './oauth-client.ts'
import { OAuthError, refusalReply, refuseAsOAuth } from './oauth-error.ts'

/** A request of an authenticated client. */
interface ClientRequest {
  readonly visit: EndpointRequest
  readonly client: OAuthClient
  readonly form: URLSearchParams
}

/**
 * Creates an endpoint that takes a form, authenticates the client, and returns errors as in RFC 6749 §5.2.
 */
export function clientEndpoint(
  path: Endpoint['path'],
  answer: (request: ClientRequest) => Reply | Promise<Reply>,
): Endpoint {
  return {
    method: 'POST',
    path,
    refuse: refuseAsOAuth,
    countsItself: true,
    handle: (visit) => ({ reply: () => answered(visit, answer) }),
  }
}

async function answered(
  visit: EndpointRequest,
  answer: (request: ClientRequest) => Reply | Promise<Reply>,
): Promise<Reply> {
  try {
    const form = await readForm(visit.request.raw)
    const client = await authenticateClient(visit, form)
    // Any program can use the id of a public client, so these requests are counted by network.
    count(
      visit.limits,
      client.isPublic ? { kind: 'signIn', name: visit.request.address } : { kind: 'known', name: client.id },
    )
    return await answer({ visit, form, client })
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'invalid_client') {
      const details = { operation: `POST ${visit.request.path}`, code: error.code }
      const refused = { action: 'request.refused', subjectId: null, details } as const
      await recordRefusal(visit.academy, visit.limits, visit.request, refused)
    }
    if (error instanceof OAuthError) return refusalReply(error)
    throw error
  }
}
