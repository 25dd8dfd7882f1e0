import { openapiOf } from '../contract/openapi.ts'
import { service } from '../contract/service.ts'
import { version } from '../contract/version.ts'
import { routesOf } from './http/handler.ts'

export const serviceRoutes = routesOf(service, {
  health: ({ now }) => ({ status: 'ok' as const, version, time: now }),
  openapi: documentOnce(),
})

/** The document is the same for as long as the program runs, and takes eight milliseconds to make. */
function documentOnce(): () => ReturnType<typeof openapiOf> {
  let document: ReturnType<typeof openapiOf> | undefined
  return () => {
    document ??= openapiOf()
    return document
  }
}
