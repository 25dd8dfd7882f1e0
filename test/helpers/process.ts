import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

/** The checkout. */
export const root = join(import.meta.dirname, '../..')

/** The program as its user starts it, over what was built. */
export const bin = join(root, 'bin/learnctl.js')

/** What a process left behind. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** How a process is started. */
export interface Start {
  readonly cwd?: string
  /** Its environment, to which PATH alone is added. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Text of standard input (default none); null leaves it open. */
  readonly stdin?: string | null
  /** File descriptors in place of the pipes whose text is collected. */
  readonly stdout?: number
  readonly stderr?: number
}

/** A process that was started. */
export interface Started {
  readonly child: ChildProcess
  readonly stdin: Writable
  /** Waits for what standard output has to contain. Throws where the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal (default SIGTERM). */
  kill(signal?: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

/** Starts a program as a process of its own. */
export function startProcess(
  program: string,
  words: readonly string[],
  { cwd, env = {}, stdin = '', stdout, stderr }: Start = {},
): Started {
  // Standard input is a pipe always, which the type of `spawn` sees where all three are.
  const child = spawn(program, words, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', stdout ?? 'pipe', stderr ?? 'pipe'],
  }) as ChildProcess & { readonly stdin: Writable }
  const out = textOf(child.stdout)
  const err = textOf(child.stderr)
  // A process that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin)
  const ended = once(child, 'close').then(
    ([code, signal]): Ended => ({ code, signal, stdout: out(), stderr: err() }),
  )
  // A test may wait for its output alone.
  ended.catch(() => {})

  async function printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(out())
      if (found) return found
      const isOver = await Promise.race([ended, once(child.stdout ?? child, 'data').then(() => undefined)])
      if (isOver && !pattern.test(out())) throw new Error(`${program} has ended: ${JSON.stringify(isOver)}`)
    }
  }

  return { child, stdin: child.stdin, printed, ended, kill: (signal) => void child.kill(signal) }
}

/** Runs a program to its end. `watch` sees the process as soon as it is there. */
export function run(
  program: string,
  words: readonly string[],
  { watch, ...start }: Start & { readonly watch?: ((child: ChildProcess) => void) | undefined } = {},
): Promise<Ended> {
  const { child, ended } = startProcess(program, words, start)
  watch?.(child)
  return ended
}

/** Runs the built program to its end. */
export function runLearnctl(words: readonly string[], start: Parameters<typeof run>[2]): Promise<Ended> {
  return run(process.execPath, [bin, ...words], start)
}

/** Runs a module, given as text, to its end. */
export function runModule(text: string, words: readonly string[] = [], start: Start = {}): Promise<Ended> {
  return run(process.execPath, ['--input-type=module', '--eval', text, ...words], start)
}

/** Collects the text of a stream; returns what has come so far. */
function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

const source = join(root, 'src')
const file = join(root, 'dist/cli/chunks/reader-thread.cjs')
let isBuilt: boolean | undefined

/** The built thread of exports, which loads in a fifth of the time; undefined where src has changed since the build. */
export function builtThread(): URL | undefined {
  isBuilt ??= existsSync(file) && newestIn(source) <= statSync(file).mtimeMs
  return isBuilt ? pathToFileURL(file) : undefined
}

/** Time of the last change in a folder, in milliseconds since 1970. */
function newestIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...paths.map((path) => statSync(join(folder, path)).mtimeMs))
}

/** The first of these programs that is on the PATH, by its path; undefined where there is none. */
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
