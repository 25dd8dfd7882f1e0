import { fstatSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { escapeHidden, escapeHiddenInDocument } from '../../codec/display-text.ts'
import type { Place } from '../../config/directories.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError, InterruptedError, ReaderGoneError } from './errors.ts'
import { wrap } from './format-text.ts'

export type Input = Readable & { readonly isTTY?: boolean }
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }
export type Output = OutputStream | FileOutput
interface FileOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): unknown
  stream(): OutputStream
}

export interface Io extends Place {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
  /** Opens only http and https. Reports no failure. */
  readonly openBrowser: (url: string) => Promise<void>
  /** Aborted by SIGINT, SIGTERM and SIGHUP, with an InterruptedError as its reason. */
  readonly signal: AbortSignal
  /** Tunes garbage collection for much short-lived data, in a process of its own. */
  readonly expectGarbage?: () => Promise<void>
}

type Printing = Pick<Io, 'stderr'> & Partial<Pick<Io, 'env'>>

export function processIo(): Io {
  let stdout: Output | undefined
  let stderr: Output | undefined
  return {
    // Opening standard input keeps a process alive, so only its readers may do so.
    get stdin() {
      return process.stdin
    },
    get stdout() {
      stdout ??= isDevice(1) ? process.stdout : fileOutput(1, () => process.stdout)
      return stdout
    },
    get stderr() {
      stderr ??= isDevice(2) ? process.stderr : fileOutput(2, () => process.stderr)
      return stderr
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
    signal: signalOnInterrupt(),
    expectGarbage,
  }
}

/**
 * Keeps V8's young generation at its initial size: it would grow to 128 MiB, where short-lived rows and
 * requests take as long to collect as in 2 MiB. Collects the old generation once it has grown by half; by
 * default V8 waits until it is several times as large.
 */
async function expectGarbage(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}

/** Ctrl-C can arrive twice, from the terminal and from a launcher such as npm. */
const oneSignalMs = 100

/** Leaves time to clean up; the second interrupt ends the process. */
function signalOnInterrupt(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const onSignal = () => {
      controller.abort(new InterruptedError(name))
      setTimeout(() => process.off(name, onSignal), oneSignalMs).unref()
    }
    process.on(name, onSignal)
  }
  return controller.signal
}

async function openBrowser(url: string): Promise<void> {
  // Any other scheme might start a program.
  if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`${url} is not a web page`)
  const { default: open } = await import('open')
  const child = await open(url)
  child.on('error', () => {})
}

/**
 * Ignores later errors of a stream: without a listener, a terminal that closes would end the process before
 * its clean-up.
 */
export function ignoreStreamErrors(stream: OutputStream): void {
  if (stream.listenerCount('error') === 0) stream.on('error', () => {})
}

/** True for a terminal, and for what is closed. */
function isDevice(file: number): boolean {
  try {
    return fstatSync(file).isCharacterDevice()
  } catch {
    return true
  }
}

/**
 * Returns an output that is a pipe or a file. Its stream, which loads a dozen modules of Node, is opened only when the pipe
 * does not take all at once: the stream waits, or says why not.
 */
function fileOutput(file: number, open: () => OutputStream): FileOutput {
  let opened: OutputStream | undefined
  function stream(): OutputStream {
    opened ??= open()
    ignoreStreamErrors(opened)
    return opened
  }
  return {
    write(text, done) {
      const rest = opened ? text : restAfterWrite(file, text)
      return rest.length > 0 ? stream().write(rest, done) : done?.()
    },
    stream,
  }
}

/** Returns an output as a stream, which waits for its reader without stopping this process. */
export function streamOf(output: Output): OutputStream {
  return 'stream' in output ? output.stream() : output
}

function restAfterWrite(file: number, text: string | Uint8Array): Uint8Array {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(file, rest))
  } catch {
    // The stream says why.
  }
  return rest
}

/** Waits for backpressure. Throws ReaderGoneError, and a CommandError on other errors such as a full disk. */
export function write(stream: Output, text: string | Uint8Array): Promise<void> {
  // The callback below reports errors.
  if (!('stream' in stream)) ignoreStreamErrors(stream)
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

/** Ignores that the reader has gone. In a workflow of GitHub the text runs no commands of the runner. */
export async function writeStderr(io: Printing, text: string): Promise<void> {
  try {
    await write(io.stderr, io.env?.['GITHUB_ACTIONS'] === 'true' ? withoutWorkflowCommands(text) : text)
  } catch (error) {
    if (!(error instanceof ReaderGoneError)) throw error
  }
}

/** Breaks `::name::` at the beginning of a line, and `##[name]` anywhere (actions/runner@079cdb1, ActionCommand.cs). */
function withoutWorkflowCommands(text: string): string {
  return text.replace(/^([^\S\n]*):(?=:)/gm, '$1: ').replaceAll('##[', '## [')
}

export function note(io: Printing, text: string): Promise<void> {
  return writeStderr(io, `${wrapLine(io, `note: ${escapeHidden(text)}`)}\n`)
}

/** Deeper than the lines of a reason. */
const continuationIndent = '    '

export function wrapLine({ stderr: { isTTY, columns } }: Pick<Io, 'stderr'>, line: string): string {
  if (!isTTY || columns === undefined) return line
  const indent = /^ */.exec(line)?.[0] ?? ''
  const lines = wrap(line.slice(indent.length), Math.max(columns - continuationIndent.length, 20))
  return `${indent}${lines.join(`\n${continuationIndent}`)}`
}

export function writeDebug(io: Printing, text: string): Promise<void> {
  return writeStderr(io, `debug: ${escapeHidden(text)}\n`)
}

interface ExactText {
  write(piece: string | Uint8Array): Promise<void>
  /** Writes the rest of an incomplete character or line end. */
  end(): Promise<void>
}

export function createExactWriter(
  stream: Output,
  mask: (text: string) => string = (text) => text,
): ExactText {
  if (!stream.isTTY) return { write: (piece) => write(stream, piece), end: async () => {} }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let pending = ''
  const show = (text: string, last: boolean) => {
    const whole = pending + text
    // The line feed of a CRLF may be in the next piece.
    pending = !last && whole.endsWith('\r') ? '\r' : ''
    return write(stream, mask(escapeHiddenInDocument(pending === '' ? whole : whole.slice(0, -1))))
  }
  return {
    write: (piece) =>
      show(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }), false),
    end: () => show(decoder.decode(), true),
  }
}
