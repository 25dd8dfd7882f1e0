import type { Endpoint, EndpointRequest } from '../http/endpoint.ts'
import type { Reply } from '../http/reply.ts'
import type { Bucket } from '../http/request-context.ts'
import { principalOf, type Visitor, visitorOf } from './browser-session.ts'
import { refusalPage } from './page.tsx'

/** What answers a browser at a path: told who its visitor is, and refusing with a page. */
export interface PageEndpoint extends Pick<Endpoint, 'method' | 'path'> {
  readonly handle: (visit: EndpointRequest, visitor: Visitor) => Reply | Promise<Reply>
}

/** An endpoint for browsers. */
export function pageEndpoint({ method, path, handle }: PageEndpoint): Endpoint {
  return {
    method,
    path,
    refuse: refusalPage,
    async handle(visit) {
      const visitor = await visitorOf(visit)
      const principal = visitor.user ? principalOf(visitor.user) : undefined
      // What is thrown here is a refusal, of which the log has to say whose request it was.
      // What somebody does who is signed in is not counted with what others do behind the same address.
      const bucket: Bucket | undefined = visitor.user ? { kind: 'known', name: visitor.user.id } : undefined
      return { principal, bucket, reply: async () => handle(visit, visitor) }
    },
  }
}
