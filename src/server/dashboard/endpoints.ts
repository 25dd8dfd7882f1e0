import type { Endpoint } from '../endpoint.ts'
import { coursePage } from './course.tsx'
import { type DashboardPage, endpointsOf, noPage, signOut } from './dashboard-page.ts'
import { overview } from './overview.tsx'

/** Every page of the dashboard. */
export const dashboardPages: readonly DashboardPage[] = [overview, coursePage]

/** Everything at /dashboard. */
export const dashboardEndpoints: readonly Endpoint[] = [
  ...dashboardPages.flatMap(endpointsOf),
  signOut,
  noPage,
]
