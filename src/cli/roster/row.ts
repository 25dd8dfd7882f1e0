import type { CellForm } from '../dataset/cell.ts'
import type { Place } from '../records/entries.ts'
import type { FindingsCollector } from './findings.ts'
import { meaningGuess } from './roles.ts'
import type { RosterPart, RosterProblem } from './roster.ts'
import type { OpenTable } from './table.ts'

/** A record of a roster while it is read: a row of a CSV file, or a record of another system. */
export interface RosterRow extends Place {
  /** Number among all rows of the table, in several files. */
  readonly number: number
  /** Number of the earlier row that this one replaces; 0 for none. */
  readonly replaces: number
  hasProblem: boolean
  readonly cellForm: CellForm
  /** Without space around it; empty if there is no such column. */
  text(column: string): string
  /** By its number in the table. */
  placeOf(number: number): Place
  /** Keeps the row from being read. */
  addProblem(column: string | null, code: string, message: string, value?: string, guess?: string): void
  /** Counts records that are read leniently or left out. */
  addLeniency(what: string, value?: string): void
}

export interface RowFile {
  readonly file: string
  readonly table: OpenTable
  readonly part: RosterPart | null
  readonly findings: FindingsCollector
  /** Number of the lines in earlier files of the table. */
  readonly from: number
  /** All files of the table that were opened so far, with this one. */
  readonly opened: readonly RowFile[]
  /** For each column 1 if it is read. */
  readonly read: Uint8Array
}

export class CsvRow implements RosterRow {
  readonly line: number
  replaces = 0
  hasProblem = false
  readonly #file: RowFile
  readonly #cells: readonly string[]

  constructor(file: RowFile, line: number, cells: readonly string[]) {
    this.#file = file
    this.line = line
    this.#cells = cells
  }

  get file(): string {
    return this.#file.file
  }

  get number(): number {
    return this.#file.from + this.line
  }

  placeOf(number: number): Place {
    const { file, from } = this.#file.opened.findLast((each) => each.from < number) ?? this.#file
    return { file, line: number - from }
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
    this.#file.findings.addProblem(this.#file.part, guess === '' ? problem : { ...problem, guess })
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
    this.#file.findings.addLeniency(this.#file.file, what, value)
  }

  /** Counts the row as left out, and returns no entries. */
  leaveOut(what: string, value?: string): [] {
    this.addLeniency(what, value)
    return []
  }

  #problem(column: string | null, code: string, message: string, value: string | undefined): RosterProblem {
    const name = column === null ? null : this.#file.table.nameOf(column)
    return { file: this.#file.file, line: this.line, column: name, value, code, message }
  }
}
