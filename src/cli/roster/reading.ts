import { nouns, type Place, placeText } from '../records/entries.ts'
import type { ImportFile } from '../records/sources/file.ts'
import type { Mapping } from '../records/sources/mapping.ts'
import {
  meaningGuess,
  type Roster,
  type RosterEntry,
  type RosterFindings,
  type RosterMode,
  type RosterPart,
  type RosterPlace,
  type RosterProblem,
} from './roster.ts'
import { type OpenTable, openTable, type TableForm, type TableReference } from './table.ts'

export interface RosterOptions {
  /** Domain for the addresses of people who have none; null to refuse them. */
  readonly emailDomain: string | null
  readonly mapping: Mapping
}

export class RosterRow {
  readonly place: RosterPlace
  replaces: Place | null = null
  hasProblem = false
  readonly findings: RosterFindings

  constructor(findings: RosterFindings, place: RosterPlace) {
    this.findings = findings
    this.place = place
  }

  /** Keeps the row from being read. */
  addProblem(column: string | null, code: string, message: string, value?: string, guess = ''): void {
    this.hasProblem = true
    const problem = this.#problem(column, code, message, value)
    this.findings.addProblem(this.place, guess === '' ? problem : { ...problem, guess })
  }

  addWarning(column: string | null, code: string, message: string, value?: string): void {
    this.findings.addWarning(this.#problem(column, code, message, value))
  }

  /** Counts rows that are read leniently or left out. */
  addLeniency(what: string, value?: string): void {
    this.findings.addLeniency(this.place.file, what, value)
  }

  /** Counts the row, and returns no entries. */
  leaveOut(what: string, value?: string): [] {
    this.addLeniency(what, value)
    return []
  }

  columnName(column: string): string {
    return column
  }

  #problem(column: string | null, code: string, message: string, value: string | undefined): RosterProblem {
    const name = column === null ? null : this.columnName(column)
    return { ...this.place, column: name, value, code, message }
  }
}

interface RowFile {
  readonly name: string
  readonly table: OpenTable
  /** 1 for a column that is read. */
  readonly read: Uint8Array
}

export class CsvRow extends RosterRow {
  readonly #file: RowFile
  readonly #cells: readonly string[]

  constructor(findings: RosterFindings, file: RowFile, line: number, cells: readonly string[]) {
    super(findings, { file: file.name, line })
    this.#file = file
    this.#cells = cells
  }

  has(column: string): boolean {
    return this.#file.table.placeOf(column) !== undefined
  }

  /** Without space around it; empty if there is no such column. */
  text(column: string): string {
    const place = this.#file.table.placeOf(column)
    if (place === undefined) return ''
    this.#file.read[place] = 1
    return this.#file.table.textAt(this.#cells, place)
  }

  get cellForm(): OpenTable['cellForm'] {
    return this.#file.table.cellForm
  }

  override columnName(column: string): string {
    return this.#file.table.nameOf(column)
  }

  addChoiceProblem(
    column: string,
    value: string,
    message: string,
    meanings: readonly string[],
    code = 'invalid_choice',
  ): void {
    const guess = value === '' ? '' : meaningGuess(this.columnName(column), value, meanings)
    this.addProblem(column, code, message, value, guess)
  }
}

interface LastRow {
  readonly place: Place
  readonly isRemoved: boolean
  /** Undefined if it was left out. */
  readonly entry: RosterEntry | undefined
}

/** Collects records row by row; later rows are checked against them. */
export class Reading {
  readonly findings: RosterFindings
  readonly options: RosterOptions
  readonly files: ReadonlyMap<string, readonly ImportFile[]>
  /** Last rows by the keys of a table, and by its name. */
  readonly tables = new Map<string, Map<string, LastRow>>()
  readonly #isDelta: (table: string) => boolean
  readonly #records = new Map<RosterPart, Map<string, RosterEntry>>()
  readonly #members = new Map<string, Set<string>>()
  /** Places of rows by what must be unique, and by their value of it. */
  readonly #unique = new Map<string, Map<string, RosterPlace>>()

