import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError } from '../terminal/errors.ts'

/** Less than the 24 hours for which idempotency keys are remembered (docs/api.md): clocks differ, and requests take time. */
export const maxAttemptAgeMs = 23 * 60 * 60 * 1000

/** Reads the lines of a journal. A truncated last line is skipped: its request was not sent. */
export function readLines(path: string): JsonObject[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map(objectIn)
    .filter((line) => line !== null)
}

/** Replaces a journal atomically. */
export function replaceLines(path: string, lines: readonly object[]): void {
  const temporary = `${path}.new`
  try {
    const file = openSync(temporary, 'w', 0o600)
    try {
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw journalFault(path, error)
  }
}

/** Appends lines to a journal. */
export interface LineWriter {
  /**
   * Queues a line, to be written with all others of this turn of the event loop. Throws if an earlier write failed.
   */
  add(entry: object): void
  /** Waits until all queued lines are written. Throws a CommandError if a write failed. */
  written(): Promise<void>
  /** Discards queued lines, because the journal is being deleted. */
  drop(): void
  /** Writes queued lines and closes the file. */
  close(): void
}

/** Returns a writer, which opens the journal at its first line. */
export function createLineWriter(path: string): LineWriter {
  let file: number | null = null
  let fault: Error | null = null
  let waiting: string[] = []
  let turn: PromiseWithResolvers<void> | null = null

  function write(): void {
    const done = turn
    turn = null
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    try {
      // A truncated line must not be continued by the next one.
      if (fault) throw fault
      if (bytes.length > 0) file ??= openSync(path, 'a', 0o600)
      for (let at = 0; file !== null && at < bytes.length; ) at += writeSync(file, bytes, at)
      done?.resolve()
    } catch (error) {
      fault ??= journalFault(path, error)
      done?.reject(fault)
    }
  }

  return {
    add(entry) {
      if (fault) throw fault
      if (waiting.push(`${JSON.stringify(entry)}\n`) === 1) setImmediate(write)
    },
    written() {
      turn ??= Promise.withResolvers()
      return turn.promise
    },
    drop() {
      waiting = []
    },
    close() {
      write()
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

/** Returns the error for a journal that cannot be written. */
function journalFault(path: string, cause: unknown): CommandError {
  const code = systemCode(cause)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  const reason = full ? 'the disk is full' : (code ?? String(cause))
  return new CommandError(
    full ? 'disk_full' : 'unwritable',
    'failure',
    `Cannot write the journal ${path}: ${reason}`,
    { cause, why: ['Nothing is sent that cannot be noted there'] },
  )
}

function objectIn(line: string): JsonObject | null {
  const value = parseJsonOrNull(line)
  return isJsonObject(value) ? value : null
}
