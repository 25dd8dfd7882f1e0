import type { WebRoute } from '../http/web-route.ts'

/** Needs no bearer token: each kind of system has its own proof. */
export const inboxRoute: WebRoute = {
  method: 'POST',
  path: '/webhooks/:lmsKind/grades',
  countsItself: true,
  handle: async (visit) => (await loadReceiving()).receive(visit),
}

let loaded: Promise<typeof import('./receive-delivery.ts')> | undefined

/** Loads the receiving code on first use: an academy in a process mostly needs none. */
function loadReceiving(): Promise<typeof import('./receive-delivery.ts')> {
  // Cached, because import() takes as long as a statement.
  loaded ??= import('./receive-delivery.ts')
  return loaded
}
