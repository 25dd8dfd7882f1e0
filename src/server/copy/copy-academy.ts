import sql, { raw } from 'sql-template-tag'
import { linkAll } from '../audit/link.ts'
import type { Database, Store } from '../database/database.ts'
import { insertRows, readTable, timesOf } from './batches.ts'
import { compareTable } from './compare.ts'
import { CopyError } from './copy-error.ts'
import { type CopyMark, copyMark, moveMark, removeMark, setMark } from './copy-mark.ts'
import { emptyAcademy, requireNew } from './new-academy.ts'
import { type CopiedTable, copiedTables } from './tables.ts'
import { requireFitTexts } from './unfit-text.ts'

/** An academy at one end of a copy, and what messages call it. */
export interface CopyEnd {
  readonly database: Store
  readonly shown: string
}

/** How far a copy has come in one table. */
export interface CopyProgress {
  readonly phase: 'copy' | 'compare'
  readonly table: string
  readonly rows: number
  readonly total: number
}

/** What is copied, where to, and who wants to know. */
export interface CopyOptions {
  /** Where nobody writes meanwhile: what is written after the beginning is not copied. */
  readonly from: CopyEnd
  readonly to: CopyEnd
  /** A new academy in SQLite: which tables there are, and what a new one holds. */
  readonly model: Store
  /** Ends the copy between two batches. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: CopyProgress) => Promise<void>
}

/** What was copied. */
export interface CopySummary {
  /** True where an unfinished copy was continued. */
  readonly resumed: boolean
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly rows: number
}

/**
 * Copies an academy to a new one, from one unchanging view, and compares both at the end. What was copied is kept
 * whatever happens: the next call continues behind the last batch. Throws CopyError, and what the databases throw.
 */
export async function copyAcademy(options: CopyOptions): Promise<CopySummary> {
  const tables = await copiedTables(options.model)
  return options.from.database.read(async (view) => copyFrom(view, tables, options))
}

async function copyFrom(
  view: Database,
  tables: readonly CopiedTable[],
  options: CopyOptions,
): Promise<CopySummary> {
  const { to, signal, onProgress } = options
  const old = await copyMark(to.database)
  let mark = old ? await sameCopy(view, old, to.shown) : await begin(view, tables, options)
  const first = mark.table === null ? tables.length : tables.findIndex(({ name }) => name === mark.table)
  const totals = new Map<string, number>()
  for (const { name } of tables) totals.set(name, await count(view, name))
  for (const [index, table] of tables.entries()) {
    if (index < first) continue
    const reader = readTable(view, table)
    const total = totals.get(table.name) ?? 0
    for (let after = mark.after; ; ) {
      signal.throwIfAborted()
      const { rows, next } = await reader.after(after)
      const copied = mark.rows + rows.reduce((sum, row) => sum + timesOf(table, row), 0)
      const before = mark
      const behind = { table: tables[index + 1]?.name ?? null, after: null, rows: 0 }
      mark = { ...mark, ...(next ? { after: next, rows: copied } : behind) }
      const moved = mark
      await to.database.write(async (transaction) => {
        await moveMark(transaction, before, moved)
        await insertRows(transaction, table, rows)
      })
      await onProgress({ phase: 'copy', table: table.name, rows: copied, total })
      if (!next) break
      after = next
    }
  }
  for (const table of tables) {
    await compareTable(table, view, to, async (rows) => {
      signal.throwIfAborted()
      await onProgress({ phase: 'compare', table: table.name, rows, total: totals.get(table.name) ?? 0 })
    })
  }
  await to.database.write((transaction) => removeMark(transaction, mark))
  // From an engine with many writers there may be some that wait; on one with one writer, new entries would be linked before them.
  await linkAll(to.database)
  const counted = [...totals].map(([name, rows]) => ({ name, rows }))
  return {
    resumed: old !== undefined,
    tables: counted,
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
  }
}

/** Marks the new academy as an unfinished copy, and takes away what it holds, in one transaction. */
async function begin(
  view: Database,
  tables: readonly CopiedTable[],
  { from, to, model }: CopyOptions,
): Promise<CopyMark> {
  const isToPostgres = to.database.dialect.name === 'postgres'
  if (isToPostgres && view.dialect.name === 'sqlite') await requireFitTexts(view, tables)
  const firstUser = await firstUserOf(view)
  const mark = { from: from.shown, firstUser, table: tables[0]?.name ?? null, after: null, rows: 0 }
  await to.database.write(async (transaction) => {
    await requireNew(transaction, to.shown, model, tables)
    await emptyAcademy(transaction, tables)
    await setMark(transaction, mark)
  })
  return mark
}

async function sameCopy(view: Database, mark: CopyMark, shown: string): Promise<CopyMark> {
  if (mark.firstUser === (await firstUserOf(view))) return mark
  throw new CopyError(
    'other_copy',
    `${shown} is an unfinished copy of another academy, ${mark.from}`,
    'Continue that copy, or remove it',
  )
}

async function firstUserOf(academy: Database): Promise<string> {
  const row = await academy.one(sql`select value from settings where name = 'first_user'`)
  return String(row?.['value'])
}

async function count(database: Database, name: string): Promise<number> {
  return Number((await database.one(sql`select count(*) as found from ${raw(name)}`))?.['found'])
}
