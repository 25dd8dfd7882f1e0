import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { main } from '../../src/cli/main.ts'
import { type Transports, transports } from '../../src/cli/session/session.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import type { Transport } from '../../src/contract/http.ts'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { type RunningServer, type ServeOptions, serve } from '../../src/server/socket/serve.ts'
import { test as base, freshDirectory, passwordCost } from './academy.ts'
import { putNewAcademy } from './new-academy.ts'
import { builtThread } from './process.ts'
import { transportOf } from './web.ts'

/** Result of a run of the program. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Options of a run; by default there is no terminal and no input. */
export interface RunOptions {
  /** Content of standard input, as text or bytes. */
  readonly stdin?: string | Uint8Array
  /** Variables besides HOME. */
  readonly env?: Readonly<Record<string, string>>
  /** Makes all three streams a terminal of this width. */
  readonly tty?: number
  /** Texts to type at the terminal, one for each question. */
  readonly typed?: readonly string[]
  /** Number of bytes after which standard output fails like a pipe without a reader. */
  readonly readerLeavesAfter?: number
  readonly signal?: AbortSignal
  /** Keeps the line breaks of a narrow terminal in standard error; otherwise lines are joined again. */
  readonly broken?: true
  /** Called with everything printed so far, after each write. */
  readonly onStdout?: (printed: string) => void
  /** The same for standard error; `type` types at the terminal. */
  readonly onStderr?: (printed: string, type: (text: string) => void) => void
}

/** The program on a fresh home directory, run in this process. */
export interface TestCli {
  /** Runs a command line, given as words or as text with shell quotes. */
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>
  /** Runs words with streams of the caller, and returns the exit code. */
  start(argv: readonly string[], io: Pick<Io, 'stdin' | 'stdout' | 'signal'> & Partial<Io>): Promise<number>
  readonly home: string
  readonly cwd: string
  /** Directory of the profiles. */
  readonly config: string
  remove(): void
}

/** Replaces the world outside the program. */
export interface TestCliOptions {
  /** Home of another TestCli (default a new directory). */
  readonly home?: string
  /** Receives the requests to every platform, instead of the network. */
  readonly transport?: Transport
  /** Milliseconds since 1970 (default 2026-03-01T12:00:00Z). */
  readonly now?: () => number
  /** Options of a started server besides those of its command line. */
  readonly serve?: Partial<ServeOptions>
  /** Overrides what a started server reports about itself. */
  readonly served?: Partial<RunningServer>
  /** Opens a page in the user's browser. */
  readonly openBrowser?: (url: string) => Promise<void>
  /** Waits (default: returns at once). */
  readonly sleep?: Io['sleep']
  /** Variables of every run. */
  readonly env?: Readonly<Record<string, string>>
}

