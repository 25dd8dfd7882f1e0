import type { Transport } from '../../contract/http.ts'
import { localPrincipal } from '../access/identify.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import { academySealing } from '../access/sealing.ts'
import { captureEvents, type OnEvents } from '../changes/event-queue.ts'
import type { FirstPassword } from '../credentials/first-secrets.ts'
import { type IdMaker, type IdPrefix, plainIdMaker } from '../database/id.ts'
import { databaseErrorOf, isDamage } from '../database/sqlite/connection.ts'
import { createApp } from '../http/app.ts'
import type { LogEntry } from '../http/log.ts'
import { inboxRoute } from '../integrations/inbox-route.ts'
import { createLazyOutgoing, unrestricted } from '../outgoing/outgoing-when-needed.ts'
import { resourceIn, routesFor } from '../routes.ts'
import { openAcademyFile } from './open-academy.ts'
import type { UpgradeWatch } from './upgrade-in-process.ts'

export interface OpenAcademy {
  readonly path: string
  readonly created: boolean
  readonly transport: Transport
  /** Creates a password for the first admin, which is not stored in plain text; undefined if there is one. */
  readonly makeFirstPassword: () => Promise<FirstPassword | undefined>
  /** Returns the cause of an internal error of a request; a DatabaseError if the database is damaged. */
  readonly causeOf: (requestId: string) => unknown
  /** Returns the problems of the database file; none if it is intact. */
  readonly check: () => Promise<string[]>
  /** Returns why stored secrets cannot be decrypted; undefined if they can, or there are none. */
  readonly encryptionTrouble: () => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** Acts as the academy's first user. Loads only the routes of resources that are used. Throws DatabaseError. */
export async function openAcademy({
  path,
  now = () => new Date(),
  passwordCost,
  watch,
  ids,
  temporary,
  env,
  mustExist,
  onEvents,
}: {
  path: string
  now?: () => Date
  /** Default a tenth of a second. */
  passwordCost?: PasswordCost
  watch?: UpgradeWatch | undefined
  /** Default: by time and randomness. */
  ids?: IdMaker | undefined
  /** The academy ends with its process: writes do not wait for the disk. */
  temporary?: boolean
  /** Variables with proxies; none by default. */
  env?: Readonly<Record<string, string | undefined>>
  /** Throw a DatabaseError of the kind `missing` instead of creating an academy. */
  mustExist?: boolean
  /** Also those that no endpoint subscribes to. */
  onEvents?: OnEvents | undefined
}): Promise<OpenAcademy> {
  const {
    database: store,
    created,
    newId,
  } = await openAcademyFile(path, now, {
    ...{ watch, ids, temporary, mustExist },
  })
  const database = onEvents ? captureEvents(store, onEvents) : store
  const principal = await localPrincipal(database)
  // There is no log: the caller reports the last internal error.
  let fault: Pick<LogEntry, 'requestId' | 'cause'> | null = null
  let hasPosted = false
  const log = (entry: LogEntry) => {
    if (entry.status >= 500) fault = entry
    if (entry.method === 'POST') hasPosted = true
  }
  const requestId = plainIdMaker(now)
  const sealing = academySealing({ path, temporary })
  const app = {
    ...{ database, now, principal, passwordCost, sealing, log },
    newId: (prefix: IdPrefix) => (prefix === 'req' ? requestId(prefix) : newId(prefix)),
    outgoing: createLazyOutgoing({ ...unrestricted, env }),
    perMinute: 0,
    tagged: false,
  }

  return {
    path,
    created,
    transport: createApp(app, (path, isPlain) => routesFor(resourceIn(path), isPlain), [inboxRoute]),
    makeFirstPassword: async () =>
      (await import('../credentials/first-secrets.ts')).makeFirstPassword({
        database,
        now,
        newId,
        passwordCost,
      }),
    causeOf(requestId) {
      if (fault?.requestId !== requestId) return undefined
      return isDamage(fault.cause) ? databaseErrorOf(path, fault.cause) : fault.cause
    },
    check: database.check,
    encryptionTrouble: () => database.read((view) => sealing.trouble(view)),
    async close() {
      // Without a server, each run that creates something does the upkeep.
      if (hasPosted) {
        const [{ sweep }, { fillSearchIndex }] = await Promise.all([
          import('../database/sweep.ts'),
          import('../database/search.ts'),
        ])
        await sweep(database, now(), 1).catch(() => {})
        await fillSearchIndex(database).catch(() => {})
      }
      await database.close()
    },
  }
}
