import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { makeDirectory } from '../../config/files.ts'
import { isAlive, processStartOf, withLock } from '../../config/lock.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import {
  createLineWriter,
  type ImportIdentity,
  journalOf,
  journalPath,
  maxAttemptAgeMs,
  readLines,
  replaceLines,
} from './journal-file.ts'
import type { Attempt, EarlierIntent } from './step.ts'

/** The command line of an import, without `--resume` and `--restart`. */
export interface ImportLine {
  /** The program, the command, the file and the flags that name the target. */
  readonly words: readonly string[]
  /** All other flags, with their values. */
  readonly flags: readonly string[]
}

/** Returns the command line, quoted for a shell. */
export function lineText({ words, flags }: ImportLine, ...more: readonly string[]): string {
  return [...words, ...flags, ...more].map(shellWord).join(' ')
}

/**
 * Progress of an import on disk: one line for each unit before it is sent, and one when its answer arrives; all lines
 * of one turn of the event loop are one write. Lines survive the end of the process. They are not forced to the disk
 * (fsync): a power failure may lose the last seconds, whose units are then sent again.
 */
export interface Journal {
  /** Id of the import; with the number of a unit it makes the Idempotency-Key of the request. */
  readonly id: string
  readonly counts: Counts
  readonly rejections: readonly Rejection[]
  /** True if an earlier process has sent the unit. */
  isBegun(unit: number): boolean
  /** Start of the import, in milliseconds since 1970; repeated requests reuse it. */
  readonly begunAt: number
  /** Number of rows that were done before a resumed import; null for a new one. */
  readonly resumed: number | null
  /** True if a unit was sent and not refused as a whole: the import has to be resumed. */
  readonly hasBegun: boolean
  /** Earlier name of the file if it was renamed since the import began; else null. */
  readonly formerSource: string | null
  /** Returns how to send a unit; null if it is done. */
  attemptOf(unit: number): Attempt | null
  /**
   * Counts the units without a recorded answer that an earlier process sent before a time, in milliseconds since
   * 1970.
   */
  unknownSince(ms: number): number
  finish(unit: number, outcomes: readonly RowOutcome[], isRetry?: boolean): void
  /** Lines that each further pass sends again, for the passes that have begun, in order. */
  readonly retries: readonly (readonly number[])[]
  /** Records that lines are sent again; their earlier rejections are dropped when their units finish. */
  retry(lines: readonly number[]): void
  /** Records that a unit of this process was refused as a whole and changed nothing. */
  withdraw(unit: number): void
  /** Deletes the journal when the import is complete. */
  remove(): void
  close(): void
}

type Clock = Pick<Io, 'now'>

/** First line of a journal, besides the identity. */
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
  counts: zeroCounts,
})

/** Adds the outcomes of a unit; `retried` are its lines that were rejected before. */
function addTo(
  entries: Entries,
  counts: Partial<Counts>,
  rejections: readonly Rejection[],
  retried: readonly number[],
): void {
  const { failed = 0 } = counts
  const added = { ...zeroCounts, ...counts, failed: failed - retried.length }
  entries.counts = sumOf(entries.counts, added)
  const lines = new Set(retried)
  if (lines.size > 0) entries.rejections = entries.rejections.filter(({ line }) => !lines.has(line))
  entries.rejections.push(...rejections)
}

/**
 * Opens the journal of an import in the state directory: that of an interrupted import, unless `restart`, else a new
 * one. A renamed file is matched by its content. Throws a CommandError while another process runs the import, and a
 * UsageError if the interrupted import had other options or its file has changed.
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
    // Entries of `begin`, `withdraw`, `retry` and `finish`.
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
  /** Units of this process without an answer. */
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
    isBegun: (unit) => entries.done.has(unit) || before.has(unit),
    attemptOf(unit) {
      if (entries.done.has(unit)) return null
      const intent = before.get(unit) ?? null
      return {
        idempotencyKey: `${id}-${unit}`,
        before: intent,
        forgotten: intent !== null && intent.at < now() - maxAttemptAgeMs,
        async begin(intent = {}) {
          lines.add({ begun: unit, at: now(), ...intent })
          await lines.written()
          open.add(unit)
        },
      }
    },
    unknownSince: (ms) => [...before].filter(([unit, { at }]) => at < ms && !entries.done.has(unit)).length,
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
      const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
      const retried = isRetry ? outcomes.map(({ line }) => line) : []
      lines.add({
        ...{ unit, counts: known },
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

/** Throws a CommandError while another process runs the same import. */
function requireOwn({ pid, host, started }: JsonObject, { source }: ImportIdentity): void {
  if (host !== hostname() || Number(pid) === process.pid || !isAlive(Number(pid))) return
  // The process id may have been reused.
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
        ? [sizeIn(header['options']) === sizeIn(options) ? 'The mapping has changed since' : otherSize]
        : [`Continue it: ${then}`],
    hint: restart,
  })
}

const otherSize = 'The platform takes rows in requests of another size than before'

function sizeIn(options: unknown): unknown {
  return isJsonObject(options) ? options['size'] : undefined
}

/** Standard input is identified by its hash. */
function named(source: string): string {
  return source.startsWith('standard input ') ? 'standard input' : source
}

/** Outcomes of a row; `failed` rows were refused and changed nothing. */
const outcomeKinds = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const
type OutcomeKind = (typeof outcomeKinds)[number]

export type Counts = Readonly<Record<OutcomeKind, number>>

export type RowOutcome =
  | { readonly line: number; readonly kind: Exclude<OutcomeKind, 'failed'> }
  | {
      readonly line: number
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      /** The reason without values of people. */
      readonly shown: string
    }

/** A refused row and the reason. */
export type Rejection = Extract<RowOutcome, { kind: 'failed' }>

/** Counts of an import that has not begun. */
const zeroCounts: Counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }

/** Adds two counts. */
export function sumOf(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    updated: one.updated + other.updated,
    unchanged: one.unchanged + other.unchanged,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}

/** Counts outcomes by kind. */
export function countsOf(outcomes: readonly RowOutcome[]): Counts {
  const counts = { ...zeroCounts }
  for (const { kind } of outcomes) counts[kind] += 1
  return counts
}

export function totalOf(counts: Counts): number {
  return outcomeKinds.reduce((total, kind) => total + counts[kind], 0)
}
