import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { makeDirectory, unwritable } from '../../config/make-directory.ts'
import { readRegularFile } from '../../config/read-file.ts'

/** Longer than any path and URL that a server writes down. */
const maximumBytes = 64 * 1024

/** A server that said it runs on this machine. */
export interface RunningServer {
  readonly pid: number
  readonly url: string
  /** Where it listens, as a URL. */
  readonly address: string
  /** The absolute path of its database. */
  readonly database: string
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** The servers of this machine and user: a file for each while it runs. */
export interface RunningServers {
  add(server: RunningServer): Promise<void>
  remove(pid: number): Promise<void>
  /** True while the server of this process has not taken itself off the list. */
  has(pid: number): boolean
  /** Those whose process is still there; what others left behind is cleared away. */
  list(): Promise<RunningServer[]>
}

/** Keeps them under the state directory, 0600 in a directory 0700. */
export function runningServers(stateDirectory: string): RunningServers {
  const directory = join(stateDirectory, 'servers')
  const fileOf = (pid: number) => join(directory, `${pid}.json`)
  const remove = (pid: number) =>
    rm(fileOf(pid), { force: true }).catch((error: unknown) => {
      // Below what is no directory there is nothing to remove.
      if (systemCode(error) !== 'ENOTDIR') throw error
    })

  return {
    remove,
    has: (pid) => existsSync(fileOf(pid)),
    async add(server) {
      makeDirectory(directory, 'XDG_STATE_HOME')
      const path = fileOf(server.pid)
      await writeFile(path, `${JSON.stringify(server)}\n`, { mode: 0o600 }).catch((error: unknown) => {
        throw unwritable(path, error, 'XDG_STATE_HOME')
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

/** The server of a database of this machine and user; undefined where none runs. */
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
    const text = readRegularFile(path, maximumBytes)
    const { pid, url, address, database, startedAt } = JSON.parse(text) as Partial<RunningServer>
    return pid && url && address && database && startedAt ? { pid, url, address, database, startedAt } : null
  } catch {
    return null // Cut off by the end of the machine, or of its disk: nothing to keep.
  }
}
