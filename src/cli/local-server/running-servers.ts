import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { makeDirectory, readRegularFile, unwritableError } from '../../config/files.ts'
import { isAlive } from '../../config/lock.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'

const maxBytes = 64 * 1024

export interface RunningServer {
  readonly pid: number
  readonly url: string
  readonly address: string
  /** Absolute path. */
  readonly database: string
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** Has a file for each running server of this user on this machine. */
function folderIn(stateDirectory: string): string {
  return join(stateDirectory, 'servers')
}

function fileOf(stateDirectory: string, pid: number): string {
  return join(folderIn(stateDirectory), `${pid}.json`)
}

export async function addServer(stateDirectory: string, server: RunningServer): Promise<void> {
  makeDirectory(folderIn(stateDirectory), 'XDG_STATE_HOME')
  const path = fileOf(stateDirectory, server.pid)
  await writeFile(path, `${JSON.stringify(server)}\n`, { mode: 0o600 }).catch((error: unknown) => {
    throw unwritableError(path, error, 'XDG_STATE_HOME')
  })
}

export async function removeServer(stateDirectory: string, pid: number): Promise<void> {
  await rm(fileOf(stateDirectory, pid), { force: true }).catch((error: unknown) => {
    // The parent is not a directory, so there is nothing to remove.
    if (systemCode(error) !== 'ENOTDIR') throw error
  })
}

/** Deletes the entries of servers whose process does not exist. */
export async function listServers(stateDirectory: string): Promise<RunningServer[]> {
  const directory = folderIn(stateDirectory)
  const servers: RunningServer[] = []
  for (const name of await names(directory)) {
    const server = read(join(directory, name))
    if (server && isAlive(server.pid)) servers.push(server)
    else await rm(join(directory, name), { force: true })
  }
  return servers.sort((one, other) => one.startedAt.localeCompare(other.startedAt))
}

export async function serverOf(stateDirectory: string, database: string): Promise<RunningServer | undefined> {
  return (await listServers(stateDirectory)).find((one) => one.database === database)
}

async function names(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^\d+\.json$/.test(name))
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return []
    throw error
  }
}

function read(path: string): RunningServer | null {
  try {
    const text = readRegularFile(path, maxBytes)
    const { pid, url, address, database, startedAt } = JSON.parse(text) as Partial<RunningServer>
    return pid && url && address && database && startedAt ? { pid, url, address, database, startedAt } : null
  } catch {
    return null // Truncated by a crash or a full disk.
  }
}

const stopTimeoutMs = 40_000
const pollMs = 50

/**
 * Returns the servers of a database, or of all if null, that answer; deletes the entries of others. A dry run
 * sends nothing and returns all entries.
 */
export async function findServers(
  context: Pick<Context, 'io' | 'settings' | 'directories'>,
  database: string | null,
): Promise<RunningServer[]> {
  const { state } = context.directories
  const running: RunningServer[] = []
  for (const server of await listServers(state)) {
    if (database !== null && server.database !== database) continue
    if (context.settings.dryRun.value || (await isServing(context, server))) running.push(server)
    else await removeServer(state, server.pid)
  }
  return running
}

/** True if the address is answered by our server: after a reboot, another process may have its process id. */
export async function isServing({ io }: Pick<Context, 'io'>, { address }: RunningServer): Promise<boolean> {
  const isTls = address.startsWith('https:')
  const { get } = isTls ? await import('node:https') : await import('node:http')
  // The request has no secret, and the certificate is for the public host, so it is not verified.
  const options = { rejectUnauthorized: false, timeout: 2000, agent: false, signal: io.signal }
  return new Promise((resolve) => {
    const request = get(`${address}/health`, options, (reply) => {
      reply.resume()
      resolve('x-request-id' in reply.headers)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}

export async function stopServer(
  { io, directories: { state } }: Pick<Context, 'io' | 'directories'>,
  { pid, url }: RunningServer,
): Promise<void> {
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < stopTimeoutMs; waitedMs += pollMs) {
    // A server removes its entry when it has finished. Its process may exist longer as a zombie, if its
    // parent does not wait for it.
    if (!isAlive(pid) || !existsSync(fileOf(state, pid))) return removeServer(state, pid)
    await io.sleep(pollMs, io.signal)
  }
  throw new CommandError('still_running', 'failure', `The server at ${url} (process ${pid}) did not stop`, {
    hint: `Kill it: kill -9 ${pid}`,
  })
}
