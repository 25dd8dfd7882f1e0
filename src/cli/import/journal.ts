import { appendFileSync, closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { systemCode } from '../../config/errors.ts'
import { isAlive, withLock } from '../../config/lock.ts'
import { makeDirectory } from '../../config/make-directory.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { type Counts, countsOf, noCounts, type Outcome, type Rejection, sumOf } from './outcome.ts'

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

/** How an import begins where one of the same file was interrupted. */
export type Beginning = 'new' | 'resume' | 'restart'

/** What has been done of an import, on the disk: one line for each unit, written when its answer is there. */
export interface Journal {
  /** Names this import: with the number of a unit it makes the key by which a server knows a repeated request. */
  readonly id: string
  readonly counts: Counts
  readonly rejections: readonly Rejection[]
  isDone(unit: number): boolean
  /** True for a unit that was begun by a process that has ended: nobody knows whether it was done. */
  wasBegun(unit: number): boolean
  begin(unit: number): void
  finish(unit: number, outcomes: readonly Outcome[]): void
  /** Takes the journal away: the import is complete. */
  remove(): void
  close(): void
}

interface Entries {
  readonly done: Set<number>
  readonly begun: Set<number>
  readonly rejections: Rejection[]
  counts: Counts
}

/**
 * Opens the journal of an import in the directory of the state. Throws a CommandError while another process works on it,
 * and a UsageError where one was interrupted and neither `resume` nor `restart` is said, or its file has changed.
 */
export async function openJournal(
  io: Io,
  stateDirectory: string,
  identity: ImportIdentity,
  beginning: Beginning,
): Promise<Journal> {
  const directory = join(stateDirectory, 'imports')
  makeDirectory(directory, 'XDG_STATE_HOME')
  const path = join(directory, `${await nameOf(identity)}.jsonl`)
  return withLock(`${path}.lock`, io, () => {
    const lines = readLines(path)
    const [header] = lines
    if (!header) return begin(path, identity)
    requireOwn(header, identity)
    if (beginning === 'restart') return begin(path, identity)
    requireSame(header, identity, beginning)
    return goOn(path, identity, header, lines.slice(1))
  })
}

function begin(path: string, identity: ImportIdentity): Journal {
  const header = { id: crypto.randomUUID(), pid: process.pid, host: hostname(), ...identity }
  replace(path, `${JSON.stringify(header)}\n`)
  return journalAt(path, header.id, { done: new Set(), begun: new Set(), rejections: [], counts: noCounts })
}

function goOn(
  path: string,
  identity: ImportIdentity,
  header: JsonObject,
  lines: readonly JsonObject[],
): Journal {
  const entries: Entries = { done: new Set(), begun: new Set(), rejections: [], counts: noCounts }
  for (const { begun, unit, counts, rejections } of lines) {
    if (typeof begun === 'number') entries.begun.add(begun)
    if (typeof unit !== 'number' || entries.done.has(unit)) continue
    entries.done.add(unit)
    // What `finish` wrote.
    entries.counts = sumOf(entries.counts, counts as Counts)
    entries.rejections.push(...(rejections as Rejection[]))
  }
  const own = { ...header, pid: process.pid, host: hostname(), ...identity }
  replace(path, [own, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return journalAt(path, String(header['id']), entries)
}

function journalAt(path: string, id: string, entries: Entries): Journal {
  const file = openSync(path, 'a', 0o600)
  const append = (entry: object) => appendFileSync(file, `${JSON.stringify(entry)}\n`)
  return {
    id,
    get counts() {
      return entries.counts
    },
    get rejections() {
      return entries.rejections
    },
    isDone: (unit) => entries.done.has(unit),
    wasBegun: (unit) => entries.begun.has(unit) && !entries.done.has(unit),
    begin: (begun) => append({ begun }),
    finish(unit, outcomes) {
      const counts = countsOf(outcomes)
      const rejections = outcomes.filter((outcome): outcome is Rejection => outcome.kind === 'failed')
      append({ unit, counts, rejections })
      entries.done.add(unit)
      entries.counts = sumOf(entries.counts, counts)
      entries.rejections.push(...rejections)
    },
    remove: () => rmSync(path, { force: true }),
    close: () => closeSync(file),
  }
}

/** Throws a CommandError while another process does the same import. */
function requireOwn({ pid, host }: JsonObject, { source }: ImportIdentity): void {
  if (host !== hostname() || Number(pid) === process.pid || !isAlive(Number(pid))) return
  throw new CommandError(
    'import_running',
    'conflict',
    `Another import of ${source} is running (process ${pid})`,
    {
      hint: 'Wait until it has ended',
    },
  )
}

function requireSame(header: JsonObject, identity: ImportIdentity, beginning: Beginning): void {
  const { source } = identity
  const restart = 'Begin again from the first row: --restart'
  if (header['hash'] !== identity.hash) {
    throw new UsageError(`${source} has changed since its import was interrupted`, {
      code: 'file_changed',
      hint: restart,
    })
  }
  if (JSON.stringify(header['options']) !== JSON.stringify(identity.options)) {
    throw new UsageError('The interrupted import of this file had other options', {
      code: 'options_changed',
      why: [`Options: ${JSON.stringify(header['options'])}`],
      hint: restart,
    })
  }
  if (beginning === 'resume') return
  throw new UsageError(`An import of ${source} was interrupted`, {
    code: 'import_interrupted',
    hint: 'Go on where it stopped: --resume. Begin again from the first row: --restart',
  })
}

/** The lines of a journal; one that was cut off while it was written does not count. */
function readLines(path: string): JsonObject[] {
  try {
    const text = readFileSync(path, 'utf8')
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown)
      .filter(isJsonObject)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    if (!(error instanceof SyntaxError)) throw error
    throw new UsageError(`Cannot read the journal ${path}`, { cause: error, hint: 'Begin again: --restart' })
  }
}

function replace(path: string, text: string): void {
  const temporary = `${path}.new`
  const file = openSync(temporary, 'w', 0o600)
  try {
    writeSync(file, text)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

async function nameOf({ target, dataset, source }: ImportIdentity): Promise<string> {
  const { createHash } = await import('node:crypto')
  return createHash('sha256').update([target, dataset, source].join('\n')).digest('hex').slice(0, 24)
}
