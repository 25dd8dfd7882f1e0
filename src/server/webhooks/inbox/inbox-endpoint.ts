import type { Endpoint } from '../../http/endpoint.ts'
import { problemReply } from '../../http/request-context.ts'
import { receive } from './receive.ts'

/** Where other systems send grades and progress. No bearer: each kind of system proves by itself who it is. */
export const inboxEndpoint: Endpoint = {
  method: 'POST',
  path: '/webhooks/:lmsKind/grades',
  countsItself: true,
  refuse: problemReply,
  handle: (visit) => ({ reply: () => receive(visit) }),
}
