import sql, { empty } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { sqliteSearch } from './search.ts'

/** SQLite's dialect. */
export const sqliteDialect: Dialect = {
  columnTypes: { text: 'text', integer: 'integer', real: 'real', json: 'text' },
  tableOptions: (inKeyOrder) => (inKeyOrder ? 'strict, without rowid' : 'strict'),
  folded: (text) => sql`lower(${text})`,
  // `!` lifts SQLite's limit of 16 significant digits; 17 round-trip a double.
  exactText: (number) => sql`printf('%!.17g', ${number})`,
  hasManyWriters: false,
  lockedRows: () => empty,
  clock: undefined,
  servers: undefined,
  // Rows arrive in the order of their keys but change pages in all indexes: a larger cache and fewer checkpoints make a
  // large copy several times faster.
  copySettings: [sql`pragma cache_size = -200000`, sql`pragma wal_autocheckpoint = 20000`],
  // In JSON it is the escape \u0000, unless a further backslash escapes that backslash.
  hasNul: (text) => sql`(instr(${text}, char(0)) > 0 or instr(replace(${text}, '\\\\', ''), '\\u0000') > 0)`,
  // SQLite compares values of any types.
  isUnfitValue: () => false,
  search: sqliteSearch,
}
