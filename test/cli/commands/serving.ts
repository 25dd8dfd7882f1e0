import { onTestFinished } from 'vitest'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import type { Ran, RunOptions, TestCli } from '../../helpers/cli.ts'

/** A running server, its output so far, and the promise of its end. */
export interface Serving {
  readonly printed: string
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<Ran>
}

/** Starts a server on a free port and waits for its first lines. */
export async function serve(cli: TestCli, flags = '', options: RunOptions = {}): Promise<Serving> {
  const controller = new AbortController()
  const { promise: head, resolve } = Promise.withResolvers<string>()
  const line = `server start --port 0 ${flags}`
  const ended = cli.run(line, { ...options, signal: controller.signal, onStdout: resolve })
  const stop: Serving['stop'] = (signal = 'SIGTERM') => {
    controller.abort(new InterruptedError(signal))
    return ended
  }
  onTestFinished(async () => void (await stop()))
  const early = ended.then(({ stderr }) => {
    throw new Error(`it has ended: ${stderr}`)
  })
  return { printed: await Promise.race([head, early]), stop }
}
