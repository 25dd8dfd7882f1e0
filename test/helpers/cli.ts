import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { expect } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { type Transports, transports } from '../../src/cli/session/session.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import type { Transport } from '../../src/contract/http.ts'
import { openAcademy, openCurrentAcademy } from '../../src/server/academy/local-academy.ts'
import { type RunningServer, serve } from '../../src/server/socket/serve.ts'
import { test as base, freshDirectory, passwordCost } from './academy.ts'
import { putNewAcademy, start } from './new-academy.ts'
import { builtThread } from './process.ts'
import { transportOf } from './web.ts'

/** What one run of the program left behind. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** How one run differs from the plain one: no terminal, nothing on standard input, an environment of its own. */
export interface RunOptions {
  /** What standard input holds: text, or bytes that are none. */
  readonly stdin?: string | Uint8Array
  /** Variables beside HOME. */
  readonly env?: Readonly<Record<string, string>>
  /** The width of a terminal that all three streams are. */
  readonly tty?: number
  /** What is typed at the terminal, one text after each question. */
  readonly typed?: readonly string[]
  /** Standard output that fails like a pipe without a reader, after this many bytes. */
  readonly readerLeavesAfter?: number
  readonly signal?: AbortSignal
  /** True to get the lines of standard error as a narrow terminal breaks them; else they are joined again. */
  readonly broken?: true
  /** Is told everything that was printed so far, each time that more was. */
  readonly onStdout?: (printed: string) => void
  /** The same for standard error; `type` types at the terminal. */
  readonly onStderr?: (printed: string, type: (text: string) => void) => void
}

/** The program on a fresh home directory, run in this process. */
export interface TestCli {
  /** Runs a command line, given as words or as text with the quotes of a shell. */
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>
  readonly home: string
  readonly cwd: string
  /** Where profiles are kept. */
  readonly config: string
  remove(): void
}

/** How the program reaches the world in a test. */
export interface TestCliOptions {
  /** The home of another one (default a new directory). */
  readonly home?: string
  /** Carries every request to a platform elsewhere, instead of the network. */
  readonly transport?: Transport
  /** Milliseconds since 1970; 2026-03-01T12:00:00Z unless told otherwise. */
  readonly now?: () => number
  /** What a server that has been started says of itself, in place of what it says. */
  readonly served?: Partial<RunningServer>
  /** What opens a page in the user's browser. */
  readonly openBrowser?: (url: string) => Promise<void>
  /** Waits; no wait takes any time unless told otherwise. */
  readonly sleep?: Io['sleep']
  /** Variables of every run. */
  readonly env?: Readonly<Record<string, string>>
}

