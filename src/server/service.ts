import { openapiOf } from '../contract/openapi/openapi.ts'
import { service } from '../contract/service.ts'
import { version } from '../contract/version.ts'
import { requireAnswering } from './database/health.ts'
import type { Call } from './http/handler.ts'
import { Constant } from './http/reply.ts'
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
  openapi: { isUntransacted: true, handle: createDocumentHandler() },
})

function stateOf({ now }: Pick<Call, 'now'>) {
  return { status: 'ok' as const, version, time: now }
}

/**
 * Returns a function that makes the document once: it never changes, and takes milliseconds to write and
 * hash.
 */
function createDocumentHandler(): () => Constant {
  let document: Constant | undefined
  return () => {
    document ??= new Constant(openapiOf())
    return document
  }
}
