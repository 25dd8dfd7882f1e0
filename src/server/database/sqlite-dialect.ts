import sql from 'sql-template-tag'
import type { Dialect } from './database.ts'

/** What others say otherwise. */
export const sqliteDialect: Dialect = {
  name: 'sqlite',
  ddl: (statement) => statement,
  folded: (text) => sql`lower(${text})`,
  // Every digit, of which SQLite writes fewer unless it is told to.
  exactText: (number) => sql`printf('%!.17g', ${number})`,
}
