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
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { systemCode } from '../../config/errors.ts'
import { CommandError } from '../terminal/errors.ts'

/** What an import is: two of the same are one import, which goes on where it stopped. */
export interface ImportIdentity {
  /** Where it goes to: a URL or a database. */
  readonly target: string
  readonly dataset: string
  /** The file's path, or the hash of standard input. */
  readonly source: string
  /** SHA-256 of the file. */
  readonly hash: string
  /** Everything that decides which requests are made. */
  readonly options: JsonObject
}

/** So many journals are looked at for one of the same content. */
const maximumJournals = 1000
const maximumHeader = 64 * 1024

/** Where the journal of an import is: by where it goes to, what it is, and the file. */
export async function journalPath(
  directory: string,
  { target, dataset, source }: ImportIdentity,
): Promise<string> {
  const { createHash } = await import('node:crypto')
  const name = createHash('sha256').update([target, dataset, source].join('\n')).digest('hex').slice(0, 24)
  return join(directory, `${name}.jsonl`)
}

/** The journal of an import: the one of its file, else one of a file with the same content; null where there is none. */
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

/** The lines of a journal; one that was cut off while it was written does not count: what it would say was not sent. */
export function readLines(path: string): JsonObject[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map(objectIn)
    .filter((line) => line !== null)
}

/** Writes a journal anew, in one step. */
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

/** Adds lines to a journal. */
export interface LineWriter {
  /** Writes a line when this turn of the event loop ends, with all others of it. Throws where an earlier one could not be. */
  add(entry: object): void
  /** Waits until all that was added is written. Throws a CommandError where it cannot be. */
  written(): Promise<void>
  /** Nothing that waits is written any more: the journal is taken away. */
  drop(): void
  /** Writes what waits, and ends. */
  close(): void
}

/** A writer of lines to a journal, which it opens for the first. */
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
      // After a line that was cut off nothing may follow on the same line.
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

/** Why a journal cannot be written, in words. */
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
  if (line === '') return null
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
