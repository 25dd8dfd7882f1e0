import { type Output, write } from './io.ts'

export interface LineWriter {
  write(line: string): void
  /** Writes the waiting lines; gives up on a reader that does not read. */
  close(): Promise<void>
}

interface Pace {
  /** Maximum time that a line waits for others. */
  readonly everyMs?: number
  /** Maximum characters that wait for a slow reader. */
  readonly maxWaiting?: number
  /** Maximum time that `close` waits for a slow reader. */
  readonly closeTimeoutMs?: number
}

const pipeCapacity = 64 * 1024

/**
 * Creates a writer that batches the lines of a tenth of a second: one system call for all, on a busy server.
 * Waiting lines are written before the process ends, also in a crash.
 *
 * A slow reader blocks nothing: beyond a megabyte lines are dropped, and one line gives their number. The
 * writer ignores that a reader has gone.
 *
 * @param dropped returns the line, with its LF, that replaces a number of dropped lines
 */
export function createLineWriter(
  stream: Output,
  dropped: (count: number) => string,
  { everyMs = 100, maxWaiting = 1024 * 1024, closeTimeoutMs = 1000 }: Pace = {},
): LineWriter {
  let waiting = ''
  let lost = 0
  let written: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  function takeWaiting(): string {
    process.off('exit', last)
    const text = lost > 0 ? waiting + dropped(lost) : waiting
    waiting = ''
    lost = 0
    return text
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    // Write one piece at a time: the stream's own buffer has no bound.
    if (written || waiting === '') return
    written = write(stream, takeWaiting())
      .catch(() => {})
      .then(() => {
        written = undefined
        flush()
      })
  }

  // Registered only while lines wait, so that a writer that is not closed leaves no listener.
  function last(): void {
    stream.write(takeWaiting())
  }

  return {
    write(line) {
      if (line === '') return
      if (lost > 0 || waiting.length + line.length > maxWaiting) {
        lost += 1
        return
      }
      if (waiting === '') process.on('exit', last)
      waiting += line
      if (waiting.length >= pipeCapacity) flush()
      else timer ??= setTimeout(flush, everyMs).unref()
    },
    async close() {
      process.off('exit', last)
      flush()
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const giveUp = setTimeout(resolve, closeTimeoutMs)
      while (written && (await Promise.race([written.then(() => true), late]))) {}
      clearTimeout(giveUp)
    },
  }
}
