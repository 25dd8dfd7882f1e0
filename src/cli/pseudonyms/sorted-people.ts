import { BucketSpool } from './bucket-spool.ts'
import type { KeptColumn, Pseudonymising, PseudonymTable } from './pseudonym-table.ts'
import { type GroupedTable, SmallGroups } from './small-groups.ts'

/** Rows that are returned at once. */
const batchRows = 500

/**
 * Sorts rows by the pseudonyms of their people in bounded memory, those of a person in their order: the order of a list, such as
 * that of addresses, would tell who is who. Counts the small groups that people could be recognised by.
 */
export class SortedPeople {
  readonly #table: PseudonymTable
  readonly #groups: SmallGroups
  readonly #grouped: GroupedTable & { readonly places: readonly number[] }
  readonly #spool = new BucketSpool()

  /** @param columns columns of the table that are written */
  constructor(table: PseudonymTable, { k }: Pseudonymising, columns: readonly KeptColumn[]) {
    this.#table = table
    this.#grouped = { name: null, ...table.recognisable(columns) }
    this.#groups = new SmallGroups(k, [this.#grouped])
  }

  /** Adds a row by its values in the table; the text has no line breaks. */
  add(values: readonly unknown[], text: string): void {
    const person = this.#table.personIn(values)
    this.#groups.add(
      this.#grouped,
      person,
      this.#grouped.places.map((place) => values[place] ?? null),
    )
    this.#spool.add(person, text)
  }

  /** Yields the texts of all rows in batches. Call `remove` at the end. */
  *batches(): Generator<readonly string[]> {
    for (const entries of this.#spool.sorted()) {
      for (let index = 0; index < entries.length; index += batchRows) {
        yield entries.slice(index, index + batchRows).map(({ text }) => text)
      }
    }
  }

  /** Returns the notes about small groups. */
  groupNotes(): readonly string[] {
    return this.#groups.notes()
  }

  /** Deletes the files. */
  remove(): void {
    this.#spool.remove()
    this.#groups.remove()
  }
}
