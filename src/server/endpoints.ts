import type { Endpoint } from './http/endpoint.ts'

/** Everything that a server answers besides the API: OAuth 2.0 and the dashboard. */
export async function allEndpoints(): Promise<Endpoint[]> {
  const [{ dashboardEndpoints, rootRedirect }, { oauthEndpoints }] = await Promise.all([
    import('./dashboard/endpoints.ts'),
    import('./oauth/oauth-endpoints.ts'),
  ])
  return [...oauthEndpoints, ...dashboardEndpoints, rootRedirect]
}
