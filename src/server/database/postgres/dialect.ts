import sql, { raw } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { postgresSearch } from './search.ts'

/** PostgreSQL's dialect. */
export const dialect: Dialect = {
  name: 'postgres',
  // Text sorts by bytes, as in SQLite, whatever the locale of the database, so cursors stay valid.
  columnTypes: { text: 'text collate "C"', integer: 'bigint', real: 'double precision', json: 'json' },
  tableOptions: () => '',
  // In the collation of the columns lower() folds ASCII only; ICU's is the same on every server.
  folded: (text) => sql`(lower((${text}) collate "und-x-icu") collate "C")`,
  // The shortest text that round-trips (PostgreSQL, Floating-Point Types).
  exactText: (number) => sql`cast(${number} as text)`,
  hasManyWriters: true,
  lockedRows: (alias) => raw(`for update of ${alias} skip locked`),
  clock: sql`select extract(epoch from clock_timestamp()) as seconds`,
  search: postgresSearch,
}
