import {
  appendFileSync,
  closeSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import type { CapturedEvent } from '../../server/changes/event-capture.ts'
import { CommandError } from '../terminal/errors.ts'
import { machineId } from '../terminal/target-file.ts'

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
