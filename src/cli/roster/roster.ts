import type { LmsKind } from '../../contract/constants.ts'
import type { Entry, Part, Place } from '../records/entries.ts'
import { createLeniencies, type Leniencies } from '../records/sources/leniencies.ts'

export const rosterFormats = ['oneroster', 'canvas', 'moodle', 'kolibri'] as const
export type RosterFormat = (typeof rosterFormats)[number]

export const exportFormats = ['oneroster', 'canvas', 'moodle'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const formatNames: Readonly<Record<RosterFormat, string>> = {
  oneroster: 'OneRoster',
  canvas: 'Canvas SIS',
  moodle: 'Moodle',
  kolibri: 'Kolibri',
}

/** Parts of a roster, in the order in which their records are written: each refers to earlier parts. */
export const rosterParts = ['terms', 'users', 'courses', 'groups', 'enrollments', 'grades'] as const
export type RosterPart = (typeof rosterParts)[number]

/** Returns the part of a roster that has records of a part: groups have their members. */
export function rosterPartOf(part: Part): Part {
  return part === 'memberships' ? 'groups' : part
}

export const rosterNouns: Readonly<Record<RosterPart, string>> = {
  terms: 'term',
  users: 'user',
  courses: 'course',
  groups: 'group',
  enrollments: 'enrolment',
  grades: 'grade',
}

/** With `bulk` a file lists all records of its kind, with `delta` only changed and removed ones. */
export type RosterMode = 'bulk' | 'delta'

/**
 * Record of a roster in the form of academy files; it has only the fields that the roster knows. References are
 * external ids, `ext:42`.
 */
export interface RosterEntry extends Omit<Entry, 'dataset'> {
  readonly dataset: RosterPart
  /** True if the roster says that the record is gone; the record then has only its key fields. */
  readonly isRemoved?: true
}

/** Keeps a row from being read. */
export interface RosterProblem extends Place {
  /** Null for a problem of the whole row. */
  readonly column: string | null
  /** Value as written in the file; undefined if missing or secret. */
  readonly value?: string | undefined
  readonly code: string
  /** Message that follows the column name: `must be a day such as 2026-08-31`. */
  readonly message: string
  /** End of the message, after the value: `; did you mean BIO?`. */
  readonly guess?: string
}

/** Maximum number of problems and of warnings that are kept; the others are counted. */
const maxKept = 1000

/** Results of a reading besides its entries; complete after all entries have been read. */
export class RosterFindings {
  readonly #notes: readonly string[]
  readonly #problems: Found[] = []
  #uncounted = 0
  readonly #warnings: RosterProblem[] = []
  #warningCount = 0
  readonly #leniencies = new Map<string, Leniencies>()
  readonly #rows = new Map<string, number>()
  readonly #unread = new Map<string, string[]>()
  /** Parts of rows, and keys of records, that later rows replace. */
  readonly #replaced = new Map<Place, Set<string>>()

  /** @param notes further notes, which come first */
  constructor(notes: readonly string[] = []) {
    this.#notes = notes
  }

  /** @param part the part whose row it keeps from being read; null for a row that only others refer to */
  addProblem(part: RosterPart | null, place: Place, problem: Omit<RosterProblem, keyof Place>): void {
    if (this.#problems.length < maxKept)
      this.#problems.push({ part, place, problem: { ...place, ...problem } })
    else this.#uncounted += 1
  }

  /** Adds a fault that keeps nothing from being read, such as a reference to an organisation that the roster lacks. */
  addWarning(problem: RosterProblem): void {
    this.#warningCount += 1
    if (this.#warnings.length < maxKept) this.#warnings.push(problem)
  }

  /** Counts records of a file that are read leniently or left out. */
  addLeniency(file: string, what: string, value?: string): void {
    const ofFile = this.#leniencies.get(file) ?? createLeniencies(file)
    this.#leniencies.set(file, ofFile)
    ofFile.add(what, value)
  }

  addRow(file: string): void {
    this.#rows.set(file, this.rowCount(file) + 1)
  }

  /** Notes a column that has values which an academy does not keep. */
  addUnread(file: string, column: string): void {
    this.#unread.set(file, [...this.unreadColumns(file), column])
  }

  /** Marks what a row says of a part as replaced by a later row, or only its record with a key. */
  addReplaced(part: RosterPart, place: Place, key?: string): void {
    const known = this.#replaced.get(place) ?? new Set<string>()
    this.#replaced.set(place, known.add(key === undefined ? part : `${part} ${key}`))
  }

  /** The first problems, in the order of the files. */
  problems(): readonly RosterProblem[] {
    return this.#problems
      .filter(({ part, place }) => part === null || !this.#replaced.get(place)?.has(part))
      .map(({ problem }) => problem)
  }

  problemCount(): number {
    return this.problems().length + this.#uncounted
  }

  warnings(): readonly RosterProblem[] {
    return this.#warnings
  }

  warningCount(): number {
    return this.#warningCount
  }

  /** Notes about records that were read leniently or left out, with their number. */
  notes(): readonly string[] {
    return [...this.#notes, ...[...this.#leniencies.values()].flatMap((each) => each.notes())]
  }

  /** True for an entry that a later row replaces: the last row of a record counts. */
  isReplaced({ dataset, place, key }: Pick<RosterEntry, 'dataset' | 'place' | 'key'>): boolean {
    const replaced = this.#replaced.get(place)
    return replaced?.has(dataset) === true || replaced?.has(`${dataset} ${key}`) === true
  }

  /** Without the header. */
  rowCount(file: string): number {
    return this.#rows.get(file) ?? 0
  }

  unreadColumns(file: string): readonly string[] {
    return this.#unread.get(file) ?? []
  }
}

interface Found {
  readonly part: RosterPart | null
  readonly place: Place
  readonly problem: RosterProblem
}

export interface RosterReading {
  /** Entries of all parts, a piece of a file at a time. Rows with problems have none. */
  readonly entries: AsyncIterable<readonly RosterEntry[]>
  readonly findings: RosterFindings
}

/** A roster in files (a folder, a zip file or a single CSV file), or that of another system. */
export interface RosterSource {
  /** As given, or `integration:` and the kind of system. */
  readonly name: string
  /** Format of the files, or kind of the system. */
  readonly format: RosterFormat | LmsKind
  readonly title: string
  /** That of the manifest; null if there is none. */
  readonly version: string | null
  /** As the manifest names it. */
  readonly systemName: string | null
  readonly files: readonly RosterFile[]
  /** Parts that the files can have, in the order of `rosterParts`. */
  readonly parts: readonly RosterPart[]
  mode(part: RosterPart): RosterMode
  /** True if the source has records that it does not show. */
  readonly isPartial?: boolean
  /** Reads the files from the beginning. */
  read(): RosterReading
}

export interface FileSource extends RosterSource {
  readonly format: RosterFormat
}

export interface RosterFile {
  readonly name: string
  /** Table that it holds, such as `users`. */
  readonly table: string
  readonly mode: RosterMode
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly hash: string
}

export interface Roster {
  /** Records by part, in the order of `rosterParts`; the last row of each. */
  readonly declared: ReadonlyMap<RosterPart, readonly RosterEntry[]>
  /** Records that the roster says are gone, by part; they have their keys only. */
  readonly removed: ReadonlyMap<RosterPart, readonly RosterEntry[]>
  readonly findings: RosterFindings
}

/** Reads a whole roster into memory. Rows with problems are left out and reported in the findings. */
export async function loadRoster(source: RosterSource): Promise<Roster> {
  const { entries, findings } = source.read()
  const read: RosterEntry[] = []
  // A spread of arguments has a limit.
  for await (const some of entries) for (const entry of some) read.push(entry)
  const byPart = () => new Map(source.parts.map((part): [RosterPart, RosterEntry[]] => [part, []]))
  const [declared, removed] = [byPart(), byPart()]
  for (const entry of read) {
    if (findings.isReplaced(entry)) continue
    const kept = entry.isRemoved ? removed : declared
    kept.get(entry.dataset)?.push(entry)
  }
  return { declared, removed, findings }
}