  constructor(
    findings: RosterFindings,
    options: RosterOptions,
    files: Reading['files'] = new Map(),
    isDelta: (table: string) => boolean = () => false,
  ) {
    this.findings = findings
    this.options = options
    this.files = files
    this.#isDelta = isDelta
  }

  mode(table: string): RosterMode {
    return this.#isDelta(table) ? 'delta' : 'bulk'
  }

  records(part: RosterPart): Map<string, RosterEntry> {
    const known = this.#records.get(part) ?? new Map<string, RosterEntry>()
    this.#records.set(part, known)
    return known
  }

  /** Adds a record. Of several about one, the last counts, unless the status of an earlier one counts more. */
  add(row: RosterRow, entry: RosterEntry): void {
    const { dataset, key, place } = entry
    const records = this.records(dataset)
    const before = records.get(key)
    if (before) {
      const name = key.includes('\n') ? key.replaceAll('\n', ', ') : key.replace(/^ext:/, '')
      row.addLeniency(`several rows of one ${nouns[dataset]}; read the last`, name)
      if (rankOf(before) > rankOf(entry) || before.place === place) return
      records.delete(key)
    }
    records.set(key, entry)
  }

  /** Adds or replaces it at once. Members are added apart. */
  addGroup(entry: RosterEntry): void {
    this.records('groups').set(entry.key, entry)
  }

  /** Members of a group that is never added are left out. */
  addMember(groupId: string, userId: string): void {
    this.#members.set(groupId, (this.#members.get(groupId) ?? new Set()).add(userId))
  }

  hasRow(table: string, key: string): boolean {
    return this.tables.get(table)?.has(key) === true
  }

  isRemovedRow(table: string, key: string): boolean {
    return this.tables.get(table)?.get(key)?.isRemoved === true
  }

  /** Adds a problem if an earlier row that was not about the same record has the value. */
  requireUnique(row: RosterRow, column: string, value: string, name: string): void {
    const places = this.#unique.get(name) ?? new Map<string, RosterPlace>()
    this.#unique.set(name, places)
    const before = places.get(value)
    places.set(value, row.place)
    if (!before || before === row.replaces || before === row.place) return
    row.addProblem(
      column,
      'duplicate',
      `is the ${name} of ${before.record ?? placeText(before)} as well`,
      value,
    )
  }

