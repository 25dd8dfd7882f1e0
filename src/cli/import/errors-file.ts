import { basename, dirname, extname, join } from 'node:path'
import { csvRecord } from '../../codec/csv.ts'
import { openTarget } from '../terminal/target-file.ts'
import { addedColumns, type ColumnMap } from './header.ts'
import type { Rejection } from './outcome.ts'
import type { Rows } from './row.ts'

/** Where rejected rows go unless told otherwise: `users.errors.csv` beside the directory that one works in. */
export function errorsFileOf(name: string): string {
  if (name === 'standard input') return 'errors.csv'
  const plain = name.replace(/\.gz$/i, '')
  const stem = basename(plain, extname(plain))
  // What came back once does not overwrite itself.
  const [, before = stem, number] = /^(.*)\.errors(?:-(\d+))?$/.exec(stem) ?? []
  const suffix = before === stem ? '' : `-${Number(number ?? 1) + 1}`
  return join(dirname(plain), `${before}.errors${suffix}.csv`)
}

/**
 * Writes the rejected rows of a file as CSV: their own cells, then line, code and message. Cells are as they stand in the
 * file, so that it can be imported again as it is.
 */
export async function writeErrors(
  cwd: string,
  { errorsFile, map }: { readonly errorsFile: string; readonly map: ColumnMap },
  { header, rows }: Rows,
  rejections: readonly Rejection[],
): Promise<void> {
  const reasons = new Map(rejections.map((rejection) => [rejection.line, rejection]))
  // A column of the file that only has such a name is its own.
  const isOwn = (name: string) => typeof map.get(name) === 'string' || !isAdded(name)
  const own = header.map((name, index) => ({ name, index })).filter(({ name }) => isOwn(name))
  const taken = new Set(own.map(({ name }) => name))
  const added = addedColumns.map((name) => (taken.has(name) ? `import ${name}` : name))
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

function isAdded(name: string): boolean {
  return addedColumns.some((added) => name === added || name === `import ${added}`)
}
