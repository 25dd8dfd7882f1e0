import type { Contract } from '../contract/index.ts'
import type { Regrade } from './courses/courses.ts'
import type { Route } from './http/handler.ts'
import type { WebRoute } from './http/web-route.ts'

type Group = keyof Contract

// Loaded only by a course whose criteria change.
const regrade: Regrade = async (...change) => (await import('./grades/regrade.ts')).regradeCourse(...change)

/** Cached, because an app caches its router by these routes. */
let courseRoutes: readonly Route[] | undefined

/** A group without routes does not compile. */
const routes: Readonly<Record<Group, () => Promise<readonly Route[]>>> = {
  courses: async () => (courseRoutes ??= (await import('./courses/courses.ts')).courseRoutesWith(regrade)),
  lessons: async () => (await import('./courses/lessons.ts')).lessonRoutes,
  users: async () => (await import('./users/users.ts')).userRoutes,
  terms: async () => (await import('./courses/terms.ts')).termRoutes,
  enrollments: async () => (await import('./progress/enrollments.ts')).enrollmentRoutes,
  groups: async () => (await import('./groups/groups.ts')).groupRoutes,
  progress: async () => (await import('./progress/progress.ts')).progressRoutes,
  grades: async () => (await import('./grades/grades.ts')).gradeRoutes,
  analytics: async () => (await import('./analytics/analytics.ts')).analyticsRoutes,
  calendars: async () => (await import('./calendars/calendars.ts')).calendarRoutes,
  keys: async () => (await import('./credentials/keys.ts')).keyRoutes,
  apps: async () => (await import('./credentials/apps.ts')).appRoutes,
  grants: async () => (await import('./credentials/grants.ts')).grantRoutes,
  endpoints: async () => (await import('./events/endpoints.ts')).endpointRoutes,
  messages: async () => (await import('./events/messages.ts')).messageRoutes,
  integrations: async () => (await import('./integrations/integrations.ts')).integrationRoutes,
  audit: async () => (await import('./audit/audit-log.ts')).auditRoutes,
  changes: async () => (await import('./audit/changes.ts')).changeRoutes,
  plans: async () => (await import('./plans/plans.ts')).planRoutes,
  undo: async () => (await import('./plans/undo.ts')).undoRoutes,
  settings: async () => (await import('./settings.ts')).settingsRoutes,
  leases: async () => (await import('./leases.ts')).leaseRoutes,
  deliveries: async () => (await import('./integrations/deliveries.ts')).deliveryRoutes,
  service: async () => (await import('./service.ts')).serviceRoutes,
}

/** For requests without parameters, which need no schemas. */
const plainRoutes: Partial<typeof routes> = {
  courses: async () => (await import('./courses/course-reads.ts')).plainCourseRoutes,
  users: async () => (await import('./users/user-reads.ts')).plainUserRoutes,
  progress: async () => (await import('./progress/progress-reads.ts')).plainProgressRoutes,
}

type PathOf<Operations> = Operations[keyof Operations] extends { readonly path: infer Path } ? Path : never

type FirstStep<Path> = Path extends `/v1/webhooks/${infer Rest}`
  ? `webhooks/${FirstStep<`/${Rest}`>}`
  : Path extends `/v1/${infer Rest}`
    ? FirstStep<`/${Rest}`>
    : Path extends `/${infer Step}/${string}`
      ? Step
      : Path extends `/${infer Step}`
        ? Step
        : never

/** By first step of a path. A missing step of the contract does not compile. */
const groupAt: { readonly [Name in Group as FirstStep<PathOf<Contract[Name]>>]: Name } = {
  courses: 'courses',
  'deleted-courses': 'courses',
  lessons: 'lessons',
  'deleted-lessons': 'lessons',
  users: 'users',
  user: 'users',
  terms: 'terms',
  enrollments: 'enrollments',
  groups: 'groups',
  'deleted-groups': 'groups',
  memberships: 'groups',
  learners: 'progress',
  progress: 'progress',
  grades: 'grades',
  gradebooks: 'grades',
  analytics: 'analytics',
  calendars: 'calendars',
  keys: 'keys',
  apps: 'apps',
  grants: 'grants',
  'webhooks/endpoints': 'endpoints',
  'webhooks/messages': 'messages',
  integrations: 'integrations',
  audit: 'audit',
  changes: 'changes',
  plans: 'plans',
  undo: 'undo',
  settings: 'settings',
  'webhooks/deliveries': 'deliveries',
  'apply-lease': 'leases',
  health: 'service',
  ready: 'service',
  'openapi.json': 'service',
}

/**
 * Returns the routes of the group with this first step; none for an unknown one. `isPlain` requests only
 * those without parameters, if they are separate.
 */
export async function routesFor(step: string, isPlain = false): Promise<readonly Route[]> {
  if (!Object.hasOwn(groupAt, step)) return []
  const group = groupAt[step as keyof typeof groupAt]
  return ((isPlain ? plainRoutes[group] : undefined) ?? routes[group])()
}

/**
 * Returns the first step of a path after `/v1`, which identifies its resource; two steps below `webhooks`.
 */
export function resourceIn(path: string): string {
  const [, first = '', ...rest] = (path.split('?', 1)[0] ?? '').split('/')
  if (first !== 'v1') return first
  return rest.slice(0, rest[0] === 'webhooks' ? 2 : 1).join('/')
}

export async function loadAllRoutes(): Promise<Route[]> {
  return (await Promise.all(Object.values(routes).map((load) => load()))).flat()
}

/** Besides the API: deliveries of other systems, calendars, OAuth 2.0, OneRoster and the dashboard. */
export async function loadAllWebRoutes(): Promise<WebRoute[]> {
  const [
    { inboxRoute },
    { calendarRoute },
    { authorizationRoutes },
    { tokenRoute, revocationRoute, introspectionRoute },
    { deviceAuthorizationRoute, deviceRoutes },
    { metadataRoutes },
    { oneRosterRoutes },
    { dashboardRoutes, rootRedirect },
  ] = await Promise.all([
    import('./integrations/inbox-route.ts'),
    import('./calendars/calendars.ts'),
    import('./oauth/authorize.ts'),
    import('./oauth/token-routes.ts'),
    import('./oauth/device.tsx'),
    import('./oauth/token-routes.ts'),
    import('./oneroster/routes.ts'),
    import('./dashboard/pages.ts'),
  ])
  return [
    inboxRoute,
    calendarRoute,
    ...authorizationRoutes,
    tokenRoute,
    revocationRoute,
    introspectionRoute,
    deviceAuthorizationRoute,
    ...deviceRoutes,
    ...metadataRoutes,
    ...oneRosterRoutes,
    ...dashboardRoutes,
    rootRedirect,
  ]
}
