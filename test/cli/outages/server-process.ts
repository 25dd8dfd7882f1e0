import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bin, startProcess } from '../../helpers/process.ts'

/** A server in its own process, started as users do. */
interface ServerProcess {
  readonly url: string
  /** API key of the first admin, if this server created the academy. */
  readonly key: string | undefined
  /** Kills it as the kernel does when memory runs out; false if it had ended by itself. */
  kill(): Promise<boolean>
}

/** Servers on one database; each that is killed is restarted. */
export interface Fleet {
  /** URLs; a restarted server has another port. */
  readonly urls: readonly string[]
  readonly key: string
  /** Kills a server and restarts it, repeatedly while its database is away. */
  killOne(index: number): Promise<void>
  /** Stops all; returns what they logged about failed requests, and the servers that ended by themselves. */
  stop(): Promise<string[]>
}

/** Starts this many servers with more flags: the first one creates the academy. */
export async function startFleet(
  home: string,
  database: string,
  count: number,
  flags: readonly string[] = [],
): Promise<Fleet> {
  const log = join(home, 'servers.log')
  const first = await startServer(home, database, log, flags)
  const others = Array.from({ length: count - 1 }, () => startServer(home, database, log, flags))
  const servers = [first, ...(await Promise.all(others))]
  const turns = servers.map(() => Promise.resolve())
  let ended = 0
  let isStopped = false

  async function killNow(index: number): Promise<void> {
    if (!(await servers[index]?.kill())) ended += 1
    while (!isStopped) {
      try {
        servers[index] = await startServer(home, database, log, flags)
        return
      } catch {
        await setTimeout(50)
      }
    }
  }

  return {
    get urls() {
      return servers.map(({ url }) => url)
    },
    key: first.key ?? '',
    killOne(index) {
      const turn = (turns[index] ?? Promise.resolve()).then(() => killNow(index))
      turns[index] = turn
      return turn
    },
    async stop() {
      isStopped = true
      await Promise.all(turns)
      const killed = await Promise.all(servers.map((server) => server.kill()))
      ended += killed.filter((wasRunning) => !wasRunning).length
      const faults = readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /"status":500\b/.test(line))
      return ended > 0 ? [`${ended} ended by themselves: ${log}`, ...faults] : faults
    },
  }
}

async function startServer(
  home: string,
  database: string,
  log: string,
  flags: readonly string[],
): Promise<ServerProcess> {
  const out = openSync(log, 'a')
  const words = [
    'server',
    'start',
    '--database',
    database,
    '--port',
    '0',
    '--rate-limit',
    '0',
    '-o',
    'json',
    ...flags,
  ]
  const start = { cwd: home, env: { HOME: home }, stderr: out }
  const { child, printed, kill, ended } = startProcess(process.execPath, [bin, ...words], start)
  closeSync(out)
  const [line] = await printed(/^.*\n/)
  const { url, key } = JSON.parse(line) as { url: string; key?: string }
  return {
    url,
    key,
    async kill() {
      const isRunning = child.exitCode === null
      kill('SIGKILL')
      await ended
      return isRunning
    },
  }
}
