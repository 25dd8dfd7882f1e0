import sql, { empty } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { sqliteSearch } from './search.ts'

/** SQLite's dialect. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  columnTypes: { text: 'text', integer: 'integer', real: 'real', json: 'text' },
  tableOptions: (inKeyOrder) => (inKeyOrder ? 'strict, without rowid' : 'strict'),
  folded: (text) => sql`lower(${text})`,
  // `!` lifts SQLite's limit of 16 significant digits; 17 round-trip a double.
  exactText: (number) => sql`printf('%!.17g', ${number})`,
  hasManyWriters: false,
  lockedRows: () => empty,
  clock: undefined,
  search: sqliteSearch,
}
