import { type Output, write } from './io.ts'

/** Writes lines in the order they come. */
export interface LineWriter {
  write(line: string): void
  /** Writes what waits, and ends once it is out; a reader that does not read is not waited for. */
  close(): Promise<void>
}

interface Pace {
  /** How long a line may wait for others. */
  readonly everyMs?: number
  /** Characters that may wait for a slow reader. */
  readonly mostWaiting?: number
  /** How long `close` waits for a slow reader. */
  readonly patienceMs?: number
}

/** As much as a pipe takes at once. */
const enough = 64 * 1024

/**
 * Lines that come within a tenth of a second are written together: one system call for all, where a busy server has
 * many. What waits is written before the process ends, also when it crashes.
 *
 * A reader that is slow holds up nobody: beyond a megabyte lines are dropped, and a line says how many. One that has
 * gone changes nothing about the work.
 *
 * @param dropped the line that stands for so many others, LF included
 */
export function lineWriter(
  stream: Output,
  dropped: (count: number) => string,
  { everyMs = 100, mostWaiting = 1024 * 1024, patienceMs = 1000 }: Pace = {},
): LineWriter {
  let waiting = ''
  let lost = 0
  let written: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  function taken(): string {
    process.off('exit', last)
    const text = lost > 0 ? waiting + dropped(lost) : waiting
    waiting = ''
    lost = 0
    return text
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    // One piece after the other: what the stream has not taken would wait there without a bound.
    if (written || waiting === '') return
    written = write(stream, taken())
      .catch(() => {})
      .then(() => {
        written = undefined
        flush()
      })
  }

  // Heard only while something waits: a writer that nobody closes leaves nothing behind.
  function last(): void {
    stream.write(taken())
  }

  return {
    write(line) {
      if (line === '') return
      if (lost > 0 || waiting.length + line.length > mostWaiting) {
        lost += 1
        return
      }
      if (waiting === '') process.on('exit', last)
      waiting += line
      if (waiting.length >= enough) flush()
      else timer ??= setTimeout(flush, everyMs).unref()
    },
    async close() {
      process.off('exit', last)
      flush()
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const giveUp = setTimeout(resolve, patienceMs)
      while (written && (await Promise.race([written.then(() => true), late]))) {}
      clearTimeout(giveUp)
    },
  }
}
