import { spawn } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import type { CapturedEvent } from '../../server/changes/event-capture.ts'
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

/** Bytes of an existing file to look at. */
const headBytes = 512

/** A file with the variables of a run, for programs that do not inherit its environment. */
export interface EnvFile {
  write(variables: Readonly<Record<string, string | undefined>>): void
  /** Removes the file unless another program has changed it. */
  remove(): void
}

/** First line of the file: the process that removes it, and its machine. */
const envHead = /^# Made by learnctl server exec, process (\d{1,10}) on ([0-9a-f]{12}), which removes it\n/

/**
 * Checks that the variables of a run can be written to a file: it does not exist, is empty, or was left by a run that was
 * killed. Throws a CommandError for any other.
 */
export async function openEnvFile(cwd: string, name: string): Promise<EnvFile> {
  const path = resolve(cwd, name)
  const here = await machineId()
  const head = headOf(path, '--dotenv-file', name)
  const [, pid, host] = envHead.exec(head) ?? []
  if (host === here && isAlive(Number(pid))) {
    throw takenError(`Cannot write --dotenv-file ${name}: it belongs to a run of process ${pid}`)
  }
  if (head !== '' && pid === undefined) {
    throw takenError(`Cannot write --dotenv-file ${name}: the file exists, and is not of an earlier run`)
  }
  let text = ''
  return {
    write(variables) {
      const lines = Object.entries(variables).map(([key, value = '']) => {
        // dotenv, `docker --env-file` and `source` read these alike, without quotes, which docker would keep.
        if (/^[\w:/.@%+-]*$/.test(value)) return `${key}=${value}\n`
        throw new TypeError(`the value of ${key} needs quotes`)
      })
      text = `# Made by learnctl server exec, process ${process.pid} on ${here}, which removes it\n${lines.join('')}`
      writing('--dotenv-file', name, () => {
        rmSync(path, { force: true })
        writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
      })
    },
    remove() {
      try {
        if (text !== '' && readFileSync(path, 'utf8') === text) rmSync(path)
      } catch {
        // Removed by the command, or replaced by something that is not a file.
      }
    },
  }
}

const webhookHead = '{"id":"msg_'

/** A file with the webhooks of a run, as JSON Lines. */
export interface WebhookFile {
  readonly add: (events: readonly CapturedEvent[]) => void
  /** Throws a CommandError if the file could not be written. */
  end(): void
}

/**
 * Creates a file for the webhooks of a run, mode 0600; replaces that of an earlier run. Throws a CommandError for a file with
 * other content.
 */
export function openWebhookFile(cwd: string, name: string): WebhookFile {
  const path = resolve(cwd, name)
  const head = headOf(path, '--webhooks-file', name)
  if (head !== '' && !head.startsWith(webhookHead)) {
    throw takenError(`Cannot write --webhooks-file ${name}: the file exists, and holds no webhooks`)
  }
  writing('--webhooks-file', name, () => {
    rmSync(path, { force: true })
    writeFileSync(path, '', { mode: 0o600, flag: 'wx' })
  })
  let fault: unknown
  return {
    add(events) {
      if (fault) return
      try {
        appendFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      } catch (error) {
        // The change is committed, so the run goes on and fails at its end.
        fault = error
      }
    },
    end() {
      if (fault) throw unwritable('--webhooks-file', name, fault)
    },
  }
}

/** Returns the beginning of a file; '' if it does not exist. Throws a CommandError if it is not a regular file. */
function headOf(path: string, flag: string, name: string): string {
  let found: Stats | undefined
  let head = ''
  writing(flag, name, () => {
    found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isFile()) return
    const file = openSync(path, 'r')
    const bytes = Buffer.alloc(headBytes)
    try {
      head = bytes.toString('utf8', 0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  })
  if (found && !found.isFile()) throw takenError(`Cannot write ${flag} ${name}: it is not a regular file`)
  return head
}

function writing(flag: string, name: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw unwritable(flag, name, error)
  }
}

function unwritable(flag: string, name: string, cause: unknown): CommandError {
  const code = systemCode(cause)
  const why =
    code === 'ENOENT' ? 'its directory does not exist' : code === 'ENOSPC' ? 'the disk is full' : code
  return new CommandError('unwritable', 'failure', `Cannot write ${flag} ${name}: ${why ?? cause}`, { cause })
}

function takenError(message: string): CommandError {
  return new CommandError('already_exists', 'conflict', message, {
    hint: 'Remove the file, or choose another name',
  })
}
