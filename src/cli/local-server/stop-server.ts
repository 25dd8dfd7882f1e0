import { isAlive } from '../../config/lock.ts'
import type { Context } from '../command/context.ts'
import { CommandError } from '../terminal/errors.ts'
import type { RunningServer, RunningServers } from './running-servers.ts'

const stopTimeoutMs = 40_000
const pollMs = 50

/**
 * Returns the servers of a database, or of all if null, that answer; deletes the entries of others. A dry run
 * sends nothing and returns all entries.
 */
export async function findServers(
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

/** True if the address is answered by our server: after a reboot, another process may have its process id. */
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

/**
 * True if a TLS server answers. The request has no secret, and the certificate is for the public host, so it
 * is not verified.
 */
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

/** Stops a server and waits until it has ended. Throws a CommandError on a timeout. */
export async function stopServer(
  { io }: Pick<Context, 'io'>,
  servers: RunningServers,
  { pid, url }: RunningServer,
): Promise<void> {
  process.kill(pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < stopTimeoutMs; waitedMs += pollMs) {
    // A server removes its entry when it has finished. Its process may exist longer as a zombie, if its
    // parent does not wait for it.
    if (!isAlive(pid) || !servers.has(pid)) return servers.remove(pid)
    await io.sleep(pollMs, io.signal)
  }
  throw new CommandError('still_running', 'failure', `The server at ${url} (process ${pid}) did not stop`, {
    hint: `Kill it: kill -9 ${pid}`,
  })
}