/** A program with a home of its own, which `remove` deletes again. */
export function testCli(options: TestCliOptions = {}): TestCli {
  const home = options.home ?? freshDirectory().path
  const cwd = join(home, 'work')
  mkdirSync(cwd, { recursive: true })
  const { transport, now = () => Date.parse('2026-03-01T12:00:00.000Z') } = options
  const reach: Transports = {
    local: async (options) => openAcademy({ ...options, passwordCost }),
    current: async (path, now) => openCurrentAcademy({ path, now }),
    remote: transport
      ? async () => Object.assign(transport.bind(null), { close: async () => {} })
      : transports.remote,
    serve: async (given) => ({
      ...(await serve({ ...given, passwordCost, longReads: { threadFile: builtThread() } })),
      ...options.served,
    }),
  }

  async function run(line: string | readonly string[], given: RunOptions = {}): Promise<Ran> {
    const stdout = sink(given.readerLeavesAfter, given.tty, given.onStdout)
    const stderr = sink(undefined, given.tty, (printed) => given.onStderr?.(printed, type))
    const stdin =
      given.tty === undefined ? Readable.from([given.stdin ?? '']) : keyboard(given.typed ?? [], stderr)
    const type = (text: string) => setImmediate(() => stdin instanceof PassThrough && stdin.write(text))
    const io: Io = {
      stdin,
      stdout,
      stderr,
      env: { HOME: home, ...options.env, ...given.env },
      home,
      cwd,
      platform: 'linux',
      now,
      sleep: options.sleep ?? (async () => {}),
      random: () => 0.5,
      openBrowser: options.openBrowser ?? (async () => {}),
      signal: given.signal ?? new AbortController().signal,
    }
    const code = await main(typeof line === 'string' ? words(line) : line, io, reach)
    const told = given.tty === undefined || given.broken ? stderr.text() : joined(stderr.text())
    assertSentenceCase(joined(told))
    return { code, stdout: stdout.text(), stderr: told }
  }

  return {
    run,
    home,
    cwd,
    config: join(home, '.config', 'learnctl'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** The lines of errors and notes that a terminal was too narrow for, in one again. */
function joined(stderr: string): string {
  const text = stderr.replace(/^(.*(?:note|error):.* .*| {2}\S.*)\n {4}(?=\S)/gm, '$1 ')
  return text === stderr ? text : joined(text)
}

/** Throws where an error, a note or a hint begins with a small letter; a name, a path, a command or a field may. */
function assertSentenceCase(stderr: string): void {
  const told = stderr.replaceAll(ansiCodes, '').matchAll(/^(?:error: |note: | {2}(?:hint: )?)(\S+)( \w*)?/gm)
  for (const [line, first = '', second = ''] of told) {
    const isWord = /^[a-z]+[,;]?$/.test(first) && !['learnctl', 'npx'].includes(first)
    const isField = / (is|must|cannot|has)$/.test(second)
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
  // Like those of a process, a terminal's streams stay open, whoever ends them.
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns, end: () => stream })
  return Object.assign(stream, { text })
}

const ansiCodes = /\u001b\[[0-9;?]*[A-Za-z]/g

/** A terminal's keyboard: each text is typed when the next question stands on the screen. */
function keyboard(typed: readonly string[], screen: Sink): PassThrough & { isTTY: boolean } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stream })
  const left = [...typed]
  let answered = 0
  // A person looks at what is found before they choose: Enter is typed until the question is settled.
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
      // Every question that is settled has its tick; what follows the line of the last one is the next question.
      const parts = screen.text().replaceAll(ansiCodes, '').split('✔')
      const rest = parts.length === 1 ? parts[0] : parts.at(-1)?.replace(/^[^\n]*/, '')
      if (parts.length <= answered || !rest?.includes('? ')) return
      answered = parts.length
      const isSearch = rest.includes('(type to search)')
      const next = left.shift()
      if (next !== undefined) setImmediate(() => (isSearch ? search(next, answered) : stream.write(next)))
    })
  }
  return stream
}

/** The words of a command line: separated by spaces, held together by single or double quotes. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )
}

/** A platform elsewhere, without a network: what an academy of the tests answers to whoever has a key. */
export function elsewhere({ fetch }: { fetch: (request: Request) => Promise<Response> }): Transport {
  return transportOf(fetch)
}

const plain: TestCliOptions = {}

/**
 * A vitest test with the program: `cli` knows no academy yet, `local` has a new one in a file, and to `remote`, which
 * has no credential yet, the academy of the test is at https://school.example.
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
    const cli = testCli({ transport: elsewhere(academy), ...options })
    onCleanup(() => cli.remove())
    return cli
  })

/** What quickstart printed, and the files that it left in a home. */
interface Quickstarted {
  readonly home: string
  readonly ran: Ran
  readonly files: readonly { readonly path: string; readonly mode: number; readonly bytes: Buffer }[]
}

/** The result of quickstart of which the tests of a worker get copies: to run it takes a second. */
let original: Promise<Quickstarted> | undefined

/** Puts into the home of a program what quickstart leaves there; returns what quickstart printed. */
export async function putQuickstart({ home, config }: TestCli): Promise<Ran> {
  original ??= makeOriginal()
  const { home: from, ran, files } = await original
  for (const { path, mode, bytes } of files) {
    mkdirSync(join(home, dirname(path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(home, path), bytes, { mode })
  }
  const profiles = join(config, 'profiles.json')
  writeFileSync(profiles, readFileSync(profiles, 'utf8').replaceAll(from, home))
  return { ...ran, stdout: ran.stdout.replaceAll(from, home) }
}

async function makeOriginal(): Promise<Quickstarted> {
  let time = Date.parse(start)
  // No two records are made at the same time: lists have their order.
  const cli = testCli({ now: () => ++time })
  try {
    const ran = await cli.run('quickstart')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const files = readdirSync(cli.home, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      const file = statSync(join(cli.home, path))
      return file.isFile() ? [{ path, mode: file.mode, bytes: readFileSync(join(cli.home, path)) }] : []
    })
    return { home: cli.home, ran, files }
  } finally {
    cli.remove()
  }
}
