import type { Dataset } from '../dataset/dataset.ts'
import type { ColumnMap } from './header.ts'
import type { ImportFile } from './import-file.ts'
import type { Rows } from './row.ts'

/** The rows of a file in whatever form it is. Throws a UsageError on a file that cannot be understood. */
export async function readRows(
  file: ImportFile,
  dataset: Dataset,
  map: ColumnMap,
  delimiter: string | undefined,
): Promise<Rows> {
  if (file.format === 'csv' || file.format === 'tsv') {
    return (await import('./csv-rows.ts')).csvRows(file, dataset, map, delimiter)
  }
  return (await import('./json-rows.ts')).jsonRows(file, dataset, map)
}
