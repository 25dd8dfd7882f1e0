import { existsSync, realpathSync } from 'node:fs'
import { isDatabaseUrl } from '../../codec/database-url.ts'
import { shellWord } from '../../codec/shell-word.ts'
import type { Context } from '../command/context.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { runningServers } from './running-servers.ts'
import { servedDatabase } from './served-database.ts'

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
    throw (await import('../session/missing-database.ts')).missingDatabaseError(context, name)
  }
}

/**
 * Throws a CommandError if a server is running for a database; `action` is what cannot be done, verb first.
 */
export async function assertNoServer(context: Context, action: string, database: string): Promise<void> {
  const { findServers } = await import('./stop-server.ts')
  const servers = runningServers(context.directories.state)
  const listed = (await servers.list()).filter((server) => isSame(server.database, database))
  for (const { database: name } of listed) {
    const [server] = await findServers(context, servers, name)
    if (server) throw served(action, name, server.url, server.pid)
  }
}

/** Converts the server's DatabaseInUse error to a CommandError; returns other errors unchanged. */
export async function inUseFault(
  { directories }: Pick<Context, 'directories'>,
  action: string,
  database: string,
  error: unknown,
): Promise<unknown> {
  // instanceof would load the server.
  if (!(error instanceof Error) || error.name !== 'DatabaseInUse' || !('pids' in error)) return error
  const pids = Array.isArray(error.pids) ? error.pids.map(Number) : []
  const server = (await runningServers(directories.state).list()).find(({ pid }) => pids.includes(pid))
  if (server) return served(action, server.database, server.url, server.pid)
  const who =
    pids.length === 0
      ? 'another process uses'
      : `${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')} ${pids.length === 1 ? 'uses' : 'use'}`
  return new CommandError('database_in_use', 'conflict', `Cannot ${action} while ${who} ${database}`, {
    cause: error,
    hint: 'Run the command again when it has ended; stop a server with `learnctl server stop`',
  })
}

function served(action: string, database: string, url: string, pid: number): CommandError {
  return new CommandError(
    'server_running',
    'conflict',
    `Cannot ${action} while a server is running for ${database} (${url}, process ${pid})`,
    { hint: `Stop it first: learnctl server stop --database ${shellWord(database)}` },
  )
}

function isSame(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return realpathSync(one) === other
  } catch {
    return false
  }
}

/**
 * Returns the key file of an academy, beside its database; null if it has none, because it stores no secrets.
 */
export function encryptionKeyOf(database: string): string | null {
  const path = `${database}.key`
  return !isDatabaseUrl(database) && existsSync(path) ? path : null
}
