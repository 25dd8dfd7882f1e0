import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject, parseJsonOrNull } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError } from '../terminal/errors.ts'

/** Identity of an import: two imports with equal identities are one, which resumes where it stopped. */
export interface ImportIdentity {
  /** Target: a URL or a database. */
  readonly target: string
  readonly dataset: string
  /** The file's path, or the hash of standard input. */
  readonly source: string
  /** SHA-256 of the file. */
  readonly hash: string
  /** All options that decide which requests are made. */
  readonly options: JsonObject
}

/** Maximum number of journals to search for one with the same content. */
const maximumJournals = 1000
const maximumHeader = 64 * 1024
/** Less than the 24 hours for which idempotency keys are remembered (docs/api.md): clocks differ, and requests take time. */
export const maxAttemptAgeMs = 23 * 60 * 60 * 1000

/** Returns the path of a journal, derived from the target, the kind of import and the file. */
export async function journalPath(
  directory: string,
  { target, dataset, source }: Pick<ImportIdentity, 'target' | 'dataset' | 'source'>,
): Promise<string> {
  const { createHash } = await import('node:crypto')
  const name = createHash('sha256').update([target, dataset, source].join('\n')).digest('hex').slice(0, 24)
  return join(directory, `${name}.jsonl`)
}

/**
 * Returns the journal of an import: the one of its file, else one of a file with the same content; null if there is
 * none.
 */
export function journalOf(directory: string, path: string, identity: ImportIdentity): string | null {
  const journals = readdirSync(directory).filter((name) => name.endsWith('.jsonl'))
  const paths = journals.slice(0, maximumJournals).map((name) => join(directory, name))
  if (headerOf(path)) return path
  const { target, dataset, hash } = identity
  const isOf = (header: JsonObject | null) =>
    header?.['target'] === target && header['dataset'] === dataset && header['hash'] === hash
  return paths.find((each) => isOf(headerOf(each))) ?? null
}

function headerOf(path: string): JsonObject | null {
  const bytes = Buffer.alloc(maximumHeader)
  try {
    const file = openSync(path, 'r')
    try {
      const [line = ''] = bytes.subarray(0, readSync(file, bytes)).toString('utf8').split('\n', 1)
      return objectIn(line)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
}

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
