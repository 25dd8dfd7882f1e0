import type { Endpoint } from './endpoint.ts'

/** Everything that a server answers besides the API: OAuth 2.0 and the dashboard. */
export async function allEndpoints(): Promise<Endpoint[]> {
  const { dashboardEndpoints } = await import('./dashboard/endpoints.ts')
  return [...dashboardEndpoints]
}
