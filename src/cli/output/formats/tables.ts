import type { BinaryFormat } from '../../../config/setting.ts'
import type { EncodedColumn, TableColumn } from '../../../tables/column.ts'
import type { Column } from '../columns.ts'
import type { BinaryEncoder } from './format.ts'

/** Loads the encoder of a file of tables. Its pieces are empty until a part of the file is complete. */
export async function loadTableEncoder(
  format: BinaryFormat,
  columns: readonly EncodedColumn[],
): Promise<BinaryEncoder> {
  const pieces: Uint8Array[] = []
  const sink = (bytes: Uint8Array) => {
    pieces.push(bytes)
  }
  const encoder =
    format === 'parquet'
      ? (await import('../../../tables/parquet.ts')).parquetEncoder(columns, sink)
      : (await import('../../../tables/xlsx.ts')).xlsxEncoder(columns, sink)
  const taken = () => Buffer.concat(pieces.splice(0))
  return {
    rows: async (values) => {
      await encoder.rows(values)
      return taken()
    },
    end: async () => {
      await encoder.end()
      return taken()
    },
  }
}

/**
 * Returns columns with their types and meanings in the data dictionary. A column that it lacks gets its type from its values,
 * as one of another platform does.
 *
 * @param operation the list with the rows; undefined for rows that no operation lists
 * @param own columns that the data dictionary lacks
 */
export async function typeColumns(
  columns: readonly Column[],
  operation: string | undefined,
  own: readonly EncodedColumn[] = [],
): Promise<EncodedColumn[]> {
  const described = await describedColumns(operation)
  const ownByPath = new Map(own.map((column) => [column.path, column]))
  return columns.map(({ path, label }) => ({
    ...(described.get(path) ?? ownByPath.get(path)),
    path,
    name: label,
  }))
}

/** Columns of the data dictionary by path. */
export async function describedColumns(
  operation: string | undefined,
): Promise<ReadonlyMap<string, TableColumn>> {
  const { tables } = await import('../../../tables/dictionary.ts')
  const table = tables.find((each) => each.operation === operation)
  return new Map(table?.columns.map((column) => [column.path, column]))
}
