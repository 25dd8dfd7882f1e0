import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

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

/** How a process is started: in its own environment, of which nothing is inherited but PATH. */
export interface Start {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Sees the process as soon as it is there. */
  readonly watch?: (child: ChildProcess) => void
}

/** Runs a program to its end. */
export function run(program: string, words: readonly string[], start: Start): Promise<Ended> {
  const { cwd, env = {}, stdin = '', watch } = start
  const child = spawn(program, words, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // A process that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  watch?.(child)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      })
    })
  })
}
