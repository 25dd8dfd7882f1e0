import { type DataTableName, dataTableNames, dataTables } from '../contract/data-tables.ts'
import { objectOf } from '../contract/fields.ts'
import type { TableColumn } from './column.ts'
import { describeColumns } from './describe-columns.ts'

export interface DatasetTable {
  readonly name: DataTableName
  /** Meaning of a row, as a noun phrase. */
  readonly says: string
  readonly columns: readonly TableColumn[]
  /** Columns that identify a record. */
  readonly key: readonly string[]
  /** Tables that columns refer to, by their `id`. */
  readonly references: Readonly<Record<string, DataTableName>>
}

/** The tables of a data set, each after those that it refers to. The build replaces this module by its value. */
export const datasetTables: readonly DatasetTable[] = dataTableNames.map((name) => {
  const { fields, ...table } = dataTables[name]
  return { ...table, name, columns: describeColumns(name, objectOf(fields)) }
})
