import { BucketSpool } from './bucket-spool.ts'
import type { KeptColumn, Pseudonymising, PseudonymTable } from './pseudonym-table.ts'
import { type GroupedTable, SmallGroups } from './small-groups.ts'

const batchRows = 500

/** Rows about people that are written: without those of small groups, if these are to be left out. */
export class KeptRows {
  readonly #groups: SmallGroups
  readonly #table: GroupedTable
  readonly #spool = new BucketSpool()
  readonly #suppresses: boolean
  #notes: readonly string[] = []

  constructor({ k, suppressSmall }: Pseudonymising, table: GroupedTable) {
    this.#groups = new SmallGroups(k, [table])
    this.#table = table
    this.#suppresses = suppressSmall
  }

  /** Adds a row; the text has no line breaks, and `values` are what the person could be recognised by. */
  add(person: string, values: readonly unknown[], text: string): void {
    const group = this.#groups.add(this.#table, person, values)
    this.#spool.add(person, `${group}\t${text}`)
  }

  /** Yields the texts of all rows in batches, sorted by the person. Call `remove` at the end. */
  *batches(): Generator<readonly string[]> {
    const small = this.#suppresses ? this.#groups.small() : new Set<string>()
    if (!this.#suppresses) this.#notes = this.#groups.notes()
    let left = 0
    for (const entries of this.#spool.sorted()) {
      for (let index = 0; index < entries.length; index += batchRows) {
        const rows = entries.slice(index, index + batchRows).map(({ text }) => text)
        const kept = rows.filter((row) => !small.has(row.slice(0, row.indexOf('\t'))))
        left += rows.length - kept.length
        yield kept.map((row) => row.slice(row.indexOf('\t') + 1))
      }
    }
    if (this.#suppresses) this.#notes = this.#groups.suppressedNotes(left, small.size, this.#table)
  }

  /** Complete after all rows were read. */
  groupNotes(): readonly string[] {
    return this.#notes
  }

  remove(): void {
    this.#spool.remove()
    this.#groups.remove()
  }
}

/**
 * Sorts rows by the pseudonyms of their people in bounded memory, those of a person in their order: the order of a list, such as
 * that of addresses, would tell who is who. Counts the small groups that people could be recognised by.
 */
export class SortedPeople {
  readonly #table: PseudonymTable
  readonly #places: readonly number[]
  readonly #rows: KeptRows

  /** @param columns columns of the table that are written */
  constructor(table: PseudonymTable, how: Pseudonymising, columns: readonly KeptColumn[]) {
    this.#table = table
    const { places, columns: names } = table.recognisable(columns)
    this.#places = places
    this.#rows = new KeptRows(how, { name: null, columns: names })
  }

  /** Adds a row by its values in the table; the text has no line breaks. */
  add(values: readonly unknown[], text: string): void {
    const seen = this.#places.map((place) => values[place] ?? null)
    this.#rows.add(this.#table.personIn(values), seen, text)
  }

  /** Yields the texts of all rows in batches. Call `remove` at the end. */
  batches(): Generator<readonly string[]> {
    return this.#rows.batches()
  }

  /** Complete after all rows were read. */
  groupNotes(): readonly string[] {
    return this.#rows.groupNotes()
  }

  remove(): void {
    this.#rows.remove()
  }
}
