import { openapiOf } from '../contract/openapi/openapi.ts'
import { service } from '../contract/service.ts'
import { version } from '../contract/version.ts'
import { requireAnswering } from './database/health.ts'
import type { Call } from './http/handler.ts'
import { Written } from './http/reply.ts'
import { routesOf } from './http/schema-routes.ts'

// The server is up even if its database is not, so no handler here may wait for that.
export const serviceRoutes = routesOf(service, {
  health: { isUntransacted: true, handle: stateOf },
  ready: {
    isUntransacted: true,
    async handle(call) {
      await requireAnswering(call.database)
      return stateOf(call)
    },
  },
  openapi: { isUntransacted: true, handle: openapiDocument },
})

function stateOf({ now }: Pick<Call, 'now'>) {
  return { status: 'ok' as const, version, time: now }
}

/** Written once: it never changes, and that takes milliseconds. */
let document: Written | undefined

function openapiDocument(): Written {
  document ??= new Written(JSON.stringify(openapiOf()), {})
  return document
}
