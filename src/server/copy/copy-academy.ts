import { setImmediate } from 'node:timers/promises'
import sql, { raw } from 'sql-template-tag'
import { copySetting } from '../academy/open-academy.ts'
import { linkAll } from '../changes/audit-chain.ts'
import type { Cell, Database, Store } from '../database/database.ts'
import { type CopiedTable, copiedTables, insertRows, readTable, timesOf } from './copied-table.ts'
import { CopyError, clearAcademy, requireFitTexts, requireNew } from './copy-checks.ts'

/** `shown` is its name in messages. */
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
  /** Changes after the start are not copied. */
  readonly from: CopyEnd
  readonly to: CopyEnd
  /** A new academy in SQLite, as the model of initial content. */
  readonly model: Store
  /** Between two batches. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: CopyProgress) => Promise<void>
}

export interface CopySummary {
  /** An interrupted copy was continued. */
  readonly resumed: boolean
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly rows: number
}

/**
 * Copies an academy from a snapshot to a new one and compares both. Keeps the progress of each batch, so that
 * the next call continues after an interruption. Throws CopyError, and errors of the databases.
 */
export async function copyAcademy(options: CopyOptions): Promise<CopySummary> {
  return options.from.database.read(async (view) => copyFrom(view, copiedTables, options))
}

async function copyFrom(
  view: Database,
  tables: readonly CopiedTable[],
  options: CopyOptions,
): Promise<CopySummary> {
  const { to, signal, onProgress } = options
  const old = await readMark(to.database)
  let mark = old ? await requireSameCopy(view, old, to.shown) : await begin(view, tables, options)
  const first = mark.table === null ? tables.length : tables.findIndex(({ name }) => name === mark.table)
  const totals = new Map<string, number>()
  for (const { name } of tables) totals.set(name, await countRows(view, name))
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
  // Link waiting audit entries: a target with one writer would link new ones before them.
  await linkAll(to.database)
  const counted = [...totals].map(([name, rows]) => ({ name, rows }))
  return {
    resumed: old !== undefined,
    tables: counted,
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
  }
}

/** In one transaction. */
async function begin(
  view: Database,
  tables: readonly CopiedTable[],
  { from, to, model }: CopyOptions,
): Promise<CopyMark> {
  if (!to.database.dialect.hasNul) await requireFitTexts(view, tables)
  const firstUser = await firstUserOf(view)
  const mark = { from: from.shown, firstUser, table: tables[0]?.name ?? null, after: null, rows: 0 }
  await to.database.write(async (transaction) => {
    await requireNew(transaction, to.shown, model, tables)
    await clearAcademy(transaction, tables)
    await setMark(transaction, mark)
  })
  return mark
}

async function requireSameCopy(view: Database, mark: CopyMark, shown: string): Promise<CopyMark> {
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

async function countRows(database: Database, name: string): Promise<number> {
  return Number((await database.one(sql`select count(*) as found from ${raw(name)}`))?.['found'])
}

/** Stored in the copy and updated in the transaction of each batch. */
interface CopyMark {
  /** Name of the source in messages. */
  readonly from: string
  /** Id of the source's first user, which identifies it. */
  readonly firstUser: string
  /** Current or next; null at the end. */
  readonly table: string | null
  /** Key of the last copied row; null before the first one. */
  readonly after: readonly Cell[] | null
  readonly rows: number
}

/** Undefined for an academy that is no unfinished copy. */
async function readMark(database: Database): Promise<CopyMark | undefined> {
  const row = await database.one(sql`select value from settings where name = ${copySetting}`)
  // The JSON was written by `setMark`.
  return row && (JSON.parse(String(row['value'])) as CopyMark)
}

/** Throws CopyError if another copy to the same place has updated it. */
async function moveMark(database: Database, before: CopyMark, after: CopyMark): Promise<void> {
  const touched = await database.run(sql`
    update settings set value = ${JSON.stringify(after)}
    where name = ${copySetting} and value = ${JSON.stringify(before)}`)
  if (touched !== 1) throw copiedElsewhere()
}

async function setMark(database: Database, mark: CopyMark): Promise<void> {
  await database.run(sql`insert into settings (name, value) values (${copySetting}, ${JSON.stringify(mark)})`)
}

/** Throws as moveMark does. */
async function removeMark(database: Database, mark: CopyMark): Promise<void> {
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

/**
 * Compares a table with its copy, cell by cell, some hundred rows at a time. Throws CopyError that names the
 * first different row.
 *
 * @param shown name of the copy in messages
 * @param onRows called with the number of compared rows
 */
async function compareTable(
  table: CopiedTable,
  source: Database,
  copy: { readonly database: Database; readonly shown: string },
  onRows: (rows: number) => Promise<void>,
): Promise<void> {
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
    // Synchronous databases would otherwise block signals such as Ctrl-C.
    await setImmediate()
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
    'The original was changed during the copy, or the copy was: remove the copy, and copy again',
  )
}
