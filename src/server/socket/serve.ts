import { type AcademyFile, openAcademyFile, openAcademyOnPostgres } from '../academy/open-academy.ts'
import type { UpgradeWatch } from '../academy/upgrade-in-process.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import { academySealing } from '../access/sealing.ts'
import { captureEvents, type OnEvents } from '../changes/event-queue.ts'
import { type FirstSecrets, makeFirstSecrets } from '../credentials/first-secrets.ts'
import { createDeferredStore, type Store } from '../database/database.ts'
import { clockAheadMs } from '../database/health.ts'
import { type IdMaker, idMaker } from '../database/id.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import { sqliteDialect } from '../database/sqlite/dialect.ts'
import { type DispatcherParts, serveOutbox } from '../events/dispatcher.ts'
import { createApp } from '../http/app.ts'
import { type LogEntry, logLine } from '../http/log.ts'
import { type LongReadLimits, longReadLimits, ThreadPool } from '../long-reads/long-reads.ts'
import { createLazyOutgoing } from '../outgoing/outgoing-when-needed.ts'
import { unavailable } from '../problem-error.ts'
import { loadAllRoutes, loadAllWebRoutes } from '../routes.ts'
import { keepInOrder } from '../upkeep.ts'
import { Port, type PortOptions } from './port.ts'

export interface ServeOptions extends PortOptions {
  /** Created if it is missing. */
  readonly path: string
  readonly postgres?: PostgresOptions | undefined
  /** Encrypts secrets on PostgreSQL; without one, none can be stored there. */
  readonly encryptionKeyFile?: string | undefined
  /** Besides public ones. */
  readonly webhookAllow?: readonly string[] | undefined
  /** Variables with proxies; none by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For each user; 0 for no limit. */
  readonly perMinute: number
  /** Create a password for the first admin if there is none; takes a tenth of a second. */
  readonly firstPassword?: boolean
  /** Default: a tenth of a second. */
  readonly passwordCost?: PasswordCost | undefined
  /** Also for an existing academy. */
  readonly adminKey?: boolean
  /** The academy ends with its process: writes do not wait for the disk. */
  readonly temporary?: boolean
  /** One entry per request, as `formatLog` formats it. */
  readonly writeLog: (line: string) => void
  /** LF included; default: one line of JSON. */
  readonly formatLog?: (entry: LogEntry) => string
  readonly now?: () => Date
  /** ISO 8601, for reproducible tests. */
  readonly fixedTime?: string | undefined
  /** Default: by time and randomness. */
  readonly ids?: IdMaker | undefined
  /** Also those that no endpoint subscribes to. */
  readonly onEvents?: OnEvents | undefined
  /** During a long upgrade only the route `/health` is available. */
  readonly upgrade?: UpgradeWatch
  readonly longReads?: Partial<LongReadLimits>
  /** Timers of the rounds that send messages; default those of the process. */
  readonly timers?: Pick<DispatcherParts, 'later' | 'elapsedMs'>
}

export interface RunningServer extends FirstSecrets {
  readonly url: string
  readonly address: string
  /** Ahead of the database's; negative if it is behind. */
  readonly clockAheadMs: number
  /** Why stored secrets cannot be decrypted, a sentence; undefined if they can, or there are none. */
  readonly encryptionTrouble: string | undefined
  /** Refuses new requests with 503, completes the open ones within 30 s, then closes the database. */
  readonly stop: () => Promise<void>
}

const drainMs = 30_000
const retrySeconds = 10

/** Throws DatabaseError, and the listen error if the port is in use. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { path, postgres, perMinute, writeLog, fixedTime, passwordCost, publicUrl } = options
  const { now = () => (fixedTime === undefined ? new Date() : new Date(fixedTime)) } = options
  const { ids: newId = idMaker(now), formatLog = logLine } = options
  const log = (entry: LogEntry) => writeLog(formatLog(entry))
  const [routes, webRoutes] = await Promise.all([loadAllRoutes(), loadAllWebRoutes()])
  const port = new Port(options, { now, newId, log })
  // Listen first: if the port is in use, a new academy would lose its first key.
  await port.listen()
  const sealing = academySealing(options)
  const reach = { allow: options.webhookAllow, loopback: isForThisMachine(options), env: options.env }
  const outgoing = createLazyOutgoing(reach)
  const isClosing = () => port.isClosing
  const app = { now, newId, perMinute, publicUrl, log, passwordCost, sealing, outgoing, isClosing }
  const { database: store, created } = await openOrClose(port, options, now, () => {
    if (port.isAnswering) return
    port.answerWith(createApp({ ...app, database: createUpgradingStore() }, () => routes, webRoutes))
  })
  const database = options.onEvents ? captureEvents(store, options.onEvents) : store
  database.requireFiles?.()
  const longReads = new ThreadPool(
    { path, postgres, publicUrl, fixedTime },
    { ...longReadLimits, ...options.longReads },
  )
  const outbox = serveOutbox({
    ...{ database, sealing, newId, now, reach, publicUrl, ...options.timers },
    // Receivers compare it with their clock, so it is the real time even if the academy's is fixed.
    ...(fixedTime !== undefined && { signedAt: () => new Date() }),
  })
  port.answerWith(createApp({ ...app, database: outbox.database, longReads }, () => routes, webRoutes))
  const stopUpkeep = keepInOrder(database, now)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= Promise.all([port.close(drainMs), outbox.stop()])
      .then(() => longReads.close())
      .then(stopUpkeep)
      .then(() => port.ended())
      .then(() => database.close())
    return stopped
  }
  try {
    const wanted = { password: options.firstPassword === true, key: created || options.adminKey === true }
    const secrets = await makeFirstSecrets({ database, now, newId, passwordCost }, wanted)
    return {
      url: publicUrl ?? port.url,
      address: port.url,
      ...secrets,
      clockAheadMs: await clockAheadMs(database, now),
      encryptionTrouble: await database.read((view) => sealing.trouble(view)),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * True if only this machine can reach the server; then the server may send requests to this machine, too.
 * Other host names and proxies mean other clients.
 */
function isForThisMachine({ host, allowHosts, publicUrl, trustedProxies = [] }: ServeOptions): boolean {
  const isLocal = (name: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(name)
  const names = [host, ...allowHosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])]
  return names.every(isLocal) && trustedProxies.length === 0
}

async function openOrClose(
  port: Port,
  { path, postgres, upgrade, ids, temporary }: ServeOptions,
  now: () => Date,
  onUpgrade: () => void,
): Promise<AcademyFile> {
  try {
    return await (postgres
      ? openAcademyOnPostgres(postgres, now)
      : openAcademyFile(path, now, { watch: upgrade && reportUpgrade(upgrade, onUpgrade), ids, temporary }))
  } catch (error) {
    port.abort()
    throw error
  }
}

/** For an academy that is being upgraded: each use throws 503. */
function createUpgradingStore(): Store {
  return createDeferredStore(sqliteDialect, async () => {
    throw unavailable('The academy is being upgraded for this version of the server.', retrySeconds)
  })
}

function reportUpgrade(watch: UpgradeWatch, onUpgrade: () => void): UpgradeWatch {
  return {
    ...watch,
    onProgress: (progress) => {
      onUpgrade()
      return watch.onProgress(progress)
    },
  }
}
