import { type Readable, Writable } from 'node:stream'
import { type Io, ignoreStreamErrors } from '../terminal/io.ts'

export const maxLineBytes = 1024 * 1024

/** A line of a stream; null for one that is longer than a message may be, or not UTF-8. */
type Line = string | null

/**
 * Yields the lines of a stream, without their ends. At most one line is in memory: what exceeds its limit is
 * discarded up to the next line.
 */
export async function* readLines(stream: Readable): AsyncGenerator<Line> {
  let held: Buffer[] = []
  let size = 0
  let isTooLong = false
  const take = (): Line => {
    const line = isTooLong ? null : decode(Buffer.concat(held))
    ;[held, size, isTooLong] = [[], 0, false]
    return line
  }
  for await (const chunk of stream) {
    let bytes = Buffer.from(chunk)
    for (;;) {
      const end = bytes.indexOf(lineFeed)
      const part = end < 0 ? bytes : bytes.subarray(0, end)
      if (size + part.length > maxLineBytes) [held, isTooLong] = [[], true]
      else if (!isTooLong && part.length > 0) {
        held.push(part)
        size += part.length
      }
      if (end < 0) break
      yield take()
      bytes = bytes.subarray(end + 1)
    }
  }
  if (size > 0 || isTooLong) yield take()
}

const lineFeed = 0x0a
const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): Line {
  try {
    return utf8.decode(bytes).replace(/\r$/, '')
  } catch {
    return null
  }
}

/** The streams of a server whose standard output has protocol messages alone. */
interface Guarded {
  readonly io: Io
  end(): void
}

/**
 * Keeps standard output for protocol messages: whatever else in this process writes to it, such as a warning of a
 * library, goes to standard error.
 */
export function guardOutput(io: Io): Guarded {
  const { stdin, stdout, stderr } = io
  if (stdout !== process.stdout) return { io, end: () => {} }
  ignoreStreamErrors(stdout)
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const messages = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _, done) {
      write(chunk, done)
    },
  })
  return {
    io: { ...io, stdin, stdout: messages, stderr },
    end: () => {
      process.stdout.write = write
    },
  }
}
