import { raw, type Sql } from 'sql-template-tag'
import type { ColumnType, Dialect } from '../database.ts'

/** Type of a column, and whether it is not null. */
export interface Column {
  readonly type: ColumnType
  readonly isNullable?: boolean
  readonly default?: string | number
}

/** Definition of a table for every engine. Columns are in their stored order. */
export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of the primary key. */
  readonly key?: string
  /** True if SQLite stores rows in the order of the key (without rowid). */
  readonly inKeyOrder?: boolean
  readonly unique?: readonly string[]
  readonly references?: readonly Reference[]
  /** Statements that create its indexes, the same for every engine. */
  readonly indexes?: readonly string[]
}

/** A foreign key; `cascade` deletes the row with the row it refers to. */
export interface Reference {
  readonly from: string
  readonly to: string
  readonly cascade?: boolean
}

/** Columns that are not null. */
export const { text, integer, real, json } = {
  text: { type: 'text' },
  integer: { type: 'integer' },
  real: { type: 'real' },
  json: { type: 'json' },
} satisfies Record<ColumnType, Column>

/** Makes a column nullable. */
export function orNull(column: Column): Column {
  return { ...column, isNullable: true }
}

/** Gives a column a default value. */
export function withDefault(column: Column, value: string | number): Column {
  return { ...column, default: value }
}

/** Returns the trash table for rows of another: the same columns without foreign keys. */
export function deleted(of: Table, rest: Pick<Table, 'key' | 'indexes'>): Table {
  const { name, columns, inKeyOrder = false } = of
  return { name: `deleted_${name}`, columns, inKeyOrder, ...rest }
}

/** Returns the statements that create a table with its indexes. */
export function tableStatements(dialect: Dialect, table: Table): Sql[] {
  const { name, columns, key, inKeyOrder = false, unique = [], references = [], indexes = [] } = table
  const lines = [
    ...Object.entries(columns).map(([column, is]) => `${column} ${columnText(dialect, is)}`),
    ...(key === undefined ? [] : [`primary key (${key})`]),
    ...unique.map((unique) => `unique (${unique})`),
    ...references.map(
      ({ from, to, cascade }) =>
        `foreign key (${from}) references ${to}${cascade ? ' on delete cascade' : ''}`,
    ),
  ]
  const made = `create table ${name} (\n  ${lines.join(',\n  ')}\n) ${dialect.tableOptions(inKeyOrder)}`
  return [made, ...indexes].map((statement) => raw(statement))
}

/** Returns the statement that adds a column to an existing table. */
export function addColumn(dialect: Dialect, table: string, name: string, column: Column): Sql {
  return raw(`alter table ${table} add column ${name} ${columnText(dialect, column)}`)
}

function columnText(dialect: Dialect, { type, isNullable, default: value }: Column): string {
  const shown = typeof value === 'string' ? `'${value}'` : value
  return `${dialect.columnTypes[type]}${isNullable ? '' : ' not null'}${value === undefined ? '' : ` default ${shown}`}`
}
