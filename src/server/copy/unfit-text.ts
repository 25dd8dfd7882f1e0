import sql, { join, raw } from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { CopyError } from './copy-error.ts'
import type { CopiedTable } from './tables.ts'

const most = 5

/**
 * Throws CopyError where a text of an academy in SQLite has the character U+0000, which PostgreSQL has not: it names the
 * first rows.
 */
export async function requireFitTexts(academy: Database, tables: readonly CopiedTable[]): Promise<void> {
  const found: string[] = []
  for (const { name, texts, key } of tables) {
    // In JSON it is escaped, as the last of six characters or of none: a backslash before them escapes the first.
    const conditions = texts.map(
      (text) =>
        sql`instr(${raw(text)}, char(0)) > 0 or instr(replace(${raw(text)}, '\\\\', ''), '\\u0000') > 0`,
    )
    if (conditions.length === 0) continue
    const rows = await academy.cells(sql`
      select ${raw(key.join(', '))} from ${raw(name)} where ${join(conditions, ' or ')}
      order by ${raw(key.join(', '))} limit ${most}`)
    found.push(...rows.map((row) => `${name} ${row.join(', ')}`))
  }
  if (found.length === 0) return
  const told = found.slice(0, most).join('; ')
  throw new CopyError(
    'text_refused',
    `PostgreSQL cannot hold the character U+0000, which is in: ${told}${found.length > most ? '; …' : ''}`,
    'Remove it from these records, and copy again',
  )
}
