import { spawn } from 'node:child_process'
import { appendFileSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { constants, tmpdir, userInfo } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { systemCode } from '../../config/errors.ts'
import { isAlive } from '../../config/lock.ts'
import type { CapturedEvent } from '../../server/changes/event-queue.ts'
import { type DatasetName, datasetNames } from '../dataset/dataset.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
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
/** Ctrl-C can arrive twice, from the terminal and from a launcher such as npm. */
const oneSignalMs = 100

/**
 * Returns its exit code, 128 + n if signal n ended it. Forwards signals; a second one kills it. Throws a CommandError if it
 * cannot be run, and the reason of the run's signal if that came first.
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

/** A file with the variables of a run, for programs that do not inherit its environment. */
export interface EnvFile {
  write(variables: Readonly<Record<string, string | undefined>>): void
  remove(): void
}

/** Creates a file for the variables of a run, mode 0600. Throws a CommandError if it exists. */
export function openEnvFile(cwd: string, name: string): EnvFile {
  const path = resolve(cwd, name)
  const flag = '--dotenv-file'
  if (lstatSync(path, { throwIfNoEntry: false })) {
    throw takenError(`Cannot write ${flag} ${name}: the file exists`)
  }
  writing(flag, name, () => writeFileSync(path, '', { mode: 0o600, flag: 'wx' }))
  return {
    write(variables) {
      const lines = Object.entries(variables).map(([key, value = '']) => {
        // dotenv, `docker --env-file` and `source` read these alike, without quotes, which docker would keep.
        if (/^[\w:/.@%+-]*$/.test(value)) return `${key}=${value}\n`
        throw new TypeError(`the value of ${key} needs quotes`)
      })
      writing(flag, name, () => writeFileSync(path, lines.join('')))
    },
    remove: () => rmSync(path, { force: true }),
  }
}

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
  const flag = '--webhooks-file'
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw takenError(`Cannot write ${flag} ${name}: it is not a regular file`)
  writing(flag, name, () => {
    if (found && found.size > 0 && !readFileSync(path, 'utf8').startsWith('{"id":"msg_')) {
      throw takenError(`Cannot write ${flag} ${name}: the file exists, and holds no webhooks`)
    }
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
      if (fault) throw unwritable(flag, name, fault)
    },
  }
}

function writing(flag: string, name: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw error instanceof CommandError ? error : unwritable(flag, name, error)
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

export type Seed =
  | { readonly kind: 'examples' }
  | { readonly kind: 'academy' | 'course'; readonly file: string }
  | { readonly kind: 'records'; readonly dataset: DatasetName; readonly file: string }

const academyForm = /^academy\.ya?ml$/i
const courseForm = /\.ya?ml$/i
const nameForms = datasetNames.map((name) => `${name}.csv`).join(', ')

/** `examples`, files, `users=people.csv`, or a directory, ordered so that each refers only to earlier ones. */
export async function findSeeds(io: Pick<Io, 'cwd'>, texts: readonly string[]): Promise<Seed[]> {
  const seeds = (await Promise.all(texts.map((text) => seedsIn(io, text)))).flat()
  // The sort is stable: files for one dataset keep their order.
  return seeds.sort((one, other) => orderOf(one) - orderOf(other))
}

function orderOf(seed: Seed): number {
  if (seed.kind === 'records') return datasetNames.indexOf(seed.dataset)
  return ['examples', 'academy', 'course'].indexOf(seed.kind) - 3
}

async function seedsIn({ cwd }: Pick<Io, 'cwd'>, text: string): Promise<Seed[]> {
  if (text === 'examples') return [{ kind: 'examples' }]
  const [, name = '', named] = /^(\w+)=(.+)$/.exec(text) ?? []
  const file = named ?? text
  const found = await stat(resolve(cwd, file)).catch(() => null)
  if (!found) throw new UsageError(`Cannot read --seed ${file}: file not found`)
  if (named === undefined ? academyForm.test(basename(file)) : name === 'academy')
    return [{ kind: 'academy', file }]
  if (named === undefined && found.isDirectory()) return seedsInFolder(cwd, file)
  if (named === undefined && courseForm.test(file)) return [{ kind: 'course', file }]
  const dataset = named === undefined ? datasetOf(file) : datasetNames.find((each) => each === name)
  if (dataset) return [{ kind: 'records', dataset, file }]
  throw new UsageError(`--seed ${text} does not say what the file contains`, {
    why: [
      `Its name must be academy.yaml, that of a course file (.yaml), or one of ${nameForms}, with any ending that import takes`,
    ],
    hint: `Name it: --seed users=${file}`,
  })
}

export function seedCommandLine(seed: Exclude<Seed, { kind: 'examples' }>): string[] {
  if (seed.kind === 'records') return [seed.dataset, 'import', seed.file]
  return seed.kind === 'academy' ? ['apply', seed.file] : ['courses', 'apply', '-f', seed.file]
}

async function seedsInFolder(cwd: string, folder: string): Promise<Seed[]> {
  const names = (await readdir(resolve(cwd, folder))).sort()
  const seeds = names.flatMap((name): Seed[] => {
    if (academyForm.test(name)) return [{ kind: 'academy', file: join(folder, name) }]
    if (courseForm.test(name)) return [{ kind: 'course', file: join(folder, name) }]
    const dataset = datasetOf(name)
    return dataset ? [{ kind: 'records', dataset, file: join(folder, name) }] : []
  })
  if (seeds.length > 0) return seeds
  throw new UsageError(`--seed ${folder} contains no file to import`, {
    why: [`Files must be named ${nameForms}, with any ending that import takes`],
  })
}

/** `users.csv`, `users.2026.jsonl.gz`; none for rejected rows, `users.errors.csv`. */
function datasetOf(file: string): DatasetName | undefined {
  const [, stem, ending = ''] =
    /^([a-z]+)((?:\.[\w-]+)*\.(?:csv|tsv|txt|json|jsonl|ndjson)(?:\.gz)?)$/i.exec(basename(file)) ?? []
  return ending.includes('.errors') ? undefined : datasetNames.find((name) => name === stem)
}
