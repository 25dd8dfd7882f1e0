import { spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'

/** A reason not to go on, and what to do about it. */
export class Refusal extends Error {
  readonly hint: string
  readonly exitCode: 1 | 2

  constructor(message: string, hint: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.hint = hint
    this.exitCode = exitCode
  }
}

/** Ends the program that runs when a signal arrives. */
export const interrupted = new AbortController()

/** Prints a step on standard error. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Runs git; returns what it printed, without the line break at the end. A signal does not end it. */
export async function git(...words: readonly string[]): Promise<string> {
  return (await run('git', words, { isShort: true })).trimEnd()
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Whether its output appears while it runs. */
  readonly isShown?: boolean
  /** Whether it runs to its end even when a signal arrives. */
  readonly isShort?: boolean
}

/** Maximum number of lines of a failed program's output that are printed. */
const maxLines = 30

/** Runs a program to its end; returns its standard output. Throws with the end of its output if it fails. */
export function run(
  program: string,
  words: readonly string[],
  { cwd = '.', env, isShown = false, isShort = false }: RunOptions = {},
): Promise<string> {
  const shown = [program, ...words].join(' ')
  const { signal } = interrupted
  return new Promise((resolve, reject) => {
    const output = isShown ? process.stderr.fd : 'pipe'
    const child = spawn(program, words, {
      cwd,
      env: env ? { PATH: process.env['PATH'], ...env } : process.env,
      stdio: ['ignore', output, output],
      // A group of its own: npm passes a signal to the shell that it starts, and not to what runs in that.
      detached: true,
    })
    const end = () => void signalGroup(child.pid, 'SIGTERM')
    if (!isShort) signal.addEventListener('abort', end, { once: true })
    if (!isShort && signal.aborted) end()
    const out: Buffer[] = []
    const all: Buffer[] = []
    child.stdout?.on('data', (chunk: Buffer) => {
      out.push(chunk)
      all.push(chunk)
    })
    child.stderr?.on('data', (chunk: Buffer) => all.push(chunk))
    child.on('error', (error) => {
      reject(new Refusal(`Cannot run ${shown}: ${error.message}`, `Install ${program}`))
    })
    child.on('close', async (code) => {
      signal.removeEventListener('abort', end)
      if (signal.aborted && !isShort) {
        // It may end before what it has started, which still writes.
        await untilGroupEnded(child.pid)
        return reject(new Refusal(`Interrupted: ${shown}`, 'Run the release again'))
      }
      if (code === 0) return resolve(Buffer.concat(out).toString())
      const said = Buffer.concat(all).toString().trimEnd().split('\n').slice(-maxLines).join('\n')
      reject(
        new Refusal(
          `${shown} failed (${code ?? child.signalCode})${said === '' ? '' : `:\n${said}`}`,
          'Mend it, commit, and run the release again',
        ),
      )
    })
  })
}

/** Time that interrupted programs get to end by themselves. */
const patienceMs = 5_000

/** Waits until no process of a group is left; kills those that do not end in time. */
async function untilGroupEnded(group: number | undefined): Promise<void> {
  const limit = Date.now() + patienceMs
  while (signalGroup(group, 0) && Date.now() < limit) await setTimeout(50)
  signalGroup(group, 'SIGKILL')
}

/** Signals a program and all that it has started; returns whether any of them was there. */
function signalGroup(group: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (group === undefined) return false
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
