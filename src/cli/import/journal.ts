import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../codec/json-object.ts'
import { shellWord } from '../../codec/shell-word.ts'
import { isAlive, processStartOf, withLock } from '../../config/lock.ts'
import { makeDirectory } from '../../config/make-directory.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import {
  createLineWriter,
  type ImportIdentity,
  journalOf,
  journalPath,
  readLines,
  replaceLines,
} from './journal-file.ts'
import { type Counts, countsOf, noCounts, type Outcome, type Rejection, sumOf, totalOf } from './outcome.ts'

/** The command line of an import, but for `--resume` and `--restart`. */
export interface ImportLine {
  /** The program, the command, the file and the flags that name the target. */
  readonly words: readonly string[]
  /** All other flags, with their values. */
  readonly flags: readonly string[]
}

/** The command line as a shell takes it. */
export function lineText({ words, flags }: ImportLine, ...more: readonly string[]): string {
  return [...words, ...flags, ...more].map(shellWord).join(' ')
}

/** What a unit of one row was about to do when it was sent. */
export interface Intent {
  readonly kind?: 'created' | 'updated'
  /** The version of the record that was to be updated. */
  readonly version?: number
}

/** An intent of an earlier process. */
export interface EarlierIntent extends Intent {
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number
}

/**
 * What has been done of an import, on the disk: one line for each unit before it is sent, and one when its answer is there;
 * those of one turn of the event loop are one write. Lines survive the end of the process, whatever ends it. They are not
 * forced to the disk (fsync): an end of the machine may take the last seconds of them, whose units are then sent again.
 */
export interface Journal {
  /** Names this import: with the number of a unit it makes the key by which a server knows a repeated request. */
  readonly id: string
  readonly counts: Counts
  readonly rejections: readonly Rejection[]
  isDone(unit: number): boolean
  /** When it began, in milliseconds since 1970: what is sent again says the same. */
  readonly begunAt: number
  /** Where an import goes on, how many rows were done before; null for a new one. */
  readonly resumed: number | null
  /** True where a unit was sent and not refused as a whole: the import has to be continued. */
  readonly hasBegun: boolean
  /** The file of the import, where it had another name when it began; null where it had not. */
  readonly formerSource: string | null
  /** What a unit was to do that an earlier process began: nobody knows whether it was done. Null for any other. */
  intentOf(unit: number): EarlierIntent | null
  /** How many units an earlier process began before that time, in milliseconds since 1970, of which nobody knows more. */
  unknownSince(ms: number): number
  /** Notes what a unit is about to do, and waits until that is written. Throws a CommandError where it cannot be. */
  begin(unit: number, intent?: Intent): Promise<void>
  finish(unit: number, outcomes: readonly Outcome[], isRetry?: boolean): void
  /** The lines that each further pass sends again; those that were begun, in their order. */
  readonly retries: readonly (readonly number[])[]
  /** Notes that lines are sent again, whose rejections do not count any more as soon as their units are finished. */
  retry(lines: readonly number[]): void
  /** Notes that a unit that this process has begun was refused as a whole, and changed nothing. */
  withdraw(unit: number): void
  /** Takes the journal away: the import is complete. */
  remove(): void
  close(): void
}

type Clock = Pick<Io, 'now'>

/** What the first line of a journal says of it, beside its identity. */
interface Header {
  readonly id: string
  readonly at: number
  readonly formerSource: string | null
}

interface Entries {
  readonly done: Set<number>
  readonly retries: (readonly number[])[]
  readonly begun: Map<number, EarlierIntent>
  rejections: Rejection[]
  counts: Counts
}

const noEntries = (): Entries => ({
  done: new Set(),
  begun: new Map(),
  retries: [],
  rejections: [],
  counts: noCounts,
})

/** Adds what became of a unit; `retried` are the lines in it that had been rejected before. */
function addTo(
  entries: Entries,
  counts: Partial<Counts>,
  rejections: readonly Rejection[],
  retried: readonly number[],
): void {
  const { failed = 0 } = counts
  const added = { ...noCounts, ...counts, failed: failed - retried.length }
  entries.counts = sumOf(entries.counts, added)
  const lines = new Set(retried)
  if (lines.size > 0) entries.rejections = entries.rejections.filter(({ line }) => !lines.has(line))
  entries.rejections.push(...rejections)
}

/**
 * Opens the journal of an import in the directory of the state: that of one that was interrupted, unless `restart`, else a
 * new one. A file that was renamed has the journal of its content. Throws a CommandError while another process works on
 * it, and a UsageError where the interrupted import had other options, or its file has changed.
 */
export async function openJournal(
  io: Io,
  stateDirectory: string,
  identity: ImportIdentity,
  line: ImportLine,
  restart: boolean,
): Promise<Journal> {
  const directory = join(stateDirectory, 'imports')
  makeDirectory(directory, 'XDG_STATE_HOME')
  const path = await journalPath(directory, identity)
  return withLock(join(directory, 'lock'), io, () => {
    const found = journalOf(directory, path, identity)
    const lines = found === null ? [] : readLines(found)
    const [header] = lines
    if (header) requireOwn(header, identity)
    if (header && !restart) {
      requireSame(header, identity, line)
      return goOn(io, path, found, identity, lines)
    }
    const journal = begin(io, path, identity, line)
    if (found !== null && found !== path) rmSync(found, { force: true })
    return journal
  })
}

