import sql, { raw } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { sqlStateOf } from '../sql-state.ts'
import { postgresSearch } from './search.ts'

/** PostgreSQL's dialect. */
export const dialect: Dialect = {
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
  servers: sql`
    select count(*) as servers from pg_stat_activity
    where datname = current_database() and application_name = 'learnctl'`,
  copySettings: [],
  hasNul: undefined,
  // Class 22: data exception (PostgreSQL, Appendix A).
  isUnfitValue: (error) => sqlStateOf(error)?.startsWith('22') ?? false,
  search: postgresSearch,
}
