import sql from 'sql-template-tag'
import type { Dialect } from '../database.ts'

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
}

const mostTexts = 2000
/** A cross join with a condition, of a table or of a statement with parentheses up to two deep. */
const joinedOn = /\bcross join ((?:\w+|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)) \w+) on\b/g

/**
 * Statements as PostgreSQL takes them. A cross join keeps the order of the tables in SQLite, and may have a condition
 * there; PostgreSQL finds the order by itself.
 */
export function statementTexts(): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    if (!text.includes('cross join')) return text
    const old = known.get(text)
    if (old !== undefined) return old
    const made = text.replace(joinedOn, 'join $1 on')
    if (known.size >= mostTexts) known.clear()
    known.set(text, made)
    return made
  }
}
