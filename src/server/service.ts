import { openapiOf } from '../contract/openapi.ts'
import { service } from '../contract/service.ts'
import { version } from '../contract/version.ts'
import { routesOf } from './http/handler.ts'
import { Constant } from './http/reply.ts'

export const serviceRoutes = routesOf(service, {
  health: ({ now }) => ({ status: 'ok' as const, version, time: now }),
  openapi: documentOnce(),
})

/** The document is the same for as long as the program runs, and takes milliseconds to make, write and hash. */
function documentOnce(): () => Constant {
  let document: Constant | undefined
  return () => {
    document ??= new Constant(openapiOf())
    return document
  }
}
