import { raw, type Sql } from 'sql-template-tag'
import type { ColumnType, Dialect } from '../database.ts'

export interface Column {
  readonly type: ColumnType
  readonly isNullable?: boolean
  readonly default?: string | number
}

/** Columns are in their stored order. */
export interface Table {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  readonly key?: string
  /** SQLite stores rows in the order of the key (without rowid). */
  readonly inKeyOrder?: boolean
  readonly unique?: readonly string[]
  readonly references?: readonly Reference[]
  readonly indexes?: readonly string[]
}

/** `cascade` deletes the row with the row it refers to. */
export interface Reference {
  readonly from: string
  readonly to: string
  readonly cascade?: boolean
}

export const { text, integer, real, json } = {
  text: { type: 'text' },
  integer: { type: 'integer' },
  real: { type: 'real' },
  json: { type: 'json' },
} satisfies Record<ColumnType, Column>

export function orNull(column: Column): Column {
  return { ...column, isNullable: true }
}

export function withDefault(column: Column, value: string | number): Column {
  return { ...column, default: value }
}

/** The same columns without foreign keys. */
export function deleted(of: Table, rest: Pick<Table, 'key' | 'indexes'>): Table {
  const { name, columns, inKeyOrder = false } = of
  return { name: `deleted_${name}`, columns, inKeyOrder, ...rest }
}

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

export function addColumn(dialect: Dialect, table: string, name: string, column: Column): Sql {
  return raw(`alter table ${table} add column ${name} ${columnText(dialect, column)}`)
}

function columnText(dialect: Dialect, { type, isNullable, default: value }: Column): string {
  const shown = typeof value === 'string' ? `'${value}'` : value
  return `${dialect.columnTypes[type]}${isNullable ? '' : ' not null'}${value === undefined ? '' : ` default ${shown}`}`
}
