import type { BinaryFormat } from '../../../config/setting.ts'
import type { EncodedColumn, TableColumn } from '../../../tables/column.ts'
import { type Column, pick } from '../columns.ts'

/** Writes a list in pieces that form one valid document. */
export interface ListEncoder {
  rows(values: readonly unknown[]): string
  /** Closes the document; alone, the document of an empty list. */
  end(): string
  hidden?(): readonly string[]
  guarded?(): number
}

/** Pieces may be empty. */
export interface BinaryEncoder extends Pick<ListEncoder, 'hidden' | 'guarded'> {
  rows(values: readonly unknown[]): Promise<Uint8Array>
  end(): Promise<Uint8Array>
}

export type AnyEncoder = ListEncoder | BinaryEncoder

export async function rowBytes(encoder: AnyEncoder, values: readonly unknown[]): Promise<Uint8Array> {
  return bytesOf(await encoder.rows(values))
}

export async function endBytes(encoder: AnyEncoder): Promise<Uint8Array> {
  return bytesOf(await encoder.end())
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === 'string' ? Buffer.from(piece) : piece
}

export interface Format {
  /** Set if the text may be coloured and has its control characters escaped. */
  readonly drawn?: true
  one(value: unknown): string
  /** Pieces hold few items; undefined for a value without iterable members. */
  pieces?(value: object): Iterable<string> | undefined
  list(): ListEncoder
}

/** Null keeps all. */
export function reduceColumns(encoder: ListEncoder, columns: readonly Column[] | null): ListEncoder {
  if (columns === null) return encoder
  return { rows: (values) => encoder.rows(values.map((value) => pick(value, columns))), end: encoder.end }
}

export function hiddenNotes({ hidden }: Pick<ListEncoder, 'hidden'>): string[] {
  const labels = hidden?.() ?? []
  if (labels.length === 0) return []
  const count = labels.length === 1 ? '1 column' : `${labels.length} columns`
  const names = labels.length > maxHidden ? '' : `: ${labels.join(', ')}`
  return [`${count} hidden${names}; use --columns or a wider terminal`]
}

/** Columns that are named; a gradebook may have thousands. */
const maxHidden = 20

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

/** `operation` lists the rows; undefined without one. `own` has columns that the data dictionary lacks. */
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

export async function describedColumns(
  operation: string | undefined,
): Promise<ReadonlyMap<string, TableColumn>> {
  const { tables } = await import('../../../tables/dictionary.ts')
  const table = tables.find((each) => each.operation === operation)
  return new Map(table?.columns.map((column) => [column.path, column]))
}
