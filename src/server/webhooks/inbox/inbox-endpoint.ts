import type { Endpoint } from '../../http/endpoint.ts'
import { problemReply } from '../../http/request-context.ts'

/** Where other systems send grades and progress. No bearer: each kind of system proves by itself who it is. */
export const inboxEndpoint: Endpoint = {
  method: 'POST',
  path: '/webhooks/:lmsKind/grades',
  countsItself: true,
  refuse: problemReply,
  handle: (visit) => ({ reply: async () => (await receiving()).receive(visit) }),
}

let loaded: Promise<typeof import('./receive.ts')> | undefined

/** What a delivery takes, loaded by the first one: an academy in a process has mostly none. */
function receiving(): Promise<typeof import('./receive.ts')> {
  // To ask the loader again takes as long as a statement.
  loaded ??= import('./receive.ts')
  return loaded
}
