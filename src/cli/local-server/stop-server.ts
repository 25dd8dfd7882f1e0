import { isAlive } from '../../config/lock.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import type { RunningServer, RunningServers } from './running-servers.ts'

const stopWithinMs = 40_000
const pollMs = 50

/**
 * The servers of a database, of all where that is null, that do answer; what others left behind is cleared away. In a
 * dry run none is asked: those that are listed.
 */
export async function serving(
  context: Pick<Context, 'io' | 'settings'>,
  servers: RunningServers,
  database: string | null,
): Promise<RunningServer[]> {
  const running: RunningServer[] = []
  for (const server of await servers.list()) {
    if (database !== null && server.database !== database) continue
    if (context.settings.dryRun.value || (await isServing(context, server))) running.push(server)
    else await servers.remove(server.pid)
  }
  return running
}

/** True when a server is what answers there: after a restart of the machine, the process id may be anybody's. */
export async function isServing({ io }: Pick<Context, 'io'>, { address }: RunningServer): Promise<boolean> {
  if (address.startsWith('https:')) return answersTls(address)
  const { createNetworkTransport } = await import('../../client/network.ts')
  const network = createNetworkTransport({ env: {}, connectTimeoutMs: 2000 })
  try {
    const reply = await network({ method: 'GET', url: `${address}/health`, headers: {}, signal: io.signal })
    for await (const _ of reply.body ?? []);
    return 'x-request-id' in reply.headers
  } catch {
    return false
  } finally {
    await network.close()
  }
}

/** Nothing secret is asked, and the certificate names the host by which others reach it, not this address. */
async function answersTls(address: string): Promise<boolean> {
  const { get } = await import('node:https')
  return new Promise((resolve) => {
    const request = get(
      `${address}/health`,
      { rejectUnauthorized: false, timeout: 2000, agent: false },
      (reply) => {
        reply.resume()
        resolve('x-request-id' in reply.headers)
      },
    )
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}

/** Ends a server and waits until it has gone. Throws a CommandError when it does not go. */
export async function stopServer(
  { io }: Pick<Context, 'io'>,
  servers: RunningServers,
  { pid, url }: RunningServer,
): Promise<void> {
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < stopWithinMs; waitedMs += pollMs) {
    // A server that has come to its end takes itself off the list; to the system its process may be there for longer,
    // where nobody takes note that it ended.
    if (!isAlive(pid) || !servers.has(pid)) return servers.remove(pid)
    await io.sleep(pollMs, io.signal)
  }
  throw new CommandError('still_running', 'failure', `The server at ${url} (process ${pid}) did not stop`, {
    hint: `Kill it: kill -9 ${pid}`,
  })
}
