import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../../helpers/process.ts'

/** A PostgreSQL server of one test. */
export interface PostgresCluster {
  /** URL of its superuser. */
  readonly url: string
  /** Crashes and restarts it: it recovers what was committed. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const script = `
  echo "$LEARNCTL_TEST_POSTGRES"
  while read -r _; do eval "$LEARNCTL_TEST_POSTGRES_RESTART"; echo restarted; done`

/** Starts one with .ci/postgres; it ends with this process at the latest. */
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
