import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../../helpers/process.ts'

/** A PostgreSQL that nobody else uses. */
export interface PostgresCluster {
  /** Its superuser's URL. */
  readonly url: string
  /** Ends it as a crash does, and starts it again: it recovers what was committed. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const script = `
  echo "$LEARNCTL_TEST_POSTGRES"
  while read -r _; do eval "$LEARNCTL_TEST_POSTGRES_RESTART"; echo restarted; done`

/** Starts one by .ci/postgres; it ends with this process at the latest. */
export async function startPostgres(): Promise<PostgresCluster> {
  const child = spawn(join(root, '.ci/postgres'), ['bash', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  const line = async () => String((await once(lines, 'line'))[0])
  const url = await line()
  return {
    url,
    async restart() {
      const restarted = line()
      child.stdin.write('\n')
      await restarted
    },
    async stop() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
