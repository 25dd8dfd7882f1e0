import { setImmediate } from 'node:timers/promises'
import type { Cell, Database } from '../database/database.ts'
import { readTable, timesOf } from './batches.ts'
import { CopyError } from './copy-error.ts'
import type { CopiedTable } from './tables.ts'

/**
 * Compares a table with its copy, cell by cell, some hundred rows at a time. Throws CopyError that names the
 * first different row.
 *
 * @param shown name of the copy in messages
 * @param onRows called with the number of compared rows
 */
export async function compareTable(
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
      if (difference !== undefined) throw differs(table, copy.shown, difference)
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

function differs({ name }: CopiedTable, shown: string, difference: string): CopyError {
  return new CopyError(
    'copy_differs',
    `${shown} differs from the original: in ${name}, ${difference}`,
    'The original was changed during the copy, or the copy was: remove the copy, and copy again',
  )
}