function begin(io: Clock, path: string, identity: ImportIdentity, { flags }: ImportLine): Journal {
  const header = { id: crypto.randomUUID(), at: io.now() }
  replaceLines(path, [{ ...header, ...thisProcess(), ...identity, flags }])
  return journalAt(io, path, { ...header, formerSource: null }, noEntries(), null)
}

function goOn(
  io: Clock,
  path: string,
  before: string | null,
  identity: ImportIdentity,
  [header = {}, ...lines]: readonly JsonObject[],
): Journal {
  const entries = noEntries()
  for (const {
    begun,
    at,
    kind,
    version,
    withdrawn,
    retry,
    retried = [],
    unit,
    counts,
    rejections,
  } of lines) {
    // What `begin`, `withdraw`, `retry` and `finish` wrote.
    if (retry !== undefined) entries.retries.push(retry as number[])
    if (typeof withdrawn === 'number') entries.begun.delete(withdrawn)
    if (typeof begun === 'number') entries.begun.set(begun, { kind, version, at } as EarlierIntent)
    if (typeof unit !== 'number' || entries.done.has(unit)) continue
    entries.done.add(unit)
    addTo(entries, counts as Partial<Counts>, (rejections ?? []) as Rejection[], retried as number[])
  }
  replaceLines(path, [{ ...header, ...thisProcess(), ...identity }, ...lines])
  if (before !== null && before !== path) rmSync(before, { force: true })
  const { source } = header
  const formerSource = source === identity.source ? null : String(source)
  const begun = { id: String(header['id']), at: Number(header['at']), formerSource }
  return journalAt(io, path, begun, entries, totalOf(entries.counts))
}

function journalAt(
  { now }: Clock,
  path: string,
  { id, at: begunAt, formerSource }: Header,
  entries: Entries,
  resumed: number | null,
): Journal {
  const lines = createLineWriter(path)
  const before = new Map(entries.begun)
  /** Units that this process has begun, and has no answer to. */
  const open = new Set<number>()
  let isAnswered = false
  return {
    id,
    begunAt,
    resumed,
    formerSource,
    get hasBegun() {
      return before.size > 0 || isAnswered || open.size > 0
    },
    get counts() {
      return entries.counts
    },
    get rejections() {
      return entries.rejections
    },
    isDone: (unit) => entries.done.has(unit),
    intentOf: (unit) => (entries.done.has(unit) ? null : (before.get(unit) ?? null)),
    unknownSince: (ms) => [...before].filter(([unit, { at }]) => at < ms && !entries.done.has(unit)).length,
    async begin(begun, intent = {}) {
      lines.add({ begun, at: now(), ...intent })
      await lines.written()
      open.add(begun)
    },
    withdraw(unit) {
      if (open.delete(unit)) lines.add({ withdrawn: unit })
    },
    retries: entries.retries,
    retry(again) {
      entries.retries.push(again)
      lines.add({ retry: again })
    },
    finish(unit, outcomes, isRetry = false) {
      open.delete(unit)
      isAnswered = true
      const counts = countsOf(outcomes)
      const rejections = outcomes.filter((outcome): outcome is Rejection => outcome.kind === 'failed')
      const told = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
      const retried = isRetry ? outcomes.map(({ line }) => line) : []
      lines.add({
        ...{ unit, counts: told },
        ...(rejections.length > 0 && { rejections }),
        ...(isRetry && { retried }),
      })
      addTo(entries, counts, rejections, retried)
    },
    remove() {
      lines.drop()
      rmSync(path, { force: true })
    },
    close: lines.close,
  }
}

/** Throws a CommandError while another process does the same import. */
function requireOwn({ pid, host, started }: JsonObject, { source }: ImportIdentity): void {
  if (host !== hostname() || Number(pid) === process.pid || !isAlive(Number(pid))) return
  // Another process may have the number by now.
  if (typeof started === 'string' && processStartOf(Number(pid)) !== started) return
  throw new CommandError(
    'import_running',
    'conflict',
    `Another import of ${named(source)} is running (process ${pid})`,
    {
      hint: 'Wait until it has ended',
    },
  )
}

function thisProcess(): JsonObject {
  const started = processStartOf(process.pid)
  return { pid: process.pid, host: hostname(), ...(started !== null && { started }) }
}

function requireSame(header: JsonObject, { hash, options, source }: ImportIdentity, line: ImportLine): void {
  const restart = `Begin again from the first row: ${lineText(line, '--restart')}`
  if (header['hash'] !== hash) {
    throw new UsageError(`${source} has changed since its import was interrupted`, {
      code: 'file_changed',
      hint: restart,
    })
  }
  if (JSON.stringify(header['options']) === JSON.stringify(options)) return
  const flags = Array.isArray(header['flags']) ? header['flags'].map(String) : []
  const [then, now] = [lineText({ ...line, flags }), lineText(line)]
  throw new UsageError('The interrupted import of this file had other options', {
    code: 'options_changed',
    why:
      then === now
        ? ['The platform takes rows in requests of another size than before']
        : [`Continue it: ${then}`],
    hint: restart,
  })
}

/** Standard input has no name but its content. */
function named(source: string): string {
  return source.startsWith('standard input ') ? 'standard input' : source
}
