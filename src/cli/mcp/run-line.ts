import { Readable, Writable } from 'node:stream'
import { isJsonObject, type JsonObject, parseJson, parseJsonOrNull } from '../../codec/json-text.ts'
import { settings, variableOf } from '../../config/setting.ts'
import type { RunApart } from '../command/command.ts'
import { InterruptedError } from '../terminal/errors.ts'
import type { Io, Output } from '../terminal/io.ts'

const maxRunMs = 120_000
/** Maximum characters of a run's output that are kept; the run ends when it exceeds them. */
const maxOutput = 4 * 1024 * 1024
/** Maximum characters of its messages that are kept. */
const maxMessages = 64 * 1024

export interface RunResult {
  readonly exitCode: number
  /** Records that it printed; null if the output is not JSON. */
  readonly records: readonly unknown[] | null
  /** True if it printed more than is kept. */
  readonly isCut: boolean
  /** Its error, as `-o json` prints it. */
  readonly error: JsonObject | null
  readonly notes: readonly string[]
}

/** Variables of the user that would change the form of a result, or log to standard error. */
const ignoredVariables: ReadonlySet<string> = new Set(
  (['output', 'columns', 'quiet', 'limit', 'all', 'yes', 'color', 'debug'] as const).map((name) =>
    variableOf(settings[name]),
  ),
)

/** Runs a command line that prints JSON, without a terminal and without input, and collects its result. */
export async function runLine(
  argv: readonly string[],
  io: Io,
  runApart: RunApart,
  options: { readonly signal: AbortSignal; readonly onReply?: (text: string) => void },
): Promise<RunResult> {
  const ended = new AbortController()
  const [stdout, stderr] = [collector(maxOutput), collector(maxMessages)]
  const timer = setTimeout(() => ended.abort(new InterruptedError('SIGTERM')), maxRunMs)
  const cancel = () => ended.abort(new InterruptedError('SIGINT'))
  options.signal.addEventListener('abort', cancel, { once: true })
  if (options.signal.aborted) cancel()
  try {
    const exitCode = await runApart(
      argv,
      {
        stdin: Readable.from([]),
        stdout: stdout.stream,
        stderr: stderr.stream,
        env: Object.fromEntries(Object.entries(io.env).filter(([name]) => !ignoredVariables.has(name))),
        home: io.home,
        cwd: io.cwd,
        platform: io.platform,
        now: io.now,
        sleep: io.sleep,
        random: io.random,
        openBrowser: async () => {
          throw new TypeError('there is no browser')
        },
        signal: ended.signal,
      },
      options.onReply,
    )
    const lines = stderr.text().split('\n')
    return {
      exitCode,
      records: recordsIn(stdout.text(), stdout.isFull()),
      isCut: stdout.isFull(),
      error: errorIn(lines),
      notes: lines.flatMap((line) => /^note: (.*)/.exec(line)?.[1] ?? []),
    }
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', cancel)
  }
}

/** Collects text up to a limit; then it fails like a pipe without a reader, which ends a command. */
function collector(maxCharacters: number) {
  const pieces: string[] = []
  let size = 0
  const stream: Output = new Writable({
    decodeStrings: false,
    defaultEncoding: 'utf8',
    write(piece: string | Buffer, _, done) {
      const text = typeof piece === 'string' ? piece : piece.toString('utf8')
      size += text.length
      if (size > maxCharacters) done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
      else {
        pieces.push(text)
        done()
      }
    },
  })
  return { stream, text: () => pieces.join(''), isFull: () => size > maxCharacters }
}

/** Returns the records of JSON Lines, or of one JSON document; null for other text. */
function recordsIn(text: string, isCut: boolean): readonly unknown[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  // The last line may be incomplete.
  if (isCut) lines.pop()
  try {
    return lines.map((line) => parseJson(line))
  } catch {
    const whole = parseJsonOrNull(text)
    return whole === null ? null : Array.isArray(whole) ? whole : [whole]
  }
}

function errorIn(lines: readonly string[]): JsonObject | null {
  for (const line of lines.toReversed()) {
    const value = line.startsWith('{') ? parseJsonOrNull(line) : null
    if (isJsonObject(value) && isJsonObject(value['error'])) return value['error']
  }
  return null
}
