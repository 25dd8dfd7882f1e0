import * as z from 'zod'
import { type DataTableName, dataTableNames, dataTables } from '../contract/data-tables.ts'
import { fieldsOf, objectOf } from '../contract/fields.ts'
import { operations } from '../contract/index.ts'
import type { Operation } from '../contract/operation.ts'
import type { TableColumn } from './column.ts'
import { describeColumns } from './describe-columns.ts'

export interface Table {
  readonly name: string
  readonly operation: string
  readonly columns: readonly TableColumn[]
}

/** Lists of statements, and of rows of several tables. */
const otherLists = ['analytics.statements', 'analytics.rows', 'analytics.changes']

/** The build replaces this module by its value, so that no command loads zod for it. */
export const tables: readonly Table[] = operations.flatMap((operation) => {
  const record = itemIn(operation)
  if (record === null || otherLists.includes(operation.id)) return []
  const name = tableNameOf(operation.id)
  return [{ name, operation: operation.id, columns: describeColumns(name, record) }]
})

/** Names a table after its resource, if it is the resource's own list, or after its operation. */
function tableNameOf(id: string): string {
  const [resource = '', verb = ''] = id.split('.')
  if (verb === 'list') return resource
  if (id === 'analytics.grades') return 'item-grades'
  return resource === 'analytics' ? verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : id
}

/** Items of a page, or of a report with all of its rows. */
function itemIn({ list, report, method, response }: Operation): z.ZodType | null {
  const items =
    response && (list || (report && method === 'GET')) ? fieldsOf(response)?.['data']?.is : undefined
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : null
}

export interface DatasetTable {
  readonly name: DataTableName
  readonly says: string
  readonly columns: readonly TableColumn[]
  readonly key: readonly string[]
  /** Tables that columns refer to, by their `id`. */
  readonly references: Readonly<Record<string, DataTableName>>
}

/** The tables of a data set, each after those that it refers to. The build replaces this module by its value. */
export const datasetTables: readonly DatasetTable[] = dataTableNames.map((name) => {
  const { fields, ...table } = dataTables[name]
  return { ...table, name, columns: describeColumns(name, objectOf(fields)) }
})
