import sql, { raw } from 'sql-template-tag'
import type { Database } from '../database/database.ts'
import { CopyError } from './copy-error.ts'
import type { CopiedTable } from './tables.ts'

/** More rows than this are not counted. */
const mostCounted = 1000
const mostTold = 4
/** What people know of; anything else is told where there is none of these. */
const known = ['users', 'courses', 'lessons', 'enrollments', 'progress', 'grades', 'api_keys']

/** Throws CopyError for an academy that holds anything but what a new one holds. */
export async function requireNew(
  academy: Database,
  shown: string,
  model: Database,
  tables: readonly CopiedTable[],
): Promise<void> {
  const names = tables.map(({ name }) => name)
  let held = await heldIn(academy, model, known)
  if (held.length === 0) held = await heldIn(academy, model, names)
  const changed = await academy.one(sql`select id from users where password_hash is not null or version > 1`)
  if (held.length === 0 && changed) held.push('a first user who has been changed')
  if (held.length === 0) return
  const told = held.slice(0, mostTold).join(', ')
  throw new CopyError(
    'not_empty',
    `${shown} is not empty: it holds ${told}${held.length > mostTold ? ' and more' : ''}`,
    'Copy to a file that does not exist, or to an empty database',
  )
}

/** In which of these tables there are more rows than in a new academy. */
async function heldIn(academy: Database, model: Database, names: readonly string[]): Promise<string[]> {
  const held: string[] = []
  for (const name of names) {
    const rows = await rowsOf(academy, name)
    if (rows <= (await rowsOf(model, name))) continue
    held.push(`${rows > mostCounted ? `${mostCounted}+` : rows} ${name.replaceAll('_', ' ')}`)
  }
  return held
}

/** Takes away what a new academy holds. */
export async function emptyAcademy(academy: Database, tables: readonly CopiedTable[]): Promise<void> {
  for (const { name } of tables.toReversed()) await academy.run(sql`delete from ${raw(name)}`)
}

async function rowsOf(database: Database, name: string): Promise<number> {
  const row = await database.one(sql`
    select count(*) as found from (select 1 as one from ${raw(name)} limit ${mostCounted + 1}) as counted`)
  return Number(row?.['found'])
}
