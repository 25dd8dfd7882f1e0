import type { Bucket } from '../http/limits.ts'
import type { Reply } from '../http/reply.ts'
import type { Visit, WebRoute } from '../http/web-route.ts'
import { principalOf, type Visitor, visitorOf } from './browser-session.ts'
import { refusalPage } from './page.tsx'

/** A page: its handler receives the visitor, and errors are shown as a page. */
export interface PageRoute extends Pick<WebRoute, 'method' | 'path'> {
  readonly handle: (visit: Visit, visitor: Visitor) => Reply | Promise<Reply>
}

/** Creates a web route for browsers. */
export function pageRoute({ method, path, handle }: PageRoute): WebRoute {
  return {
    method,
    path,
    refuse: refusalPage,
    async handle(visit) {
      const visitor = await visitorOf(visit)
      const principal = visitor.user ? principalOf(visitor.user) : undefined
      // `reply` runs later, so that the log names the user of a request that it refuses.
      // Signed-in users have their own rate limit, apart from other visitors at the same address.
      const bucket: Bucket | undefined = visitor.user ? { kind: 'known', name: visitor.user.id } : undefined
      return { principal, bucket, reply: async () => handle(visit, visitor) }
    },
  }
}
