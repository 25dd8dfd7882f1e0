import type { Dataset } from '../../dataset/dataset.ts'
import type { ImportFile } from './file.ts'
import type { Reading, Rows } from './rows.ts'

/** Reads the rows of a file in any format. Throws a UsageError on a malformed file. */
export async function readRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  if (file.format === 'csv' || file.format === 'tsv') {
    return (await import('./csv.ts')).csvRows(file, dataset, reading)
  }
  return (await import('./json.ts')).jsonRows(file, dataset, reading)
}
