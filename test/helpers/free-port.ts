import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports below those that systems give to connections and to servers on port 0: Linux from 32768, others from 49152. */
const [first, last] = [10_000, 32_767]

/** Returns a loopback port that is free, and that no test gets by chance until it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, last)
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    } catch {
      // The port is taken.
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
