import { jsonText, parseJson } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { GradebookRow } from '../../contract/gradebook.ts'
import { type KeptColumn, type Pseudonymising, PseudonymTable } from '../pseudonyms/pseudonym-table.ts'
import { SortedPeople } from '../pseudonyms/sorted-people.ts'
import { droppedColumnError, pseudonymNotes } from './pseudonymised-export.ts'

/** The rows of a gradebook with pseudonyms of learners, and without their names and addresses. */
export class PseudonymisedGradebook {
  readonly #how: Pseudonymising
  readonly #table: PseudonymTable
  /** Columns about the learner, without those of items. */
  readonly #columns: readonly KeptColumn[]
  #groupNotes: readonly string[] = []

  constructor(how: Pseudonymising) {
    this.#how = how
    this.#table = new PseudonymTable(calls.grades.report.id, how)
    this.#columns = this.#table.columns.filter(({ path }) => path !== 'grades')
  }

  /** Throws a UsageError for a column that is left out. */
  assertKept(names: readonly string[] | null): void {
    const dropped = names?.find((name) => this.#table.dropped.has(name))
    if (dropped !== undefined) throw droppedColumnError(dropped, this.#columns)
  }

  /** Yields all rows, sorted by pseudonym. All pages are read before the first row. */
  async *pages(pages: AsyncIterable<readonly GradebookRow[]>): AsyncGenerator<readonly GradebookRow[]> {
    const people = new SortedPeople(this.#table, this.#how, this.#columns)
    try {
      for await (const page of pages) {
        for (const row of page) {
          const values = this.#table.valuesOf(row)
          people.add(values, jsonText(this.#rowOf(values, row)))
        }
      }
      // Written by this program a moment ago.
      for (const texts of people.batches()) yield texts.map((text) => parseJson(text) as GradebookRow)
      this.#groupNotes = people.groupNotes()
    } finally {
      people.remove()
    }
  }

  #rowOf(values: readonly unknown[], { grades }: GradebookRow) {
    const kept = this.#columns.map((column) => [column.path, values[this.#table.placeOf(column)] ?? null])
    return { ...Object.fromEntries(kept), grades }
  }

  notes(): readonly string[] {
    return pseudonymNotes(this.#how, [...this.#table.dropped], this.#columns, this.#groupNotes)
  }
}
