import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

/** Root of the checkout. */
export const root = join(import.meta.dirname, '../..')

/** Script that users start, for the built program. */
export const bin = join(root, 'bin/learnctl.js')

/** Executable that the tests of processes run instead of the script; the project `executable` builds it. */
const executable = process.env['LEARNCTL_TEST_EXECUTABLE']

/** Whether tests run the executable. */
export const isExecutable = executable !== undefined

/** Program and first words of a command line of the built program. */
export const launch: readonly [string, ...string[]] =
  executable === undefined ? [process.execPath, bin] : [executable]

/** One cache for all tests: each home would get unpacked files of its own. */
const sharedCache = executable === undefined ? {} : { XDG_CACHE_HOME: join(dirname(executable), 'cache') }

/** Result of a process. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Options for starting a process. */
export interface Start {
  readonly cwd?: string
  /** Environment, to which PATH is added, and the cache of the executable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Text of standard input (default none); null keeps it open. */
  readonly stdin?: string | null
  /** File descriptors instead of pipes whose text is collected. */
  readonly stdout?: number
  readonly stderr?: number
}

/** A running process. */
export interface Started {
  readonly child: ChildProcess
  readonly stdin: Writable
  /** Waits until standard output, or standard error, contains a text. Throws if the process ends before. */
  printed(pattern: RegExp, where?: 'stdout' | 'stderr'): Promise<RegExpExecArray>
  /** Sends a signal (default SIGTERM). */
  kill(signal?: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

/** Starts a program as a process. */
export function startProcess(
  program: string,
  words: readonly string[],
  { cwd, env = {}, stdin = '', stdout, stderr }: Start = {},
): Started {
  // Standard input is always a pipe; the type of `spawn` needs all three streams to know that.
  const child = spawn(program, words, {
    cwd,
    env: { PATH: process.env['PATH'], ...sharedCache, ...env },
    stdio: ['pipe', stdout ?? 'pipe', stderr ?? 'pipe'],
  }) as ChildProcess & { readonly stdin: Writable }
  const out = textOf(child.stdout)
  const err = textOf(child.stderr)
  // The process may end without reading its input.
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin)
  const ended = once(child, 'close').then(
    ([code, signal]): Ended => ({ code, signal, stdout: out(), stderr: err() }),
  )
  // A test may wait only for the output.
  ended.catch(() => {})

  async function printed(pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    const text = where === 'stdout' ? out : err
    for (;;) {
      const found = pattern.exec(text())
      if (found) return found
      const isOver = await Promise.race([ended, once(child[where] ?? child, 'data').then(() => undefined)])
      if (isOver && !pattern.test(text())) throw new Error(`${program} has ended: ${JSON.stringify(isOver)}`)
    }
  }

  return { child, stdin: child.stdin, printed, ended, kill: (signal) => void child.kill(signal) }
}

/** Runs a program until it ends. `watch` gets the process as soon as it exists. */
export function run(
  program: string,
  words: readonly string[],
  { watch, ...start }: Start & { readonly watch?: ((child: ChildProcess) => void) | undefined } = {},
): Promise<Ended> {
  const { child, ended } = startProcess(program, words, start)
  watch?.(child)
  return ended
}

/** Starts the built program as a process. */
export function startLearnctl(words: readonly string[], start?: Start): Started {
  const [program, ...first] = launch
  return startProcess(program, [...first, ...words], start)
}

/** Runs the built program until it ends. */
export function runLearnctl(words: readonly string[], start: Parameters<typeof run>[2]): Promise<Ended> {
  const [program, ...first] = launch
  return run(program, [...first, ...words], start)
}

/** Runs the text of a module until it ends. */
export function runModule(text: string, words: readonly string[] = [], start: Start = {}): Promise<Ended> {
  return run(process.execPath, ['--input-type=module', '--eval', text, ...words], start)
}

/** Collects the text of a stream; returns a function for the text so far. */
function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

const source = join(root, 'src')
const file = join(root, 'dist/cli/chunks/reader-thread.cjs')
let isBuilt: boolean | undefined

/**
 * Path of the built thread for exports, which loads five times faster; undefined if src has changed since the build.
 */
export function builtThread(): URL | undefined {
  isBuilt ??= existsSync(file) && newestIn(source) <= statSync(file).mtimeMs
  return isBuilt ? pathToFileURL(file) : undefined
}

/** Returns the time of the last change in a folder, in milliseconds since 1970. */
function newestIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...paths.map((path) => statSync(join(folder, path)).mtimeMs))
}

/** Returns the path of the first of these programs on the PATH; undefined if none exists. */
export function programOnPath(...names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
