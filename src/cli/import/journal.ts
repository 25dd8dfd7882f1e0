import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../codec/json-object.ts'
import { isAlive, startOf, withLock } from '../../config/lock.ts'
import { makeDirectory } from '../../config/make-directory.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import {
  type ImportIdentity,
  journalOf,
  journalPath,
  lineWriter,
  readLines,
  replaceLines,
} from './journal-file.ts'
import { type Counts, countsOf, noCounts, type Outcome, type Rejection, sumOf, totalOf } from './outcome.ts'

/** How an import begins where one of the same file was interrupted. */
export type Beginning = 'new' | 'resume' | 'restart'

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
  /** True as soon as something was sent: whatever stops the import now can be resumed. */
  readonly hasBegun: boolean
  /** What a unit was to do that an earlier process began: nobody knows whether it was done. Null for any other. */
  intentOf(unit: number): EarlierIntent | null
  /** How many units an earlier process began before that time, in milliseconds since 1970, of which nobody knows more. */
  unknownSince(ms: number): number
  /** Notes what a unit is about to do, and waits until that is written. Throws a CommandError where it cannot be. */
  begin(unit: number, intent?: Intent): Promise<void>
  finish(unit: number, outcomes: readonly Outcome[]): void
  /** Takes the journal away: the import is complete. */
  remove(): void
  close(): void
}

type Clock = Pick<Io, 'now'>

/** What the first line of a journal says of it, beside its identity. */
interface Header {
  readonly id: string
  readonly at: number
}

interface Entries {
  readonly done: Set<number>
  readonly begun: Map<number, EarlierIntent>
  readonly rejections: Rejection[]
  counts: Counts
}

const noEntries = (): Entries => ({ done: new Set(), begun: new Map(), rejections: [], counts: noCounts })

/**
 * Opens the journal of an import in the directory of the state. A file that was renamed has the journal of its content.
 * Throws a CommandError while another process works on it, and a UsageError where one was interrupted and neither
 * `resume` nor `restart` is said, or its file has changed.
 */
export async function openJournal(
  io: Io,
  stateDirectory: string,
  identity: ImportIdentity,
  beginning: Beginning,
): Promise<Journal> {
  const directory = join(stateDirectory, 'imports')
  makeDirectory(directory, 'XDG_STATE_HOME')
  const path = await journalPath(directory, identity)
  return withLock(join(directory, 'lock'), io, () => {
    const found = journalOf(directory, path, identity)
    const lines = found === null ? [] : readLines(found)
    const [header] = lines
    if (header) requireOwn(header, identity)
    if (header && beginning !== 'restart') {
      requireSame(header, identity, beginning)
      return goOn(io, path, found, identity, lines)
    }
    const journal = begin(io, path, identity)
    if (found !== null && found !== path) rmSync(found, { force: true })
    return journal
  })
}

function begin(io: Clock, path: string, identity: ImportIdentity): Journal {
  const header = { id: crypto.randomUUID(), at: io.now() }
  replaceLines(path, [{ ...header, ...thisProcess(), ...identity }])
  return journalAt(io, path, header, noEntries(), null)
}

function goOn(
  io: Clock,
  path: string,
  before: string | null,
  identity: ImportIdentity,
  [header = {}, ...lines]: readonly JsonObject[],
): Journal {
  const entries = noEntries()
  for (const { begun, at, kind, version, unit, counts, rejections } of lines) {
    // What `begin` and `finish` wrote.
    if (typeof begun === 'number') entries.begun.set(begun, { kind, version, at } as EarlierIntent)
    if (typeof unit !== 'number' || entries.done.has(unit)) continue
    entries.done.add(unit)
    entries.counts = sumOf(entries.counts, { ...noCounts, ...(counts as Partial<Counts>) })
    if (rejections !== undefined) entries.rejections.push(...(rejections as Rejection[]))
  }
  replaceLines(path, [{ ...header, ...thisProcess(), ...identity }, ...lines])
  if (before !== null && before !== path) rmSync(before, { force: true })
  const begun = { id: String(header['id']), at: Number(header['at']) }
  return journalAt(io, path, begun, entries, totalOf(entries.counts))
}

function journalAt(
  { now }: Clock,
  path: string,
  { id, at: begunAt }: Header,
  entries: Entries,
  resumed: number | null,
): Journal {
  const lines = lineWriter(path)
  const before = new Map(entries.begun)
  let hasBegun = before.size > 0
  return {
    id,
    begunAt,
    resumed,
    get hasBegun() {
      return hasBegun
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
      hasBegun = true
    },
    finish(unit, outcomes) {
      const counts = countsOf(outcomes)
      const rejections = outcomes.filter((outcome): outcome is Rejection => outcome.kind === 'failed')
      const told = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
      lines.add({ unit, counts: told, ...(rejections.length > 0 && { rejections }) })
      entries.counts = sumOf(entries.counts, counts)
      entries.rejections.push(...rejections)
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
  if (typeof started === 'string' && startOf(Number(pid)) !== started) return
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
  const started = startOf(process.pid)
  return { pid: process.pid, host: hostname(), ...(started !== null && { started }) }
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
  const before =
    header['source'] === source ? named(source) : `${header['source']}, which has the same content,`
  throw new UsageError(`An import of ${before} was interrupted`, {
    code: 'import_interrupted',
    hint: 'Go on where it stopped: --resume. Begin again from the first row: --restart',
  })
}

/** Standard input has no name but its content. */
function named(source: string): string {
  return source.startsWith('standard input ') ? 'standard input' : source
}
