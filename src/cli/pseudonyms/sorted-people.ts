import { BucketSpool } from './bucket-spool.ts'
import {
  isRecognisable,
  type KeptColumn,
  type Pseudonymising,
  type PseudonymTable,
} from './pseudonym-table.ts'
import { SmallGroups } from './small-groups.ts'

/** Rows that are returned at once. */
const batchRows = 500

/**
 * Sorts rows by the pseudonyms of their people in bounded memory, those of a person in their order: the order of a list, such as
 * that of addresses, would tell who is who. Counts the small groups that people could be recognised by.
 */
export class SortedPeople {
  readonly #table: PseudonymTable
  readonly #groups: SmallGroups
  readonly #groupPlaces: readonly number[]
  readonly #spool = new BucketSpool()

  /** @param columns columns of the table that are written */
  constructor(table: PseudonymTable, { k }: Pseudonymising, columns: readonly KeptColumn[]) {
    const recognisable = columns.filter(isRecognisable)
    this.#table = table
    this.#groups = new SmallGroups(
      k,
      recognisable.map(({ name }) => name),
    )
    this.#groupPlaces = recognisable.map((column) => table.placeOf(column))
  }

  /** Adds a row by its values in the table; the text has no line breaks. */
  add(values: readonly unknown[], text: string): void {
    const person = this.#table.personIn(values)
    this.#groups.add(
      person,
      this.#groupPlaces.map((place) => values[place] ?? null),
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

  /** Returns a note about small groups; null without any. */
  groupNote(): string | null {
    return this.#groups.note()
  }

  /** Deletes the files. */
  remove(): void {
    this.#spool.remove()
    this.#groups.remove()
  }
}
