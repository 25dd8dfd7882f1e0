import { setImmediate } from 'node:timers/promises'
import sql, { raw } from 'sql-template-tag'
import { linkAll } from '../changes/audit-entry.ts'
import type { Cell, Database, Store } from '../database/database.ts'
import { type CopiedTable, copiedTables, insertRows, readTable, timesOf } from './copied-table.ts'
import { CopyError, clearAcademy, requireFitTexts, requireNew } from './copy-checks.ts'

interface CopyEnd {
  readonly database: Store
  readonly shown: string
}

export interface CopyProgress {
  readonly phase: 'copy' | 'compare'
  readonly table: string
  readonly rows: number
  readonly total: number
}

export interface CopyOptions {
  readonly from: CopyEnd
  readonly to: CopyEnd
  /** Between two batches. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: CopyProgress) => Promise<void>
}

export interface CopySummary {
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly rows: number
}

/**
 * Copies an academy from a snapshot to a new one and compares both, in one transaction: after an interruption the target
 * is what it was. Throws CopyError, and errors of the databases.
 */
export async function copyAcademy({ from, to, ...options }: CopyOptions): Promise<CopySummary> {
  const summary = await from.database.read(async (view) => {
    if (!to.database.dialect.hasNul) await requireFitTexts(view, copiedTables)
    return to.database.write(async (transaction) => {
      await requireNew(transaction, to.shown, copiedTables)
      await clearAcademy(transaction, copiedTables)
      return copyTables(view, { database: transaction, shown: to.shown }, options)
    })
  })
  // Link waiting audit entries: a target with one writer would link new ones before them.
  await linkAll(to.database)
  return summary
}

interface Copy {
  readonly database: Database
  /** Its name in messages. */
  readonly shown: string
}

async function copyTables(
  view: Database,
  copy: Copy,
  { signal, onProgress }: Pick<CopyOptions, 'signal' | 'onProgress'>,
): Promise<CopySummary> {
  const tables: { name: string; rows: number }[] = []
  for (const { name } of copiedTables) tables.push({ name, rows: await countRows(view, name) })
  for (const phase of ['copy', 'compare'] as const) {
    for (const [index, table] of copiedTables.entries()) {
      const onRows = async (rows: number) => {
        await onProgress({ phase, table: table.name, rows, total: tables[index]?.rows ?? 0 })
        // Synchronous databases would otherwise block signals such as Ctrl-C.
        await setImmediate()
        signal.throwIfAborted()
      }
      await (phase === 'copy' ? copyTable : compareTable)(table, view, copy, onRows)
    }
  }
  return { tables, rows: tables.reduce((sum, { rows }) => sum + rows, 0) }
}

type OnRows = (rows: number) => Promise<void>

async function copyTable(
  table: CopiedTable,
  source: Database,
  { database }: Copy,
  onRows: OnRows,
): Promise<void> {
  const reader = readTable(source, table)
  let copied = 0
  for (let after: readonly Cell[] | null = null; ; ) {
    const { rows, next } = await reader.after(after)
    await insertRows(database, table, rows)
    copied += rows.reduce((sum, row) => sum + timesOf(table, row), 0)
    await onRows(copied)
    if (!next) return
    after = next
  }
}

async function countRows(database: Database, name: string): Promise<number> {
  return Number((await database.one(sql`select count(*) as found from ${raw(name)}`))?.['found'])
}

/**
 * Compares a table with its copy, cell by cell, some hundred rows at a time. Throws CopyError that names the
 * first different row.
 */
async function compareTable(table: CopiedTable, source: Database, copy: Copy, onRows: OnRows): Promise<void> {
  const [one, other] = [readTable(source, table), readTable(copy.database, table)]
  let compared = 0
  for (let key: readonly Cell[] | null = null; ; ) {
    const mine = await one.after(key)
    const theirs = await other.after(key)
    for (let index = 0; index < Math.max(mine.rows.length, theirs.rows.length); index += 1) {
      const difference = differenceOf(table, mine.rows[index], theirs.rows[index])
      if (difference !== undefined) throw differenceError(table, copy.shown, difference)
      compared += timesOf(table, mine.rows[index] ?? [])
    }
    await onRows(compared)
    if (!mine.next) return
    key = mine.next
  }
}

function differenceOf(
  table: CopiedTable,
  row: readonly Cell[] | undefined,
  copied: readonly Cell[] | undefined,
): string | undefined {
  const some = row ?? copied
  if (!some) return undefined
  const id = table.key.map((name) => some[table.columns.indexOf(name)]).join(', ')
  if (!copied) return `${id} is missing`
  if (!row) return `${id} is not in the original`
  const at = some.findIndex((_, index) => row[index] !== copied[index])
  if (at === -1) return undefined
  return table.key.every((name) => table.columns.indexOf(name) !== at)
    ? `${id} has another ${table.columns[at] ?? 'count'}`
    : `${id} is missing, or has another key`
}

function differenceError({ name }: CopiedTable, shown: string, difference: string): CopyError {
  return new CopyError(
    'copy_differs',
    `${shown} differs from the original: in ${name}, ${difference}`,
    'The copy was undone; copy again, and report it if it happens again',
  )
}
