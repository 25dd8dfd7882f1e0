import { type Place, placeText } from '../records/entries.ts'
import type { ImportFile } from '../records/sources/file.ts'
import type { Mapping } from '../records/sources/mapping.ts'
import {
  type RosterEntry,
  type RosterFindings,
  type RosterMode,
  type RosterPart,
  rosterNouns,
} from './roster.ts'
import { CsvRow, type RosterRow, type RowFile } from './row.ts'
import { openTable, type TableForm, type TableReference } from './table.ts'

export interface RosterOptions {
  /** Domain for the addresses of people who have none; null to refuse them. */
  readonly emailDomain: string | null
  readonly mapping: Mapping
}

export interface Reading {
  readonly findings: RosterFindings
  readonly options: RosterOptions
  readonly files: ReadonlyMap<string, readonly ImportFile[]>
  mode(table: string): RosterMode
  /** The last row of each key, by table. */
  readonly keys: Map<string, Map<string, LastRow>>
  /** The same for records that several rows may be about, by part, and for other unique values. */
  readonly names: Map<string, Map<string, LastRow>>
}

interface LastRow {
  readonly place: Place
  readonly rank: Rank
}

export function createReading(given: Omit<Reading, 'keys' | 'names'>): Reading {
  return { ...given, keys: new Map(), names: new Map() }
}

/** Ranks of rows about the same record: a row does not replace one of a higher rank. */
export const ranks = { none: 0, removed: 1, inactive: 2, completed: 3, active: 4 } as const
export type Rank = (typeof ranks)[keyof typeof ranks]

export interface RowReader {
  /** True for a row that says that its record is gone: only some of its columns are checked. */
  isRemoved(row: CsvRow): boolean
  /** Columns that the row of a removed record needs (default the key). */
  readonly removedNeeds?: readonly string[]
  /** True if several rows with one key add up: none replaces another as a whole. */
  readonly addsUp?: true
  /** True if rows have records of other parts as well, whose problems stay when a later row replaces the first. */
  readonly hasOtherParts?: true
  /** Returns the entries of a row; none after it added a problem, or a note that it is left out. */
  entriesOf(row: CsvRow, isRemoved: boolean): readonly RosterEntry[]
}

