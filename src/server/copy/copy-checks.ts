import sql, { join, raw } from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import type { CopiedTable } from './copied-table.ts'

const maxCounted = 1000
const maxShown = 4
const knownTables = ['users', 'courses', 'lessons', 'enrollments', 'progress', 'grades', 'api_keys']

export async function requireNew(
  academy: Database,
  shown: string,
  tables: readonly CopiedTable[],
): Promise<void> {
  const names = tables.map(({ name }) => name)
  let content = await findContent(academy, knownTables)
  if (content.length === 0) content = await findContent(academy, names)
  const changed = await academy.one(sql`select id from users where password_hash is not null or version > 1`)
  if (content.length === 0 && changed) content.push('a first user who has been changed')
  if (content.length === 0) return
  const shownTables = content.slice(0, maxShown).join(', ')
  throw new CopyError(
    'not_empty',
    `${shown} is not empty: it holds ${shownTables}${content.length > maxShown ? ' and more' : ''}`,
    'Copy to a file that does not exist, or to an empty database',
  )
}

/** Rows of a new academy: its first user, its settings and the client of this program. */
const rowsOfNew: Readonly<Record<string, number>> = { users: 1, settings: 2, oauth_clients: 1 }

async function findContent(academy: Database, names: readonly string[]): Promise<string[]> {
  const content: string[] = []
  for (const name of names) {
    const rows = await rowsOf(academy, name)
    if (rows <= (rowsOfNew[name] ?? 0)) continue
    content.push(`${rows > maxCounted ? `${maxCounted}+` : rows} ${name.replaceAll('_', ' ')}`)
  }
  return content
}

export async function clearAcademy(academy: Database, tables: readonly CopiedTable[]): Promise<void> {
  for (const { name } of tables.toReversed()) await academy.run(sql`delete from ${raw(name)}`)
}

async function rowsOf(database: Database, name: string): Promise<number> {
  const row = await database.one(sql`
    select count(*) as found from (select 1 as one from ${raw(name)} limit ${maxCounted + 1}) as counted`)
  return Number(row?.['found'])
}

const maxRowsShown = 5

/** Throws CopyError that names the first rows if a text contains U+0000, which PostgreSQL cannot store. */
export async function requireFitTexts(academy: Database, tables: readonly CopiedTable[]): Promise<void> {
  const { hasNul } = academy.dialect
  if (!hasNul) return
  const found: string[] = []
  for (const { name, texts, key } of tables) {
    const conditions = texts.map((text) => hasNul(raw(text)))
    if (conditions.length === 0) continue
    const rows = await academy.cells(sql`
      select ${raw(key.join(', '))} from ${raw(name)} where ${join(conditions, ' or ')}
      order by ${raw(key.join(', '))} limit ${maxRowsShown}`)
    found.push(...rows.map((row) => `${name} ${row.join(', ')}`))
  }
  if (found.length === 0) return
  const shownRows = found.slice(0, maxRowsShown).join('; ')
  throw new CopyError(
    'text_refused',
    `PostgreSQL cannot hold the character U+0000, which is in: ${shownRows}${found.length > maxRowsShown ? '; …' : ''}`,
    'Remove it from these records, and copy again',
  )
}

type CopyTrouble = 'not_empty' | 'in_use' | 'copy_differs' | 'text_refused'

export class CopyError extends Error {
  override readonly name = 'CopyError'
  readonly code: CopyTrouble
  readonly hint: string | undefined

  constructor(code: CopyTrouble, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
