import type { Route } from './http/handler.ts'

/**
 * The routes of each resource by the first step of its path, each loaded when it is first asked for. A new
 * resource is one line here.
 */
const routes: Readonly<Record<string, () => Promise<readonly Route[]>>> = {
  courses: async () => (await import('./courses/courses.ts')).courseRoutes,
  lessons: async () => (await import('./courses/lessons.ts')).lessonRoutes,
  users: async () => (await import('./users/users.ts')).userRoutes,
  user: async () => (await import('./users/users.ts')).userRoutes,
  enrollments: async () => (await import('./progress/enrollments.ts')).enrollmentRoutes,
  learners: async () => (await import('./progress/progress.ts')).progressRoutes,
  progress: async () => (await import('./progress/progress.ts')).progressRoutes,
  analytics: async () => (await import('./analytics/analytics.ts')).analyticsRoutes,
  keys: async () => (await import('./credentials/keys.ts')).keyRoutes,
  apps: async () => (await import('./credentials/apps.ts')).appRoutes,
  grants: async () => (await import('./credentials/grants.ts')).grantRoutes,
  health: async () => (await import('./service.ts')).serviceRoutes,
  'openapi.json': async () => (await import('./service.ts')).serviceRoutes,
}

/** The routes of the resource that a path is about; none where there is no such resource. */
export async function routesFor(resource: string): Promise<readonly Route[]> {
  const load = Object.hasOwn(routes, resource) ? routes[resource] : undefined
  return load ? load() : []
}

/** The step that tells which resource a path is about: the first one after `/v1`, or the first one. */
export function resourceIn(path: string): string {
  const steps = (path.split('?', 1)[0] ?? '').split('/')
  return (steps[1] === 'v1' ? steps[2] : steps[1]) ?? ''
}

/** The routes of every resource. */
export async function allRoutes(): Promise<Route[]> {
  const all = await Promise.all(Object.values(routes).map((load) => load()))
  return [...new Set(all.flat())]
}
