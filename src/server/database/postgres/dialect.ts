import sql, { raw } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { postgresSearch } from './search.ts'

/** What is said otherwise in PostgreSQL than in SQLite. */
export const dialect: Dialect = {
  name: 'postgres',
  // Text sorts by its bytes, as in SQLite, whatever the locale of the database: a cursor stays valid.
  columnTypes: { text: 'text collate "C"', integer: 'bigint', real: 'double precision', json: 'json' },
  tableOptions: () => '',
  // In the collation of the columns only ASCII has a lower case; that of ICU is the same on every server.
  folded: (text) => sql`(lower((${text}) collate "und-x-icu") collate "C")`,
  // As many digits as it takes (PostgreSQL, Floating-Point Types).
  exactText: (number) => sql`cast(${number} as text)`,
  hasManyWriters: true,
  lockedRows: (alias) => raw(`for update of ${alias} skip locked`),
  clock: sql`select extract(epoch from clock_timestamp()) as seconds`,
  search: postgresSearch,
}
