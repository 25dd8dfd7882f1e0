import { DatabaseSync } from 'node:sqlite'
import { formatCount } from '../../codec/display-text.ts'
import { type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { Pseudonymising } from './pseudonyms.ts'

/** A table whose rows are about people. */
export interface PeopleTable {
  /** Null for the only table of a file. */
  readonly name: string | null
  /** Columns that people could be recognised by. */
  readonly columns: readonly string[]
}

/** A row without identities. */
export interface MaskedRow {
  readonly table: PeopleTable
  /** Pseudonym of the person that the row is about. */
  readonly person: string
  /** Values of the columns that the person could be recognised by. */
  readonly seen: readonly unknown[]
  readonly row: JsonObject
}

const batchRows = 500

/**
 * Sorts rows by the pseudonyms of their people, those of a person in their order: the order of a list, such as that of addresses, would
 * tell who is who. Counts the groups of people whose rows have equal values: a person in a group of fewer than k may be recognised by
 * these (k-anonymity, Samarati and Sweeney 1998).
 */
export class PeopleRows {
  readonly #how: Pseudonymising
  readonly #tables: readonly PeopleTable[]
  // A temporary file, which only this process can read: SQLite deletes it (In-Memory Databases § Temporary Databases).
  readonly #database = new DatabaseSync('')
  readonly #insert
  #notes: readonly string[] = []

  constructor(how: Pseudonymising, tables: readonly PeopleTable[]) {
    this.#how = how
    this.#tables = tables
    this.#database.exec('create table rows (place integer, person text, seen text, row text); begin')
    this.#insert = this.#database.prepare('insert into rows values (?, ?, ?, ?)')
  }

  add({ table, person, seen, row }: MaskedRow): void {
    const isGrouped = this.#how.k > 1 && seen.length > 0
    this.#insert.run(this.#tables.indexOf(table), person, isGrouped ? jsonText(seen) : null, jsonText(row))
  }

  /** Yields all rows in batches: without those of small groups, if these are to be left out. Call `close` at the end. */
  *batches(): Generator<readonly JsonObject[]> {
    this.#notes = this.#tables.flatMap((table, place) => this.#notesOf(table, place))
    let batch: JsonObject[] = []
    for (const { row } of this.#database.prepare('select row from rows order by person, rowid').iterate()) {
      // Written by this class.
      batch.push(parseJson(String(row)) as JsonObject)
      if (batch.length < batchRows) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

  /** Returns a note about the small groups of a table, after deleting their rows if these are to be left out. */
  #notesOf({ name, columns }: PeopleTable, place: number): string[] {
    const { k, suppressSmall } = this.#how
    const small = `select seen, count(distinct person) as people from rows where place = ${place} and seen is not null
      group by seen having people < ${k}`
    const counts = this.#database
      .prepare(`select count(*) as groups, min(people) as least from (${small})`)
      .get()
    const groups = Number(counts?.['groups'])
    if (groups === 0) return []
    const text = `${formatCount(groups)} ${groups === 1 ? 'group' : 'groups'} of fewer than ${k} people with the same ${columns.join(', ')}`
    if (suppressSmall) {
      const left = this.#database.prepare(
        `delete from rows where place = ${place} and seen in (select seen from (${small}))`,
      )
      return [`Left out ${pluralise(Number(left.run().changes), 'row')} of ${text}`]
    }
    const where = name === null ? '' : `${name}: `
    return [
      `${where}${text} (the smallest has ${Number(counts?.['least'])}): they may be recognised by these`,
    ]
  }

  /** Notes about small groups; complete after `batches`. */
  groupNotes(): readonly string[] {
    return this.#notes
  }

  close(): void {
    this.#database.close()
  }
}
