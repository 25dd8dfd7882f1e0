import sql, { empty } from 'sql-template-tag'
import type { Dialect } from '../database.ts'
import { sqliteSearch } from './search.ts'

/** What other engines say otherwise. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  columnTypes: { text: 'text', integer: 'integer', real: 'real', json: 'text' },
  tableOptions: (inKeyOrder) => (inKeyOrder ? 'strict, without rowid' : 'strict'),
  folded: (text) => sql`lower(${text})`,
  // Every digit, of which SQLite writes fewer unless it is told to.
  exactText: (number) => sql`printf('%!.17g', ${number})`,
  hasManyWriters: false,
  lockedRows: () => empty,
  clock: undefined,
  search: sqliteSearch,
}
