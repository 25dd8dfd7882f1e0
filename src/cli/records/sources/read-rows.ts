import type { Dataset } from '../../dataset/dataset.ts'
import { withDays } from '../../dataset/days.ts'
import type { ImportFile } from './file.ts'
import type { Reading, Row, Rows } from './rows.ts'

/** Throws a UsageError on a malformed file. */
export async function readRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  const read = isCsv ? (await import('./csv.ts')).csvRows : (await import('./json.ts')).jsonRows
  const found = await read(file, dataset, reading)
  // Times of columns are read with them; a column of JSON may hold others.
  const hasJson = dataset.columns.some(({ kind }) => kind === 'json')
  return hasJson ? { ...found, rows: inTimes(found.rows, dataset) } : found
}

async function* inTimes(
  rows: AsyncIterable<readonly Row[]>,
  { schema }: Dataset,
): AsyncGenerator<readonly Row[]> {
  for await (const some of rows)
    yield some.map((row) => ({ ...row, record: withDays(schema, row.record) as Row['record'] }))
}
