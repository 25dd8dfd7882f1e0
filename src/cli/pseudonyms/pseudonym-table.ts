import { isJsonObject } from '../../codec/json-text.ts'
import type { ColumnType, TableColumn } from '../../tables/column.ts'
import { tables } from '../../tables/dictionary.ts'
import { ancestorsOf, valueAt } from '../../tables/paths.ts'
import { type CoarseTime, coarsened, type Pseudonyms } from './pseudonyms.ts'

export interface Pseudonymising {
  readonly pseudonyms: Pseudonyms
  /** Null keeps times as they are. */
  readonly times: CoarseTime | null
  /** Least people of a group; 1 checks nothing. */
  readonly k: number
  /** Leaves out the rows of groups below `k`. */
  readonly suppressSmall: boolean
}

export interface KeptColumn extends TableColumn {
  /** Kind of the ids in the column; null for other values. */
  readonly kind: string | null
}

/**
 * The columns of a table that a pseudonymised export keeps: ids as pseudonyms, times, and values that identify no person. Any other column,
 * also one that only another platform has, is dropped.
 */
export class PseudonymTable {
  readonly columns: readonly KeptColumn[]
  readonly dropped: ReadonlySet<string>
  /** True if a column has ids of people, or of other records about them. */
  readonly hasPeople: boolean
  readonly #how: Pseudonymising
  readonly #dropped = new Set<string>()
  readonly #known: ReadonlySet<string>

  /** @param source a table, or the operation that lists its rows */
  constructor(source: string | NamedColumns, how: Pseudonymising) {
    const table = typeof source === 'string' ? tables.find(({ operation }) => operation === source) : source
    if (!table) throw new TypeError(`no table of ${String(source)}`)
    this.#how = how
    // An object of known fields is known.
    this.#known = new Set(table.columns.flatMap(({ path }) => [path, ...ancestorsOf(path)]))
    this.columns = keptColumnsOf(table, how.times)
    const kept = new Set(this.columns.map(({ path }) => path))
    for (const { name, path } of table.columns) if (!kept.has(path)) this.#dropped.add(name)
    this.dropped = this.#dropped
    this.hasPeople = this.columns.some(({ kind }) => kind !== null)
  }

  /** Returns the values of a record in the order of the columns. */
  valuesOf(record: unknown): unknown[] {
    for (const field of isJsonObject(record) ? Object.keys(record) : []) {
      if (!this.#known.has(field) && this.#dropped.size < maxDropped) this.#dropped.add(field)
    }
    return this.columns.map((column) => this.#valueOf(column, valueAt(record, column.path)))
  }

  #valueOf({ kind, privacy, type }: KeptColumn, value: unknown): unknown {
    if (value === null || value === undefined) return null
    if (kind !== null) return isScalar(value) ? this.#how.pseudonyms.of(kind, String(value)) : null
    if (privacy === 'time') return this.#timeOf(value)
    return isOfType(type, value) ? value : null
  }

  #timeOf(value: unknown): string | null {
    const { times } = this.#how
    if (times !== null) return coarsened(value, times)
    return coarsened(value, 'day') === null ? null : String(value)
  }

  placeOf({ path }: KeptColumn): number {
    return this.columns.findIndex((column) => column.path === path)
  }

  /** Returns those of the columns that people could be recognised by, and their places in the values. */
  recognisable(columns: readonly KeptColumn[]) {
    const found = columns.filter(isRecognisable)
    return {
      columns: found.map(({ name }) => name),
      places: found.map((column) => this.placeOf(column)),
    }
  }

  /** Returns the person that a row is about: the pseudonym of a user, else of the record. */
  personIn(values: readonly unknown[]): string {
    const place = Math.max(
      0,
      this.columns.findIndex(({ kind }) => kind === 'user'),
    )
    return String(values[place] ?? '')
  }
}

interface NamedColumns {
  readonly name: string
  readonly columns: readonly TableColumn[]
}

/** Returns the columns of a table that are kept, with times as days if they are reduced. */
export function keptColumnsOf({ name, columns }: NamedColumns, times: CoarseTime | null): KeptColumn[] {
  return columns
    .filter((column) => keptPrivacies.has(column.privacy) && !isOfProfile(column))
    .map((column) => {
      const kind = column.privacy === 'id' ? kindOf(name, column.path) : null
      const isCoarse = column.privacy === 'time' && times !== null
      return { ...column, kind, type: isCoarse ? 'date' : column.type }
    })
}

/** Maximum names of dropped columns in memory. */
const maxDropped = 200
const keptPrivacies: ReadonlySet<TableColumn['privacy']> = new Set(['id', 'time', 'none'])

/** Settings of a profile, such as those of accessibility, tell much about a person and nothing about learning. */
function isOfProfile({ path }: TableColumn): boolean {
  return path.startsWith('profile.')
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'bigint'].includes(typeof value)
}

/** Other platforms may have anything in a column; numbers, for example, may have been written as text. */
export function isOfType(type: ColumnType, value: unknown): boolean {
  switch (type) {
    case 'integer':
    case 'number':
    case 'percent':
      return typeof value !== 'boolean' && isScalar(value) && Number.isFinite(Number(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'timestamp':
    case 'date':
      return coarsened(value, 'day') !== null
    default:
      return isScalar(value) || (Array.isArray(value) && value.every(isScalar))
  }
}

/** True for a column that people could be recognised by: courses, groups, states and times. */
function isRecognisable(column: KeptColumn): boolean {
  if (column.kind !== null) return false
  if (column.privacy === 'time') return true
  return column.type === 'string' && !/title|name|label|externalId$/i.test(column.path)
}

/** Kinds of the ids in fields of several tables. */
const kinds: Readonly<Record<string, string>> = {
  learnerId: 'user',
  userId: 'user',
  recordedBy: 'user',
  createdBy: 'user',
  'users.id': 'user',
  userExternalId: 'user external id',
  learnerExternalId: 'user external id',
  // Only external ids of users identify a person; those of courses and groups stay.
  externalId: 'user external id',
  'enrollments.id': 'enrolment',
  gradeId: 'grade',
  'grades.id': 'grade',
  'groups.members.id': 'membership',
  'groups.memberships.id': 'membership',
}

/** Returns the kind of the ids in a field; `leaf` is the last step of its path. */
export function kindOf(table: string, path: string, leaf = path): string {
  return kinds[`${table}.${path}`] ?? kinds[path] ?? kinds[`${table}.${leaf}`] ?? kinds[leaf] ?? path
}
