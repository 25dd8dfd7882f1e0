import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { makeDirectory, unwritableError } from '../../config/make-directory.ts'
import { readRegularFile } from '../../config/read-file.ts'

/** Maximum size of an entry. */
const maxBytes = 64 * 1024

/** A server that registered itself on this machine. */
export interface RunningServer {
  readonly pid: number
  readonly url: string
  /** URL that it listens on. */
  readonly address: string
  /** The absolute path of its database. */
  readonly database: string
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** The registry of this user's servers on this machine: a file for each while it runs. */
export interface RunningServers {
  add(server: RunningServer): Promise<void>
  remove(pid: number): Promise<void>
  /** True until the server of this process removes its entry. */
  has(pid: number): boolean
  /** Returns the servers whose process exists; deletes the other entries. */
  list(): Promise<RunningServer[]>
}

/** Opens the registry in the state directory: files 0600, directory 0700. */
export function runningServers(stateDirectory: string): RunningServers {
  const directory = join(stateDirectory, 'servers')
  const fileOf = (pid: number) => join(directory, `${pid}.json`)
  const remove = (pid: number) =>
    rm(fileOf(pid), { force: true }).catch((error: unknown) => {
      // The parent is not a directory, so there is nothing to remove.
      if (systemCode(error) !== 'ENOTDIR') throw error
    })

  return {
    remove,
    has: (pid) => existsSync(fileOf(pid)),
    async add(server) {
      makeDirectory(directory, 'XDG_STATE_HOME')
      const path = fileOf(server.pid)
      await writeFile(path, `${JSON.stringify(server)}\n`, { mode: 0o600 }).catch((error: unknown) => {
        throw unwritableError(path, error, 'XDG_STATE_HOME')
      })
    },
    async list() {
      const servers: RunningServer[] = []
      for (const name of await names(directory)) {
        const server = read(join(directory, name))
        if (server && isAlive(server.pid)) servers.push(server)
        else await rm(join(directory, name), { force: true })
      }
      return servers.sort((one, other) => one.startedAt.localeCompare(other.startedAt))
    },
  }
}

/** Returns the running server of a database. */
export async function serverOf(stateDirectory: string, database: string): Promise<RunningServer | undefined> {
  return (await runningServers(stateDirectory).list()).find((one) => one.database === database)
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
