import { homedir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { visible } from '../../codec/visible.ts'
import type { Place } from '../../config/directories.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError, InterruptedError, ReaderGoneError } from './errors.ts'
import { wrap } from './two-columns.ts'

/** What is read from; a terminal says so. */
export type Input = Readable & { readonly isTTY?: boolean }
/** What is written to; a terminal says so, and how wide it is. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** Everything that a run takes from the world and gives to it. */
export interface Io extends Place {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
  /** Shows a page, http or https, in the user's browser, where there is one: nothing tells whether it did. */
  readonly openBrowser: (url: string) => Promise<void>
  /** Aborted by SIGINT, SIGTERM and SIGHUP, with an InterruptedError as its reason. */
  readonly signal: AbortSignal
  /** Tells a process of its own that what it makes from now on is much, and of no use a moment later. */
  readonly expectGarbage?: () => Promise<void>
}

/** The process's own streams, environment, clock and signals. */
export function processIo(): Io {
  return {
    // Opening standard input keeps a process alive: only who reads it may touch it.
    get stdin() {
      return process.stdin
    },
    get stdout() {
      return process.stdout
    },
    get stderr() {
      return process.stderr
    },
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    platform: process.platform,
    now: Date.now,
    sleep: async (ms, signal) => {
      const { setTimeout } = await import('node:timers/promises')
      await setTimeout(ms, undefined, signal ? { signal } : {})
    },
    random: Math.random,
    openBrowser,
    signal: interruption(),
    expectGarbage,
  }
}

/**
 * Keeps V8's room for new objects as small as it is at first: it would grow to 128 MiB, and rows and requests that die at
 * once take as long to clear away there as in 2 MiB. What gets old is cleared away once it is half as much again as what is
 * in use: by itself V8 waits for several times as much.
 */
async function expectGarbage(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}

/** Ctrl-C comes from the terminal and again from a launcher such as npm: within this time that is one signal. */
const oneSignalMs = 100

/** Aborted by the first signal, so that there is time to clean up. A second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const hear = () => {
      controller.abort(new InterruptedError(name))
      setTimeout(() => process.off(name, hear), oneSignalMs).unref()
    }
    process.on(name, hear)
  }
  return controller.signal
}

async function openBrowser(url: string): Promise<void> {
  // Anything else might be a program to run.
  if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`${url} is not a web page`)
  const { default: open } = await import('open')
  const child = await open(url)
  child.on('error', () => {})
}

/** A terminal that closes must not end the process before its clean-up, as an `error` without a listener would. */
export function outliveFaults(stream: Output): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {})
}

/**
 * Writes to a stream and waits until it took everything, so that a slow reader slows the writer down. Throws
 * ReaderGoneError when nobody reads any more, and a CommandError on a full disk and the like.
 */
export function write(stream: Output, text: string | Uint8Array): Promise<void> {
  // The callback below reports the fault.
  outliveFaults(stream)
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(writeFault(error))
      else resolve()
    })
  })
}

function writeFault(cause: Error): Error {
  const code = systemCode(cause)
  if (code !== undefined && /^(EPIPE|ERR_STREAM_(DESTROYED|WRITE_AFTER_END))$/.test(code)) {
    return new ReaderGoneError('the output was closed by its reader', { cause })
  }
  const why = code === 'ENOSPC' ? 'the disk is full' : (code ?? cause.message)
  return new CommandError('output_failed', 'failure', `Cannot write the output: ${why}`, { cause })
}

/** Writes to standard error; a reader that has gone changes nothing about the work. */
export async function say(io: Pick<Io, 'stderr'>, text: string): Promise<void> {
  try {
    await write(io.stderr, text)
  } catch (error) {
    if (!(error instanceof ReaderGoneError)) throw error
  }
}

/** A line on standard error, `note: …`, about what happened beside the result. */
export function note(io: Pick<Io, 'stderr'>, text: string): Promise<void> {
  return say(io, `${fitted(io, `note: ${visible(text)}`)}\n`)
}

/** Indentation of what continues a line: further than the lines that say why. */
const continued = '    '

/** A line for standard error, broken between words where a terminal is narrower; what follows is indented further. */
export function fitted({ stderr: { isTTY, columns } }: Pick<Io, 'stderr'>, line: string): string {
  if (!isTTY || columns === undefined) return line
  const indent = /^ */.exec(line)?.[0] ?? ''
  const lines = wrap(line.slice(indent.length), Math.max(columns - continued.length, 20))
  return `${indent}${lines.join(`\n${continued}`)}`
}

/** A line on standard error, `debug: …`, about one exchange. */
export function debugLine(io: Pick<Io, 'stderr'>, text: string): Promise<void> {
  return say(io, `debug: ${visible(text)}\n`)
}
