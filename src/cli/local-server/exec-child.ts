import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { systemCode } from '../../config/errors.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Ctrl-C may come from the terminal and again from a launcher such as npm: within this time that is one signal. */
const oneSignalMs = 100

/**
 * Runs another program on the streams of this process to its end, and gives its exit code, 128 + n where signal n ended
 * it. Signals go on to it; a second one kills it. Throws a CommandError where it cannot be run, and the reason of the
 * run's signal where that came first.
 */
export function runChild(
  { cwd, signal: interruption }: Pick<Io, 'cwd' | 'signal'>,
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  // A terminal sends Ctrl-C to the child, too: once more would be the second one to it.
  const hasTerminal = [0, 1, 2].some(isatty)
  return new Promise((resolve, reject) => {
    interruption.throwIfAborted()
    const child = spawn(command, args, { stdio: 'inherit', cwd, env })
    let firstMs: number | undefined
    const hear = (signal: NodeJS.Signals) => {
      const isSecond = firstMs !== undefined && performance.now() - firstMs > oneSignalMs
      firstMs ??= performance.now()
      if (isSecond) child.kill('SIGKILL')
      else if (!(hasTerminal && signal === 'SIGINT')) child.kill(signal)
    }
    for (const signal of forwarded) process.on(signal, hear)
    const end = () => {
      for (const signal of forwarded) process.off(signal, hear)
    }
    child.once('error', (error) => {
      end()
      reject(notRun(command, error))
    })
    child.once('exit', (code, signal) => {
      end()
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
    })
  })
}

function notRun(command: string, cause: Error): CommandError {
  const code = systemCode(cause)
  if (code === 'ENOENT') {
    return new CommandError('command_not_found', 'noCommand', `Command not found: ${command}`, { cause })
  }
  const why = code === 'EACCES' ? 'permission denied' : (code ?? cause.message)
  return new CommandError('command_not_run', 'notRun', `Cannot run ${command}: ${why}`, { cause })
}