/** Makes a program with its own home, which `remove` deletes. */
export function testCli(options: TestCliOptions = {}): TestCli {
  const home = options.home ?? freshDirectory().path
  const cwd = join(home, 'work')
  mkdirSync(cwd, { recursive: true })
  const { transport, now = () => Date.parse('2026-03-01T12:00:00.000Z') } = options
  const reach: Transports = {
    local: async (options) => openAcademy({ ...options, passwordCost }),
    remote: transport
      ? async () => Object.assign(transport.bind(null), { close: async () => {} })
      : transports.remote,
    serve: async (given) => ({
      ...(await serve({
        ...given,
        passwordCost,
        longReads: { threadFile: builtThread() },
        ...options.serve,
      })),
      ...options.served,
    }),
  }

  const start: TestCli['start'] = (argv, io) =>
    main(
      argv,
      {
        stderr: sink(),
        env: { HOME: home, ...options.env },
        home,
        cwd,
        platform: 'linux',
        now,
        sleep: options.sleep ?? (async () => {}),
        random: () => 0.5,
        openBrowser: options.openBrowser ?? (async () => {}),
        ...io,
      },
      reach,
    )

  async function run(line: string | readonly string[], given: RunOptions = {}): Promise<Ran> {
    const stdout = sink(given.readerLeavesAfter, given.tty, given.onStdout)
    const stderr = sink(undefined, given.tty, (printed) => given.onStderr?.(printed, type))
    const stdin =
      given.tty === undefined ? Readable.from([given.stdin ?? '']) : keyboard(given.typed ?? [], stderr)
    const type = (text: string) => setImmediate(() => stdin instanceof PassThrough && stdin.write(text))
    const code = await start(typeof line === 'string' ? splitWords(line) : line, {
      stdin,
      stdout,
      stderr,
      env: { HOME: home, ...options.env, ...given.env },
      signal: given.signal ?? new AbortController().signal,
    })
    const printed = given.tty === undefined || given.broken ? stderr.text() : joined(stderr.text())
    assertSentenceCase(joined(printed))
    return { code, stdout: stdout.text(), stderr: printed }
  }

  return {
    run,
    start,
    home,
    cwd,
    config: join(home, '.config', 'learnctl'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Joins the lines of errors and notes that a narrow terminal broke. */
function joined(stderr: string): string {
  const text = stderr.replace(/^(.*(?:note|error):.* .*| {2}\S.*)\n {4}(?=\S)/gm, '$1 ')
  return text === stderr ? text : joined(text)
}

/** Throws if an error, a note or a hint begins with a lowercase word that is no name, path, command or field. */
function assertSentenceCase(stderr: string): void {
  const lines = stderr.replaceAll(ansiCodes, '').matchAll(/^(?:error: |note: | {2}(?:hint: )?)(\S+)( \w*)?/gm)
  for (const [line, first = '', second = ''] of lines) {
    const isWord = /^[a-z]+[,;]?$/.test(first) && !['learnctl', 'npx'].includes(first)
    const isField = / (is|must|cannot|has)$/.test(second)
    if (first === 'and' && /^ \d+$/.test(second)) continue
    if (isWord && !isField && line !== '  request id') throw new Error(`not in sentence case: ${line}`)
  }
}

type Sink = Writable & { text(): string; isTTY?: boolean; columns?: number }

function sink(
  readerLeavesAfter = Number.POSITIVE_INFINITY,
  columns?: number,
  onText?: (text: string) => void,
): Sink {
  const chunks: Buffer[] = []
  let size = 0
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      size += chunk.length
      if (size > readerLeavesAfter) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
        return
      }
      chunks.push(chunk)
      onText?.(text())
      done()
    },
  })
  const text = () => Buffer.concat(chunks).toString('utf8')
  // Like those of a process, a terminal's streams stay open after end().
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns, end: () => stream })
  return Object.assign(stream, { text })
}

const ansiCodes = /\u001b\[[0-9;?]*[A-Za-z]/g

/** A terminal's keyboard: types each text when the next question is on the screen. */
function keyboard(typed: readonly string[], screen: Sink): PassThrough & { isTTY: boolean } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stream })
  const remaining = [...typed]
  let answered = 0
  // A person waits for the search results before choosing: press Enter until the question is settled.
  const search = (text: string, asked: number) => {
    stream.write(text.replace(/\r$/, ''))
    const timer = setInterval(() => {
      const settled = screen.text().replaceAll(ansiCodes, '').split('✔').length > asked
      if (settled || stream.destroyed) clearInterval(timer)
      else stream.write('\r')
    }, 20)
    timer.unref()
  }
  const write = screen._write.bind(screen)
  screen._write = (chunk, encoding, done) => {
    write(chunk, encoding, (error) => {
      done(error)
      // Each settled question has a tick; the next question follows the line of the last tick.
      const parts = screen.text().replaceAll(ansiCodes, '').split('✔')
      const rest = parts.length === 1 ? parts[0] : parts.at(-1)?.replace(/^[^\n]*/, '')
      if (parts.length <= answered || !rest?.includes('? ')) return
      answered = parts.length
      const isSearch = rest.includes('(type to search)')
      const next = remaining.shift()
      if (next !== undefined) setImmediate(() => (isSearch ? search(next, answered) : stream.write(next)))
    })
  }
  return stream
}

/** Splits a command line into words, separated by spaces and grouped by single or double quotes. */
export function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )
}

/** Returns a platform without a network: an academy of the tests, which asks for a key. */
export function transportTo({ fetch }: { fetch: (request: Request) => Promise<Response> }): Transport {
  return transportOf(fetch)
}

const plain: TestCliOptions = {}

/**
 * A vitest test with the program: `cli` has no academy yet, `local` has a new one in a file, and `remote`, which has no
 * credential yet, reaches the academy of the test at https://school.example.
 */
export const test = base
  .extend('options', plain)
  .extend('cli', async ({ options }, { onCleanup }) => {
    const cli = testCli(options)
    onCleanup(() => cli.remove())
    return cli
  })
  .extend('local', async ({ options }, { onCleanup }) => {
    const cli = testCli({ ...options, env: { ...options.env, LEARNCTL_DATABASE: 'academy.db' } })
    onCleanup(() => cli.remove())
    await putNewAcademy(join(cli.cwd, 'academy.db'))
    return cli
  })
  .extend('remote', async ({ options, academy }, { onCleanup }) => {
    const cli = testCli({ transport: transportTo(academy), ...options })
    onCleanup(() => cli.remove())
    return cli
  })
