import { jsonText, parseJson } from '../../codec/json-text.ts'
import { type DatasetTable, datasetTables } from '../../tables/dataset-tables.ts'
import { BucketSpool } from '../pseudonyms/bucket-spool.ts'
import { keptColumnsOf, type Pseudonymising, PseudonymTable } from '../pseudonyms/pseudonym-table.ts'
import { SmallGroups } from '../pseudonyms/small-groups.ts'
import type { ChangedRow, RunWriter } from './dataset-files.ts'
import type { DatasetPseudonyms } from './dataset-folder.ts'
import { pseudonymNotes } from './pseudonymised-export.ts'

export function manifestEntryOf({ pseudonyms, times }: Pseudonymising): DatasetPseudonyms {
  return { key: pseudonyms.keyDigest(), times }
}

/** Without columns that identify a person. */
export function pseudonymisedTables({ times }: DatasetPseudonyms): readonly DatasetTable[] {
  return datasetTables.map((table) => ({ ...table, columns: keptColumnsOf(table, times) }))
}

function droppedColumns({ times }: Pseudonymising): string[] {
  return datasetTables.flatMap((table) => {
    const kept = new Set(keptColumnsOf(table, times).map(({ name }) => name))
    return table.columns.flatMap(({ name }) => (kept.has(name) ? [] : [`${table.name}.${name}`]))
  })
}

/** Rows that are written at once. */
const batchRows = 500

export interface PseudonymisedWriter extends RunWriter {
  /** Notes about columns that the files leave out, and about groups of fewer than `k` people; complete after `finish`. */
  notes(): readonly string[]
}

/**
 * Returns a writer of rows with pseudonyms, also in the keys of rows that are gone. Rows about people are sorted by their pseudonyms:
 * the order of ids would tell who is who. Those of one person keep their order, and so do the changes of a row.
 */
export function pseudonymisedWriter(writer: RunWriter, how: Pseudonymising): PseudonymisedWriter {
  const tables = new Map(
    datasetTables.map(({ name, columns }) => {
      const table = new PseudonymTable({ name, columns }, how)
      return [name as string, { table, grouped: { name, ...table.recognisable(table.columns) } }]
    }),
  )
  const groups = new SmallGroups(
    how.k,
    [...tables.values()].map(({ grouped }) => grouped),
  )
  const columns = [...tables.values()].flatMap(({ table }) => table.columns)
  let groupNotes: readonly string[] = []
  const spool = new BucketSpool()
  let spooled = 0

  /** Returns the row with the fields that are kept; null for a table of a newer platform. */
  function pseudonymised(
    row: ChangedRow,
  ): { readonly person: string | null; readonly row: ChangedRow } | null {
    const known = tables.get(row.table)
    if (!known) return null
    const { table, grouped } = known
    const keys = table.valuesOf(row.key)
    const fieldsOf = (values: readonly unknown[], isKept: (path: string) => boolean) =>
      Object.fromEntries(
        table.columns.flatMap(({ path }, place) => (isKept(path) ? [[path, values[place] ?? null]] : [])),
      )
    const key = fieldsOf(keys, (path) => Object.hasOwn(row.key, path))
    const values = row.record && table.valuesOf(row.record)
    const record = values && fieldsOf(values, () => true)
    const person = table.hasPeople ? table.personIn(values ?? keys) : null
    if (values && person !== null) {
      groups.add(
        grouped,
        person,
        grouped.places.map((place) => values[place] ?? null),
      )
    }
    return { person, row: { table: row.table, state: row.state, key, record } }
  }

  return {
    async add(rows) {
      const plain: ChangedRow[] = []
      for (const each of rows) {
        const made = pseudonymised(each)
        if (made === null) continue
        if (made.person === null) plain.push(made.row)
        else {
          spool.add(made.person, jsonText(made.row))
          spooled += 1
        }
      }
      await writer.add(plain)
    },
    rows: () => writer.rows() + spooled,
    async finish() {
      try {
        groupNotes = groups.notes()
        for (const entries of spool.sorted()) {
          for (let index = 0; index < entries.length; index += batchRows) {
            const batch = entries.slice(index, index + batchRows)
            // Written by this program a moment ago.
            await writer.add(batch.map(({ text }) => parseJson(text) as unknown as ChangedRow))
            spooled -= batch.length
          }
        }
      } finally {
        spool.remove()
        groups.remove()
      }
      return writer.finish()
    },
    async discard() {
      spool.remove()
      groups.remove()
      await writer.discard()
    },
    notes: () => pseudonymNotes(how, droppedColumns(how), columns, groupNotes),
  }
}
