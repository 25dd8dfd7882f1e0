import { raw, type Sql } from 'sql-template-tag'
import type { ColumnType, Dialect } from '../database.ts'

/** What a column holds, and whether it holds something in each row. */
export interface Column {
  readonly type: ColumnType
  readonly isNullable?: boolean
  readonly default?: string | number
}

/** A table, whatever the engine. Columns are in their order. */
export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of the primary key. */
  readonly key?: string
  /** True for rows that SQLite stores in the order of the key, without a rowid. */
  readonly inKeyOrder?: boolean
  readonly unique?: readonly string[]
  readonly references?: readonly Reference[]
  /** Statements that make its indexes: the same text for every engine. */
  readonly indexes?: readonly string[]
}

/** Columns that hold the key of a row of another table; `cascade` if that row takes them along when it is deleted. */
export interface Reference {
  readonly from: string
  readonly to: string
  readonly cascade?: boolean
}

/** Columns that hold a value in each row. */
export const { text, integer, real, json } = {
  text: { type: 'text' },
  integer: { type: 'integer' },
  real: { type: 'real' },
  json: { type: 'json' },
} satisfies Record<ColumnType, Column>

/** A column that may hold no value. */
export function orNull(column: Column): Column {
  return { ...column, isNullable: true }
}

/** A column whose value is this one where an insert names none. */
export function withDefault(column: Column, value: string | number): Column {
  return { ...column, default: value }
}

/** The table of the trash for rows of another: the same columns, which refer to nothing. */
export function deleted(of: Table, rest: Pick<Table, 'key' | 'indexes'>): Table {
  const { name, columns, inKeyOrder = false } = of
  return { name: `deleted_${name}`, columns, inKeyOrder, ...rest }
}

/** Returns the statements that make a table with its indexes. */
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

/** Returns the statement that adds a column to a table that is there. */
export function addColumn(dialect: Dialect, table: string, name: string, column: Column): Sql {
  return raw(`alter table ${table} add column ${name} ${columnText(dialect, column)}`)
}

function columnText(dialect: Dialect, { type, isNullable, default: value }: Column): string {
  const shown = typeof value === 'string' ? `'${value}'` : value
  return `${dialect.columnTypes[type]}${isNullable ? '' : ' not null'}${value === undefined ? '' : ` default ${shown}`}`
}
