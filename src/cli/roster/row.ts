import type { CellForm } from '../dataset/cell.ts'
import type { Place } from '../records/entries.ts'
import { meaningGuess } from './roles.ts'
import type { RosterFindings, RosterPart, RosterProblem } from './roster.ts'
import type { OpenTable } from './table.ts'

/** A record of a roster while it is read: a row of a CSV file, or a record of another system. */
export interface RosterRow {
  /** The same object for all that is noted about the row. */
  readonly place: Place
  /** Place of the earlier row that this one replaces; null for none. */
  readonly replaces: Place | null
  hasProblem: boolean
  readonly cellForm: CellForm
  /** Without space around it; empty if there is no such column. */
  text(column: string): string
  /** Keeps the row from being read. */
  addProblem(column: string | null, code: string, message: string, value?: string, guess?: string): void
  /** Counts records that are read leniently or left out. */
  addLeniency(what: string, value?: string): void
}

export interface RowFile {
  readonly name: string
  readonly table: OpenTable
  readonly part: RosterPart | null
  readonly findings: RosterFindings
  /** For each column 1 if it is read. */
  readonly read: Uint8Array
}

export class CsvRow implements RosterRow {
  readonly place: Place
  replaces: Place | null = null
  hasProblem = false
  readonly #file: RowFile
  readonly #cells: readonly string[]

  constructor(file: RowFile, line: number, cells: readonly string[]) {
    this.#file = file
    this.place = { file: file.name, line }
    this.#cells = cells
  }

  has(column: string): boolean {
    return this.#file.table.placeOf(column) !== undefined
  }

  text(column: string): string {
    const place = this.#file.table.placeOf(column)
    if (place === undefined) return ''
    this.#file.read[place] = 1
    return this.#file.table.textAt(this.#cells, place)
  }

  get cellForm(): CellForm {
    return this.#file.table.cellForm
  }

  addProblem(column: string | null, code: string, message: string, value?: string, guess = ''): void {
    this.hasProblem = true
    const problem = this.#problem(column, code, message, value)
    const { findings, part } = this.#file
    findings.addProblem(part, this.place, guess === '' ? problem : { ...problem, guess })
  }

  addChoiceProblem(
    column: string,
    value: string,
    message: string,
    meanings: readonly string[],
    code = 'invalid_choice',
  ): void {
    const guess = value === '' ? '' : meaningGuess(this.#file.table.nameOf(column), value, meanings)
    this.addProblem(column, code, message, value, guess)
  }

  /** Does not keep the row from being read. */
  addWarning(column: string | null, code: string, message: string, value?: string): void {
    this.#file.findings.addWarning(this.#problem(column, code, message, value))
  }

  addLeniency(what: string, value?: string): void {
    this.#file.findings.addLeniency(this.#file.name, what, value)
  }

  /** Counts the row as left out, and returns no entries. */
  leaveOut(what: string, value?: string): [] {
    this.addLeniency(what, value)
    return []
  }

  #problem(column: string | null, code: string, message: string, value: string | undefined): RosterProblem {
    const name = column === null ? null : this.#file.table.nameOf(column)
    return { ...this.place, column: name, value, code, message }
  }
}
