import { spawn } from 'node:child_process'
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { machineId } from '../terminal/target-file.ts'

const deadForm = /^learnctl-exec-([0-9a-f]{12})_(\d{1,10})_\w{6}$/

/** The temporary directory of one run, mode 0700. */
interface RunDirectory {
  readonly path: string
  remove(): Promise<void>
}

/**
 * Creates the directory of this run in the temporary directory; its name identifies the process and machine.
 */
export async function makeRunDirectory(): Promise<RunDirectory> {
  const prefix = `learnctl-exec-${await machineId()}_${process.pid}_`
  try {
    const path = await mkdtemp(join(tmpdir(), prefix))
    return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) }
  } catch (error) {
    const code = systemCode(error)
    const why = code === 'ENOENT' ? 'it does not exist' : (code ?? String(error))
    throw new CommandError(
      'unwritable',
      'failure',
      `Cannot use the temporary directory ${tmpdir()}: ${why}`,
      {
        cause: error,
        hint: 'Set TMPDIR to a directory that you can write to',
      },
    )
  }
}

/**
 * Removes the directories that killed runs left: directories of this user whose names identify an ended
 * process of this machine. Ignores all errors.
 */
export async function removeDeadRuns(): Promise<void> {
  const here = await machineId()
  try {
    for (const name of readdirSync(tmpdir())) {
      const [, host, pid] = deadForm.exec(name) ?? []
      if (host !== here || isAlive(Number(pid))) continue
      const path = join(tmpdir(), name)
      const found = lstatSync(path)
      if (!found.isDirectory() || ![-1, found.uid].includes(userInfo().uid)) continue
      rmSync(path, { recursive: true, force: true })
    }
  } catch {
    // An unreadable temporary directory does not concern this run.
  }
}

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/**
 * Ctrl-C can arrive twice, from the terminal and from a launcher such as npm; within this time it counts
 * once.
 */
const oneSignalMs = 100

/**
 * Runs another program on the streams of this process and returns its exit code, 128 + n if signal n ended
 * it. Forwards signals; a second one kills it. Throws a CommandError if it cannot be run, and the reason of
 * the run's signal if that came first.
 */
export function runChild(
  { cwd, signal: interruption }: Pick<Io, 'cwd' | 'signal'>,
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  // A terminal also sends Ctrl-C to the child, so forwarding would send it twice.
  const hasTerminal = [0, 1, 2].some(isatty)
  return new Promise((resolve, reject) => {
    interruption.throwIfAborted()
    const child = spawn(command, args, { stdio: 'inherit', cwd, env })
    let firstMs: number | undefined
    const forwardSignal = (signal: NodeJS.Signals) => {
      const isSecond = firstMs !== undefined && performance.now() - firstMs > oneSignalMs
      firstMs ??= performance.now()
      if (isSecond) child.kill('SIGKILL')
      else if (!(hasTerminal && signal === 'SIGINT')) child.kill(signal)
    }
    for (const signal of forwarded) process.on(signal, forwardSignal)
    const stopForwarding = () => {
      for (const signal of forwarded) process.off(signal, forwardSignal)
    }
    child.once('error', (error) => {
      stopForwarding()
      reject(notRunError(command, error))
    })
    child.once('exit', (code, signal) => {
      stopForwarding()
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
    })
  })
}

function notRunError(command: string, cause: Error): CommandError {
  const code = systemCode(cause)
  if (code === 'ENOENT') {
    return new CommandError('command_not_found', 'noCommand', `Command not found: ${command}`, { cause })
  }
  const why = code === 'EACCES' ? 'permission denied' : (code ?? cause.message)
  return new CommandError('command_not_run', 'notRun', `Cannot run ${command}: ${why}`, { cause })
}
