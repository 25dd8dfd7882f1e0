import { readProxies } from '../../codec/proxy.ts'
import type { Store } from '../database/database.ts'
import type { Reach } from '../outgoing/address-guard.ts'
import { targetsOf } from '../outgoing/guarded-connect.ts'
import { Dispatcher, type DispatcherParts } from './dispatcher.ts'
import { openSender } from './send.ts'

/** The outbox of a served academy, which looks for messages after each commit. */
interface ServedOutbox {
  readonly database: Store
  stop(): Promise<void>
}

/** Sends queued messages while an academy is served, within its reach. */
export function serveOutbox({
  reach,
  ...parts
}: Omit<DispatcherParts, 'sender'> & { readonly reach: Reach }): ServedOutbox {
  const { database } = parts
  const sender = openSender(targetsOf(reach), readProxies(reach.env ?? {}))
  const dispatcher = new Dispatcher({ ...parts, sender })
  return {
    database: {
      ...database,
      read(work) {
        dispatcher.asked()
        return database.read(work)
      },
      async write(work) {
        dispatcher.asked()
        const result = await database.write(work)
        dispatcher.wake()
        return result
      },
    },
    stop: () => dispatcher.stop(),
  }
}