  /** Members of groups keep the order of the files. */
  finish(parts: readonly RosterPart[]): Pick<Roster, 'records' | 'findings'> {
    for (const [key, entry] of this.records('groups')) {
      if (entry.isRemoved) continue
      entry.record = { ...entry.record, members: [...(this.#members.get(key) ?? [])] }
    }
    const records = new Map(parts.map((part) => [part, [...this.records(part).values()]]))
    return { records, findings: this.findings }
  }
}

const statuses = ['inactive', 'completed', 'active']

/** Returns a number by which records about the same one are ranked: active before completed, inactive and removed ones. */
function rankOf({ isRemoved, record: { status } }: RosterEntry): number {
  if (isRemoved) return -1
  return typeof status === 'string' && statuses.includes(status) ? statuses.indexOf(status) : statuses.length
}

export interface RowReader {
  /** True for a row whose record is gone: only some of its columns are checked. */
  isRemoved(row: CsvRow): boolean
  /** Columns that a removed record needs (default the key). */
  readonly removedNeeds?: readonly string[]
  /** True if rows with one key add up: none replaces another as a whole. */
  readonly addsUp?: true
  /** True if rows have records of other parts, whose problems stay when a later row replaces the first. */
  readonly hasOtherParts?: true
  /** Returns the entries of a row; none after it added a problem, or a note that it is left out. */
  entriesOf(row: CsvRow, isRemoved: boolean): readonly RosterEntry[]
}

export async function walk(reading: Reading, form: TableForm, reader: RowReader): Promise<void> {
  const { findings } = reading
  const rows = new Map<string, LastRow>()
  reading.tables.set(form.name, rows)
  const open: OpenReference[] = []
  const required = [...form.key, ...form.required]

  function read(row: CsvRow): void {
    const isRemoved = reader.isRemoved(row)
    for (const column of isRemoved ? (reader.removedNeeds ?? form.key) : required) {
      if (row.text(column) === '') row.addProblem(column, 'required', 'is required')
    }
    const key = keyOf(form, row)
    const before = rows.get(key)
    if (before && !reader.addsUp) replace(before, row, key)
    for (const reference of isRemoved ? [] : (form.references ?? [])) {
      checkReference(reading, row, reference, reference.to === form.name ? open : null)
    }
    const entries = row.hasProblem ? [] : reader.entriesOf(row, isRemoved)
    const kept = row.hasProblem ? [] : entries
    for (const entry of kept) reading.add(row, entry)
    const entry = kept.find(({ dataset }) => dataset === form.part)
    if (key !== '') rows.set(key, { place: row.place, isRemoved: isRemoved && !row.hasProblem, entry })
  }

  function replace({ place, entry }: LastRow, row: CsvRow, key: string): void {
    row.replaces = place
    if (form.part === null) return
    if (entry && reading.records(form.part).get(entry.key) === entry)
      reading.records(form.part).delete(entry.key)
    if (!reader.hasOtherParts) findings.removeProblems(place)
    row.addLeniency(`several rows of one ${form.noun}; read the last`, `${key} in line ${row.place.line}`)
  }

  for (const file of reading.files.get(form.name) ?? []) {
    const table = await openTable(file, form, findings, reading.options.mapping)
    const columns = table.header.length
    const filled = new Uint8Array(columns)
    const rowFile: RowFile = { name: file.name, table, read: new Uint8Array(columns) }
    for await (const some of table.rows) {
      for (const { line, cells } of some) {
        findings.addRow(file.name)
        for (let at = 0; at < columns; at += 1) if (filled[at] === 0 && cells[at]) filled[at] = 1
        const row = new CsvRow(findings, rowFile, line, cells)
        if (requireWidth(row, cells, table.header)) read(row)
      }
    }
    const unread = table.header.filter(
      (name, at) => filled[at] === 1 && rowFile.read[at] === 0 && table.isKnown(name),
    )
    findings.unreadColumns.set(file.name, unread)
  }
  for (const { row, reference, key } of open) if (!rows.has(key)) addMissing(row, reference, key)
}

/** Adds a problem if a row is shorter or longer than its header; only empty cells may be missing or too many at the end. */
function requireWidth(row: CsvRow, cells: readonly string[], header: readonly string[]): boolean {
  if (cells.length === header.length) return true
  const named = header.findLastIndex((name) => name !== '') + 1
  if (cells.length >= named && cells.slice(named).every((cell) => cell.trim() === '')) {
    row.addLeniency('empty cells at the end of rows are missing or too many')
    return true
  }
  row.addProblem(null, 'ragged_row', `has ${cells.length} cells, but the header has ${header.length}`)
  return false
}

interface OpenReference {
  readonly row: CsvRow
  readonly reference: TableReference
  readonly key: string
}

/**
 * Adds a problem or a warning for a key that another table does not have; a note if the roster lacks that table, or has
 * only changes of it.
 *
 * @param open takes references to a row of the same table that may follow; null for other tables
 */
export function checkReference(
  reading: Reading,
  row: CsvRow,
  reference: TableReference,
  open: OpenReference[] | null = null,
): void {
  const { column, to, isList } = reference
  const text = row.text(column)
  if (text === '') return
  const isHere = reading.files.has(to)
  const known = isHere && reading.mode(to) === 'bulk' ? reading.tables.get(to) : undefined
  if (!known) {
    const why = isHere ? 'its file is a delta' : 'the roster has no such file'
    row.addLeniency(`references to ${to} are not checked: ${why}`)
    return
  }
  if (known.has(text)) return
  for (const key of isList ? listIn(text) : [text]) {
    if (known.has(key)) continue
    if (open) open.push({ row, reference, key })
    else addMissing(row, reference, key)
  }
}

function addMissing(row: CsvRow, { column, to, isWarning }: TableReference, key: string): void {
  const message = `is not in ${to}`
  if (isWarning) row.addWarning(column, 'unknown_reference', message, key)
  else row.addProblem(column, 'unknown_reference', message, key)
}

export function listIn(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

function keyOf({ key }: TableForm, row: CsvRow): string {
  return key.map((column) => row.text(column)).join('\n')
}
