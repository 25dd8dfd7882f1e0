import type { Endpoint } from './http/endpoint.ts'

/** Loads all endpoints besides the API: webhooks of other systems, OAuth 2.0 and the dashboard. */
export async function allEndpoints(): Promise<Endpoint[]> {
  const [{ dashboardEndpoints, rootRedirect }, { oauthEndpoints }, { inboxEndpoint }] = await Promise.all([
    import('./dashboard/pages.ts'),
    import('./oauth/oauth-endpoints.ts'),
    import('./integrations/inbox-endpoint.ts'),
  ])
  return [inboxEndpoint, ...oauthEndpoints, ...dashboardEndpoints, rootRedirect]
}
