import { type Output, write } from './io.ts'

/** Writes lines in the order they come; `flush` waits until all are out. */
export interface LineWriter {
  write(line: string): void
  flush(): Promise<void>
}

/**
 * Lines that come in the same turn of the event loop are written together: one system call for all, where a busy
 * server has many. A reader that has gone changes nothing about the work.
 */
export function lineWriter(stream: Output): LineWriter {
  let waiting = ''
  let written: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    const text = waiting
    waiting = ''
    if (text !== '') written = write(stream, text).catch(() => {})
    return written
  }

  return {
    flush,
    write(line) {
      if (waiting === '') setImmediate(flush)
      waiting += line
    },
  }
}
