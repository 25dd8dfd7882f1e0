import { raw, type Sql } from 'sql-template-tag'

/** Text into which statements look with `->>`; in SQLite that is plain text. */
const documents = ['profile', 'attributes']

/**
 * A statement of the one schema as PostgreSQL has it: whole numbers of 64 and reals of 53 bits as in SQLite, and text in
 * the order of its bytes, whatever the locale of the database, so that both sort alike and a cursor stays valid.
 */
export function ddl(statement: Sql): Sql {
  if (!/^\s*(create|alter) table\b/.test(statement.sql)) return statement
  const text = statement.sql
    .replace(/\) strict(, without rowid)?\s*$/, ')')
    .replace(
      /\b(\w+) (text|integer|real)\b/g,
      (_, column: string, type: string) => `${column} ${typeOf(column, type)}`,
    )
  return raw(text)
}

function typeOf(column: string, type: string): string {
  if (type === 'integer') return 'bigint'
  if (type === 'real') return 'double precision'
  return documents.includes(column) ? 'json' : 'text collate "C"'
}
