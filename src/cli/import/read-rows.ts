import type { Dataset } from '../dataset/dataset.ts'
import type { ImportFile } from './import-file.ts'
import type { Reading, Rows } from './row.ts'

/** The rows of a file in whatever form it is. Throws a UsageError on a file that cannot be understood. */
export async function readRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  if (file.format === 'csv' || file.format === 'tsv') {
    return (await import('./csv-rows.ts')).csvRows(file, dataset, reading)
  }
  return (await import('./json-rows.ts')).jsonRows(file, dataset, reading)
}