/** Reads all rows of a table, a piece at a time. Rows with problems have no entries. */
export async function* walk(
  reading: Reading,
  form: TableForm,
  reader: RowReader,
): AsyncGenerator<readonly RosterEntry[]> {
  const { findings } = reading
  const files = reading.files.get(form.name) ?? []
  const keys = new Map<string, LastRow>()
  reading.keys.set(form.name, keys)
  const open: OpenReference[] = []
  const required = [...form.key, ...form.required]

  function read(row: CsvRow): readonly RosterEntry[] {
    const isRemoved = reader.isRemoved(row)
    for (const column of isRemoved ? (reader.removedNeeds ?? form.key) : required) {
      if (row.text(column) === '') row.addProblem(column, 'required', 'is required')
    }
    const key = keyOf(form, row)
    const before = keys.get(key)
    if (before && !reader.addsUp) replace(before, row)
    for (const reference of isRemoved ? [] : (form.references ?? [])) {
      checkReference(reading, row, reference, reference.to === form.name ? open : null)
    }
    const entries = row.hasProblem ? [] : reader.entriesOf(row, isRemoved)
    const kept = row.hasProblem ? [] : entries
    const rank = kept.length === 0 ? ranks.none : isRemoved ? ranks.removed : ranks.active
    if (key !== '') keys.set(key, { place: row.place, rank })
    return kept
  }

  function replace({ place }: LastRow, row: CsvRow): void {
    row.replaces = place
    if (form.part === null) return
    findings.addReplaced(form.part, place)
    row.addLeniency(
      `several rows of one ${form.noun}; read the last`,
      `${keyOf(form, row)} in line ${row.place.line}`,
    )
  }

  for (const file of files) {
    const table = await openTable(file, form, findings, reading.options.mapping)
    const part = reader.hasOtherParts ? null : form.part
    const columns = table.header.length
    const filled = new Uint8Array(columns)
    const rowFile: RowFile = { name: file.name, table, part, findings, read: new Uint8Array(columns) }
    for await (const some of table.rows) {
      const entries: RosterEntry[] = []
      for (const { line, cells } of some) {
        findings.addRow(file.name)
        for (let at = 0; at < columns; at += 1) if (filled[at] === 0 && cells[at]) filled[at] = 1
        const row = new CsvRow(rowFile, line, cells)
        if (requireWidth(row, cells, table.header)) for (const entry of read(row)) entries.push(entry)
      }
      yield entries
    }
    for (const [at, name] of table.header.entries()) {
      if (filled[at] === 1 && rowFile.read[at] === 0 && table.isKnown(name))
        findings.addUnread(file.name, name)
    }
  }
  for (const { row, reference, key } of open) if (!keys.has(key)) addMissing(row, reference, key)
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

/**
 * Reserves the key of a record that several rows of a table may be about. Returns false if the record of an earlier row
 * stays; otherwise that one is replaced.
 */
export function claim(reading: Reading, part: RosterPart, key: string, row: RosterRow, rank: Rank): boolean {
  const names = namesOf(reading, part)
  const before = names.get(key)
  if (before) {
    const name = key.includes('\n') ? key.replaceAll('\n', ', ') : key.replace(/^ext:/, '')
    row.addLeniency(`several rows of one ${rosterNouns[part]}; read the last`, name)
    if (before.rank > rank || before.place === row.place) return false
    reading.findings.addReplaced(part, before.place, key)
  }
  names.set(key, { place: row.place, rank })
  return true
}

/** Adds a problem if an earlier row that was not about the same record has the value. */
export function requireUnique(
  reading: Reading,
  { column, value, name }: { readonly column: string; readonly value: string; readonly name: string },
  row: RosterRow,
): void {
  const names = namesOf(reading, name)
  const before = names.get(value)?.place
  names.set(value, { place: row.place, rank: ranks.none })
  if (before === undefined || before === row.replaces || before === row.place) return
  row.addProblem(column, 'duplicate', `is the ${name} of ${placeText(before)} as well`, value)
}

export function hasRow(reading: Reading, table: string, key: string): boolean {
  return reading.keys.get(table)?.has(key) === true
}

/** True if the last row with a key in a table says that its record is gone. */
export function isRemovedRow(reading: Reading, table: string, key: string): boolean {
  return reading.keys.get(table)?.get(key)?.rank === ranks.removed
}

/** True if the rows about a record that several rows may be about say that it is gone. */
export function isRemovedRecord(reading: Reading, part: RosterPart, key: string): boolean {
  return namesOf(reading, part).get(key)?.rank === ranks.removed
}

/** Adds a problem if an earlier row of the table has the same key, but not the same value. */
export function requireSame(
  reading: Reading,
  {
    table,
    column,
    key,
    value,
    message,
  }: Readonly<Record<'table' | 'column' | 'key' | 'value' | 'message', string>>,
  row: RosterRow,
): void {
  const names = namesOf(reading, `${table} ${column}`)
  const pair = `${key}\n${value}`
  const isNew = !names.has(pair)
  names.set(pair, { place: row.place, rank: ranks.none })
  const before = reading.keys.get(table)?.get(key)?.place
  if (!before || !isNew) return
  row.addProblem(column, 'duplicate', `is that of ${placeText(before)} as well, ${message}`, key)
}

function namesOf({ names }: Reading, of: string): Map<string, LastRow> {
  const known = names.get(of) ?? new Map<string, LastRow>()
  names.set(of, known)
  return known
}

/** A reference to a row of the same table that may follow. */
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
  { files, keys, mode }: Reading,
  row: CsvRow,
  reference: TableReference,
  open: OpenReference[] | null = null,
): void {
  const text = row.text(reference.column)
  if (text === '') return
  const known = files.has(reference.to) && mode(reference.to) === 'bulk' ? keys.get(reference.to) : undefined
  if (!known) {
    const why = files.has(reference.to) ? 'its file is a delta' : 'the roster has no such file'
    row.addLeniency(`references to ${reference.to} are not checked: ${why}`)
    return
  }
  if (known.has(text)) return
  for (const key of reference.isList ? listIn(text) : [text]) {
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

/** None of the keys has a comma. */
export function listIn(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

function keyOf({ key }: TableForm, row: CsvRow): string {
  const [first = '', ...others] = key
  return others.length === 0 ? row.text(first) : key.map((column) => row.text(column)).join('\n')
}
