import type { Transport } from '../contract/http.ts'
import { isCurrent, openAcademyFile } from './academy.ts'
import { localPrincipal } from './access/identify.ts'
import type { PasswordCost } from './access/password-hash.ts'
import type { FirstPassword } from './credentials/first-admin.ts'
import { type IdMaker, type IdPrefix, plainIdMaker } from './database/id.ts'
import { sweep } from './database/sweep.ts'
import { createApp } from './http/app.ts'
import type { LogEntry } from './http/log.ts'
import { anywhere, outgoingWhenNeeded } from './outgoing/outgoing-when-needed.ts'
import { resourceIn, routesFor } from './routes.ts'
import { academySealing } from './sealing/academy-sealing.ts'
import type { UpgradeWatch } from './upgrade/upgrade-watch.ts'
import { inboxEndpoint } from './webhooks/inbox/inbox-endpoint.ts'

/** An academy inside this process: no port, no credential, the same app. */
export interface OpenAcademy {
  readonly path: string
  /** True when this call made the academy. */
  readonly created: boolean
  readonly transport: Transport
  /** A password for the first admin, made just now and nowhere else; undefined where there is one. */
  readonly makeFirstPassword: () => Promise<FirstPassword | undefined>
  /** What was behind the internal error of that request; undefined where there was none. */
  readonly causeOf: (requestId: string) => unknown
  /** What is wrong with the database file itself; nothing where it is whole. */
  readonly check: () => Promise<string[]>
  /** How many counters of learners differ from a recount, which takes a time that grows with the enrolments. */
  readonly differingCounters: () => Promise<number>
  /** Brings them to what a recount says, while others go on writing; false where another program does so already. */
  readonly correctCounters: () => Promise<boolean>
  /** Why stored secrets cannot be opened; undefined where they can, or there are none. */
  readonly encryptionTrouble: () => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** The academy in a file as it is; null where it is missing or would be brought up to date. Throws DatabaseError. */
export async function openCurrentAcademy(options: {
  path: string
  now?: () => Date
}): Promise<OpenAcademy | null> {
  return isCurrent(options.path) ? openAcademy(options) : null
}

/**
 * Opens the academy in a file, to be used as its first user. Only the routes of a resource that is asked for are
 * loaded. Throws DatabaseError.
 */
export async function openAcademy({
  path,
  now = () => new Date(),
  passwordCost,
  watch,
  ids,
  temporary,
  env,
  mustExist,
}: {
  path: string
  now?: () => Date
  /** What checking a password costs; a tenth of a second unless told otherwise. */
  passwordCost?: PasswordCost
  /** Is told of an upgrade that takes long. */
  watch?: UpgradeWatch | undefined
  /** Makes its ids; by time and chance unless told otherwise. */
  ids?: IdMaker | undefined
  /** True for an academy that goes with its process: nothing waits for the disk. */
  temporary?: boolean
  /** Variables to read proxies from, for requests to other systems; none unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** Creates no academy: a missing file is a DatabaseError of the kind `missing`. */
  mustExist?: boolean
}): Promise<OpenAcademy> {
  const { database, created, newId } = await openAcademyFile(path, now, {
    ...{ watch, ids, temporary, mustExist },
  })
  const principal = await localPrincipal(database)
  let fault: Pick<LogEntry, 'requestId' | 'cause'> | null = null
  // Nobody's log: what fails in here is told by whoever asked, for whom the last fault is kept.
  let mayHaveLeftovers = false
  const log = (entry: LogEntry) => {
    if (entry.status >= 500) fault = entry
    if (entry.method === 'POST') mayHaveLeftovers = true
  }
  const requestId = plainIdMaker(now)
  const sealing = academySealing({ path, temporary })
  const app = {
    ...{ database, now, principal, passwordCost, sealing, log },
    newId: (prefix: IdPrefix) => (prefix === 'req' ? requestId(prefix) : newId(prefix)),
    outgoing: outgoingWhenNeeded({ ...anywhere, env }),
    perMinute: 0,
    tagged: false,
  }

  return {
    path,
    created,
    transport: createApp(app, (path, isPlain) => routesFor(resourceIn(path), isPlain), [inboxEndpoint]),
    makeFirstPassword: async () =>
      (await import('./credentials/first-admin.ts')).makeFirstPassword({
        database,
        now,
        newId,
        passwordCost,
      }),
    causeOf: (requestId) => (fault?.requestId === requestId ? fault.cause : undefined),
    check: database.check,
    async differingCounters() {
      const { differingCounters } = await import('./counters/counter-check.ts')
      return database.read((view) => differingCounters({ database: view, now: now().toISOString() }))
    },
    async correctCounters() {
      const { correctCounters } = await import('./counters/correction.ts')
      return correctCounters(database, now)
    },
    encryptionTrouble: () => database.read((view) => sealing.trouble(view)),
    async close() {
      // Where nobody serves the academy, each run that adds an answer to those that are kept takes old ones away.
      if (mayHaveLeftovers) await sweep(database, now(), 1).catch(() => {})
      await database.close()
    },
  }
}
