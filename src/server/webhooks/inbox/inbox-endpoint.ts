import type { Endpoint } from '../../http/endpoint.ts'
import { problemReply } from '../../http/request-context.ts'

/** Where other systems send grades and progress. No bearer: each kind of system proves by itself who it is. */
export const inboxEndpoint: Endpoint = {
  method: 'POST',
  path: '/webhooks/:lmsKind/grades',
  countsItself: true,
  refuse: problemReply,
  // What it takes is loaded by the first delivery: an academy in a process has mostly none.
  handle: (visit) => ({ reply: async () => (await import('./receive.ts')).receive(visit) }),
}
