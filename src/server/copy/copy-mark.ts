import sql from 'sql-template-tag'
import type { Cell, Database } from '../database/database.ts'
import { copySetting } from '../database/unfinished-copy.ts'
import { CopyError } from './copy-error.ts'

/** How far a copy has come; it stands in the copy itself, and changes in the transaction of each batch. */
export interface CopyMark {
  /** What messages call the academy that is copied. */
  readonly from: string
  /** Its first user: no other academy has the same. */
  readonly firstUser: string
  /** The table that is next, or in the middle of which it stands; null where all are there. */
  readonly table: string | null
  /** The key of its last row; null before the first one. */
  readonly after: readonly Cell[] | null
  /** Rows of this table so far. */
  readonly rows: number
}

/** The mark of an unfinished copy; undefined in any other academy. */
export async function copyMark(database: Database): Promise<CopyMark | undefined> {
  const row = await database.one(sql`select value from settings where name = ${copySetting}`)
  // The mark is JSON that `setMark` wrote.
  return row && (JSON.parse(String(row['value'])) as CopyMark)
}

/** Throws CopyError where another copy to the same place went on meanwhile. */
export async function moveMark(database: Database, before: CopyMark, after: CopyMark): Promise<void> {
  const touched = await database.run(sql`
    update settings set value = ${JSON.stringify(after)}
    where name = ${copySetting} and value = ${JSON.stringify(before)}`)
  if (touched !== 1) throw copiedElsewhere()
}

/** Marks an academy as an unfinished copy. */
export async function setMark(database: Database, mark: CopyMark): Promise<void> {
  await database.run(sql`insert into settings (name, value) values (${copySetting}, ${JSON.stringify(mark)})`)
}

/** Makes the copy an academy like any other. Throws as moveMark does. */
export async function removeMark(database: Database, mark: CopyMark): Promise<void> {
  const touched = await database.run(
    sql`delete from settings where name = ${copySetting} and value = ${JSON.stringify(mark)}`,
  )
  if (touched !== 1) throw copiedElsewhere()
}

function copiedElsewhere(): CopyError {
  return new CopyError(
    'copied_elsewhere',
    'Another process is copying to the same academy',
    'Wait until it is finished, or stop it',
  )
}
