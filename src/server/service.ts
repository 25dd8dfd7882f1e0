import { openapiOf } from '../contract/openapi.ts'
import { service } from '../contract/service.ts'
import { version } from '../contract/version.ts'
import { routesOf } from './call.ts'

/** The service about itself. */
export const serviceRoutes = routesOf(service, {
  health: ({ now }) => ({ status: 'ok' as const, version, time: now }),
  openapi: () => openapiOf(),
})
