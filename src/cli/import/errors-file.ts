import { basename, dirname, extname, join } from 'node:path'
import { csvRecord } from '../../codec/csv.ts'
import { addedColumns, type ColumnMap } from '../records/sources/header.ts'
import type { Rows } from '../records/sources/rows.ts'
import { openTarget } from '../terminal/target-file.ts'
import type { Rejection } from './outcome.ts'

/** Returns the default errors file of an imported file: `users.errors.csv` for `users.csv`. */
export function errorsFileOf(name: string): string {
  if (name === 'standard input') return 'errors.csv'
  const plain = name.replace(/\.gz$/i, '')
  const stem = basename(plain, extname(plain))
  // An errors file that is imported must not be overwritten by its own rejected rows.
  const [, before = stem, number] = /^(.*)\.errors(?:-(\d+))?$/.exec(stem) ?? []
  const suffix = before === stem ? '' : `-${Number(number ?? 1) + 1}`
  return join(dirname(plain), `${before}.errors${suffix}.csv`)
}

/**
 * Writes the rejected rows of a file as CSV: their own cells, then line, code and message. The file can be imported
 * as it is: mapped columns have the names of fields, and numbers and days have the API's form.
 */
export async function writeErrors(
  cwd: string,
  { errorsFile, map }: { readonly errorsFile: string; readonly map: ColumnMap },
  { header, rows }: Rows,
  rejections: readonly Rejection[],
): Promise<void> {
  const reasons = new Map(rejections.map((rejection) => [rejection.line, rejection]))
  const own = header.flatMap((name, index) => (name === null || isAdded(name) ? [] : [{ name, index }]))
  // The import of this file may repeat --map: its names must not hit the added columns.
  const added = addedColumns.map((name) => (map.has(name) ? `import ${name}` : name))
  const target = await openTarget(cwd, errorsFile, { force: true, mode: 0o600 })
  try {
    await target.write(Buffer.from(csvRecord([...own.map(({ name }) => name), ...added], true)))
    for await (const some of rows) {
      for (const { line, cells } of some) {
        const reason = reasons.get(line)
        if (!reason) continue
        const kept = own.map(({ index }) => cells[index] ?? '')
        await target.write(Buffer.from(csvRecord([...kept, line, reason.code, reason.message], true)))
      }
    }
    await target.finish()
  } catch (error) {
    await target.discard()
    throw error
  }
}

/** Returns the index of the cell with the rejection code in a file of rejected rows; -1 in any other file. */
export function codeCellIn(header: readonly (string | null)[], map: ColumnMap): number {
  const own = header.indexOf('import code')
  return own < 0 && typeof map.get('code') !== 'string' ? header.indexOf('code') : own
}

function isAdded(name: string): boolean {
  return addedColumns.some((added) => name === added || name === `import ${added}`)
}
