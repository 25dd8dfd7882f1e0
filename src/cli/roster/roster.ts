import type { LmsKind } from '../../contract/constants.ts'
import type { Entry, Part, Place } from '../records/entries.ts'
import { pluralise } from '../terminal/format-text.ts'

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

/** Members are a part of groups. */
export function rosterPartOf(part: Part): Part {
  return part === 'memberships' ? 'groups' : part
}

export interface Scope {
  /** Empty for all. */
  readonly only: readonly RosterPart[]
  /** By external id or title; empty for all. */
  readonly courses: readonly string[]
  /** By external id or name; empty for all. */
  readonly terms: readonly string[]
}

/** With `bulk` a file lists all records of its kind, with `delta` only changed and removed ones. */
export type RosterMode = 'bulk' | 'delta'

/** Has only the fields that the roster knows. References are external ids, `ext:42`. */
export interface RosterEntry extends Omit<Entry, 'dataset'> {
  readonly dataset: RosterPart
  /** True if the record is gone; it then has only its key fields. */
  readonly isRemoved?: true
}

/** A row of a file, which has a line, or a record of another system. */
export interface RosterPlace extends Place {
  /** Id and name of a record of another system. */
  readonly record?: string
}

export interface RosterProblem extends RosterPlace {
  /** Null for the whole row. */
  readonly column: string | null
  /** Value as written in the file; undefined if missing or secret. */
  readonly value?: string | undefined
  readonly code: string
  /** Continues the column name: `must be a day such as 2026-08-31`. */
  readonly message: string
  /** Follows the value: `; did you mean BIO?`. */
  readonly guess?: string
}

const maxKept = 1000

export class RosterFindings {
  problemCount = 0
  readonly warnings: RosterProblem[] = []
  warningCount = 0
  /** Numbers of rows by file, without the header. */
  readonly rowCounts = new Map<string, number>()
  /** Columns by file whose values an academy does not keep. */
  readonly unreadColumns = new Map<string, readonly string[]>()
  readonly #notes: readonly string[]
  /** By the row that they are about. */
  readonly #problems = new Map<Place, RosterProblem[]>()
  /** By file, then by what was done. */
  readonly #leniencies = new Map<string, Map<string, Leniency>>()

  /** @param notes further notes, which come first */
  constructor(notes: readonly string[] = []) {
    this.#notes = notes
  }

  addProblem(place: Place, problem: RosterProblem): void {
    this.problemCount += 1
    if (this.problemCount > maxKept) return
    this.#problems.set(place, [...(this.#problems.get(place) ?? []), problem])
  }

  /** Forgets the problems of a row that a later one replaces. */
  removeProblems(place: Place): void {
    this.problemCount -= this.#problems.get(place)?.length ?? 0
    this.#problems.delete(place)
  }

  /** Adds a fault that keeps nothing from being read, such as a reference to an organisation that the roster lacks. */
  addWarning(problem: RosterProblem): void {
    this.warningCount += 1
    if (this.warnings.length < maxKept) this.warnings.push(problem)
  }

  /** Counts records of a file that are read leniently or left out. */
  addLeniency(file: string, what: string, value?: string): void {
    const ofFile = this.#leniencies.get(file) ?? new Map<string, Leniency>()
    this.#leniencies.set(file, ofFile)
    const { count, values } = ofFile.get(what) ?? { count: 0, values: new Set<string>() }
    if (value !== undefined && values.size <= maxValues) values.add(value)
    ofFile.set(what, { count: count + 1, values })
  }

  addRow(file: string): void {
    this.rowCounts.set(file, (this.rowCounts.get(file) ?? 0) + 1)
  }

  problems(): readonly RosterProblem[] {
    return [...this.#problems.values()].flat()
  }

  notes(): readonly string[] {
    const lenient = [...this.#leniencies].flatMap(([file, kinds]) =>
      [...kinds].map(([what, kind]) => leniencyNote(file, what, kind)),
    )
    return [...this.#notes, ...lenient]
  }
}

export interface Roster {
  /** As given, or `integration:` and the kind of system. */
  readonly name: string
  readonly format: RosterFormat | LmsKind
  readonly title: string
  /** Version in the manifest; null if there is none. */
  readonly version: string | null
  /** Name in the manifest. */
  readonly systemName: string | null
  readonly files: readonly RosterFile[]
  readonly hash: string
  readonly parts: readonly RosterPart[]
  mode(part: RosterPart): RosterMode
  /** True if the source has records that it does not show. */
  readonly isPartial?: boolean
  /** Records of each part that the source has, also removed ones; the last row of each, without those with problems. */
  readonly records: ReadonlyMap<RosterPart, readonly RosterEntry[]>
  readonly findings: RosterFindings
}

interface RosterFile {
  readonly name: string
  readonly table: string
  readonly mode: RosterMode
}

/** Null for people and enrolments that are left out. */
export type AcademyRole = 'learner' | 'instructor' | 'analyst' | null

/** Roles that a mapping may give for a role of a file, besides the roles of its format. */
export const academyRoles = {
  instructor: 'instructor',
  analyst: 'analyst',
  learner: 'learner',
  none: null,
} as const satisfies Readonly<Record<string, AcademyRole>>

/** Null for one that is left out. */
export type EnrollmentRole = Exclude<AcademyRole, 'analyst'>

export const enrollmentRoles = Object.entries(academyRoles).map(
  ([name, role]) => [name, role === 'analyst' ? null : role] as const,
)

export function namesOfRoles<Role extends keyof typeof academyRoles>(
  names: Readonly<Record<Role, string>>,
): [name: string, role: (typeof academyRoles)[Role]][] {
  const all = Object.entries(names) as [Role, string][]
  return all.flatMap(([role, text]) =>
    text.split(' ').map((name) => [name, academyRoles[role]] as [string, (typeof academyRoles)[Role]]),
  )
}

export const leftOutByMapping = 'roles mapped to none are left out'

export const roleField = 'role'

/** `column` is in lower case. */
export function isRoleColumn(column: string): boolean {
  return /^(role\d*|role_id|user_type|type\d+)$/.test(column)
}

/** Names the flag that gives the meaning. */
export function meaningGuess(column: string, value: string, meanings: readonly string[]): string {
  const pair = JSON.stringify(`${column.replace(/\d+$/, '')}:${value}=${meanings.join('|')}`)
  return `; say what it means: --map-value ${pair}`
}

export const roleMeanings = ['learner', 'instructor', 'none'] as const

const maxValues = 5

/** Records that the specification forbids, or that are left out. */
interface Leniency {
  readonly count: number
  readonly values: Set<string>
}

/** `users.csv: role is not spelled as specified (3 times: Student, TEACHER)`. */
function leniencyNote(file: string, what: string, { count, values }: Leniency): string {
  const shown = [...values].slice(0, maxValues).join(', ') + (values.size > maxValues ? ', …' : '')
  const times = count === 1 ? '' : pluralise(count, 'time')
  const rest = [times, shown].filter((text) => text !== '').join(': ')
  return `${file}: ${what}${rest === '' ? '' : ` (${rest})`}`
}
