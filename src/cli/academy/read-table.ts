import { dirname, isAbsolute, join, normalize, sep } from 'node:path'
import { textOf } from '../import/check-file.ts'
import { problemsOf } from '../import/check-row.ts'
import { openImportFile } from '../records/sources/file.ts'
import { readRows } from '../records/sources/read-rows.ts'
import type { Row } from '../records/sources/rows.ts'
import type { Io } from '../terminal/io.ts'
import type { Place } from './entry.ts'
import type { PartDataset } from './load-part.ts'
import type { Problems } from './problems.ts'

/**
 * Reads the rows of a table that a file names: CSV, JSON or JSONL, as imports do. The table must be in or below the
 * folder of the file, so that an academy file cannot expose other files.
 *
 * @param named where the name is written
 */
export async function* readTable(
  io: Io,
  dataset: PartDataset,
  file: string,
  named: Place,
  problems: Problems,
): AsyncGenerator<Row & { readonly place: Place }> {
  const inside = normalize(file)
  if (isAbsolute(file) || inside === '..' || inside.startsWith(`..${sep}`)) {
    problems.add(
      named,
      `${dataset.name}.file must be in the folder of ${named.file} or below, not ${JSON.stringify(file)}`,
    )
    return
  }
  const path = named.file === 'Standard input' ? inside : join(dirname(named.file), inside)
  const table = await openImportFile(io, path, { encodingHint: 'Save it as UTF-8' })
  const { rows } = await readRows(table, dataset, {
    map: new Map(),
    delimiter: undefined,
    clearEmpty: false,
    // No durations: a declaration must mean the same every day.
    now: Number.NaN,
    dateFormat: null,
  })
  for await (const some of rows) {
    for (const row of some) {
      const place = { file: path, line: row.line }
      const found = problemsOf(dataset, row, { partial: false, local: true })
      for (const problem of found) problems.add(place, textOf(problem))
      if (found.length === 0) yield { ...row, place }
    }
  }
}
