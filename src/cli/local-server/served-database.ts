import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDatabaseUrl } from '../../codec/database-url.ts'
import { shellWord } from '../../codec/display-text.ts'
import { chosenDatabaseUrl } from '../../config/choose-target.ts'
import { systemCode } from '../../config/errors.ts'
import { readRegularFile, UnreadableFileError } from '../../config/files.ts'
import { isLocal, localProfile } from '../../config/profiles.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { findServers, listServers } from './running-servers.ts'

export interface ServedDatabase {
  /** Name in messages and in the list of servers: its path, or its URL without user and password. */
  readonly name: string
  /** Undefined for a file. */
  readonly url?: string | undefined
}

const maxUrlBytes = 16 * 1024

/** `--database-url-file`, `--database` or `--profile`, else that of quickstart. Throws a UsageError for a URL of a platform. */
export async function servedDatabase(context: Context, given?: Given): Promise<ServedDatabase> {
  const { io, session, settings, directories, profiles } = context
  const file = given?.flags['database-url-file']
  if (file !== undefined) {
    if (settings.database.origin.source === 'flag') {
      throw new UsageError('--database and --database-url-file cannot be used together')
    }
    return servedUrl(context, urlIn(resolve(io.cwd, String(file)), String(file)), '--database-url-file')
  }
  if (settings.database.value === null && settings.profile.value === null) {
    const known = profiles.read().profiles[localProfile]
    return { name: known && isLocal(known) ? known.database : directories.database }
  }
  const chosen = chosenDatabaseUrl({ settings, env: io.env, profiles: profiles.read(), cwd: io.cwd })
  if (chosen) return servedUrl(context, chosen.url, chosen.origin.name)
  const target = session.target()
  if (target.kind === 'local') return { name: target.database }
  throw new UsageError(`Cannot serve ${target.url}: it is not an academy on this machine`)
}

/** Throws a UsageError for an invalid URL that names `place`. */
export async function servedUrl(
  { io }: Pick<Context, 'io'>,
  url: string,
  place: string,
): Promise<ServedDatabase> {
  const { PostgresUrlError, readPostgresUrl } = await import('../../codec/database-url.ts')
  try {
    return { name: readPostgresUrl(url, io.env).shown, url }
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error
    throw new UsageError(`${place} ${error.message}`, error.hint === undefined ? {} : { hint: error.hint })
  }
}

function urlIn(path: string, shown: string): string {
  try {
    const [line = ''] = readRegularFile(path, maxUrlBytes).trimStart().split(/\r?\n/)
    if (isDatabaseUrl(line)) return line
  } catch (cause) {
    if (!(cause instanceof UnreadableFileError)) throw cause
    const reason = cause.code === 'ENOENT' ? 'not found' : cause.message
    throw new UsageError(`Cannot read --database-url-file ${shown}: ${reason}`, { cause })
  }
  throw new UsageError(
    `--database-url-file ${shown} must contain a URL such as postgres://user@db.example.org/academy`,
  )
}

/**
 * Returns the file of the academy that the settings choose, with links resolved. Throws a UsageError with
 * `instead` for an academy on PostgreSQL, and a CommandError if the file is missing, unless `mayMiss`.
 */
export async function databaseFile(
  context: Context,
  instead: string,
  { mayMiss = false } = {},
): Promise<string> {
  const { name, url } = await servedDatabase(context)
  if (url !== undefined) {
    throw new UsageError(`${name} is a PostgreSQL database, and not a file`, { hint: instead })
  }
  try {
    return realpathSync(name)
  } catch {
    if (mayMiss) return name
    throw await (await import('../session/academy-file.ts')).missingDatabaseError(context, name)
  }
}

/** `action` is what cannot be done, verb first. */
export async function assertNoServer(context: Context, action: string, database: string): Promise<void> {
  const listed = (await listServers(context.directories.state)).filter((server) =>
    isSameFile(server.database, database),
  )
  for (const { database: name } of listed) {
    const [server] = await findServers(context, name)
    if (server) throw serverRunningError(action, name, server.url, server.pid)
  }
}

/** Returns other errors than DatabaseInUse unchanged. */
export async function inUseError(
  { directories }: Pick<Context, 'directories'>,
  action: string,
  database: string,
  error: unknown,
): Promise<unknown> {
  // instanceof would load the server.
  if (!(error instanceof Error) || error.name !== 'DatabaseInUse' || !('pids' in error)) return error
  const pids = Array.isArray(error.pids) ? error.pids.map(Number) : []
  const server = (await listServers(directories.state)).find(({ pid }) => pids.includes(pid))
  if (server) return serverRunningError(action, server.database, server.url, server.pid)
  const who =
    pids.length === 0
      ? 'another process uses'
      : `${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')} ${pids.length === 1 ? 'uses' : 'use'}`
  return new CommandError('database_in_use', 'conflict', `Cannot ${action} while ${who} ${database}`, {
    cause: error,
    hint: 'Run the command again when it has ended; stop a server with `learnctl server stop`',
  })
}

function serverRunningError(action: string, database: string, url: string, pid: number): CommandError {
  return new CommandError(
    'server_running',
    'conflict',
    `Cannot ${action} while a server is running for ${database} (${url}, process ${pid})`,
    { hint: `Stop it first: learnctl server stop --database ${shellWord(database)}` },
  )
}

function isSameFile(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return realpathSync(one) === other
  } catch {
    return false
  }
}

/** Null if the academy stores no secrets. */
export function encryptionKeyOf(database: string): string | null {
  const path = `${database}.key`
  return !isDatabaseUrl(database) && existsSync(path) ? path : null
}

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const ending = '.db'

export interface Snapshot {
  readonly name: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly bytes: number
  readonly path: string
}

export function snapshotFolder(database: string): string {
  return `${database}.snapshots`
}

/** The snapshot need not exist. Throws a UsageError on an invalid name. */
export function snapshotPath(database: string, name: string): string {
  if (nameForm.test(name)) return join(snapshotFolder(database), name + ending)
  throw new UsageError(
    `A snapshot's name must be up to 64 letters, digits, dots, - and _, and begin with a letter or digit, not ${JSON.stringify(name)}`,
  )
}

/** Newest first. */
export function snapshotsOf(database: string): Snapshot[] {
  const folder = snapshotFolder(database)
  const names = namesIn(folder).flatMap((file) =>
    file.endsWith(ending) ? [file.slice(0, -ending.length)] : [],
  )
  return names
    .filter((name) => nameForm.test(name))
    .map((name) => {
      const path = join(folder, name + ending)
      const { mtimeMs, size } = statSync(path)
      return { name, createdAt: new Date(mtimeMs).toISOString(), bytes: size, path }
    })
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt) || one.name.localeCompare(other.name))
}

export function findSnapshot(database: string, name: string | undefined): Snapshot {
  const snapshots = snapshotsOf(database)
  if (name !== undefined) snapshotPath(database, name)
  const found = name === undefined ? snapshots[0] : snapshots.find((each) => each.name === name)
  if (found) return found
  throw new CommandError(
    'not_found',
    'notFound',
    name === undefined ? `No snapshots of ${database}` : `Snapshot not found: ${name}`,
    name === undefined || snapshots.length === 0
      ? { hint: 'Save one: learnctl server snapshot save' }
      : {
          hint: 'List snapshots: learnctl server snapshot list',
          choice: { given: name, valid: snapshots.map((each) => each.name) },
        },
  )
}

/** Returns the default name of a snapshot, its time: `2026-03-01T120000Z`. */
export function defaultSnapshotName(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
