import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import {
  assertWellFormed,
  type Cell,
  type ColumnType,
  type EncodedColumn,
  fittingType,
  placeOf,
  type Sink,
  type TableEncoder,
  TableError,
  textOf,
  toCell,
  valueAt,
} from './column.ts'

/** Bytes of values in a row group, about: BigQuery recommends 16 MiB and more, and they are held in memory. */
const maxGroupBytes = 16 * 1024 * 1024
const maxGroupRows = 65_536

/**
 * Creates an encoder of Apache Parquet (format 2.12, https://parquet.apache.org/docs/file-format), compressed with Snappy.
 * Holds the rows of one row group. The first group decides which columns are text because a value does not fit their type; a
 * later value that does not fit throws a TableError.
 */
export function parquetEncoder(columns: readonly EncodedColumn[], sink: Sink): TableEncoder {
  const writer = new SinkWriter(sink)
  const held = columns.map((): unknown[] => [])
  let count = 0
  let heldBytes = 0
  let written = 0
  let types: readonly ColumnType[] | null = null
  let parquet: ParquetWriter | null = null

  async function flush(): Promise<void> {
    types ??= columns.map(({ type }, index) => fittingType(held[index] ?? [], type))
    parquet ??= new ParquetWriter({ writer, schema: schemaOf(columns, types), createdBy: 'learnctl' })
    if (count === 0) return
    const columnData = columns.map((column, index) => ({
      name: column.name,
      // The writer reads one column after another: only one has its values in memory.
      get data() {
        return dataOf(held[index] ?? [], column, types?.[index] ?? 'string', written)
      },
    }))
    await parquet.write({ columnData, rowGroupSize: count })
    written += count
    count = 0
    heldBytes = 0
    for (const values of held) values.length = 0
  }

  return {
    rows: async (records) => {
      for (const record of records) {
        for (const [index, column] of columns.entries()) {
          const value = heldValue(valueAt(record, column.path))
          if (typeof value === 'string') assertWellFormed(value, written + count + 1, column, 'Parquet')
          held[index]?.push(value)
          heldBytes += bytesOf(value)
        }
        count += 1
        if (count >= maxGroupRows || heldBytes >= maxGroupBytes) await flush()
      }
    },
    end: async () => {
      await flush()
      await parquet?.finish()
    },
  }
}

function heldValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? textOf(value) : (value ?? null)
}

function bytesOf(value: unknown): number {
  if (value === null || typeof value === 'boolean') return 5
  return typeof value === 'number' ? 13 : 5 + Buffer.byteLength(String(value))
}

class SinkWriter extends ByteWriter {
  readonly #sink: Sink

  constructor(sink: Sink) {
    super()
    this.#sink = sink
  }

  async flush(): Promise<void> {
    const bytes = this.getBytes().slice()
    this.index = 0
    if (bytes.length > 0) await this.#sink(bytes)
  }

  override async finish(): Promise<void> {
    await this.flush()
  }
}

/** All columns may be null. */
function schemaOf(columns: readonly EncodedColumn[], types: readonly ColumnType[]): SchemaElement[] {
  return [
    { name: 'schema', num_children: columns.length },
    ...columns.map(
      ({ name }, index): SchemaElement => ({
        name,
        repetition_type: 'OPTIONAL',
        ...physical[types[index] ?? 'string'],
      }),
    ),
  ]
}

const physical: Readonly<
  Record<ColumnType, Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type'>>
> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  percent: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  date: { type: 'INT32', converted_type: 'DATE' },
}

function dataOf(values: readonly unknown[], column: EncodedColumn, type: ColumnType, before: number): Cell[] {
  return values.map((value, index) => {
    const cell = toCell(value, type)
    const row = before + index + 1
    if (cell === undefined) {
      throw new TableError(
        'mixed_types',
        `Cannot write ${placeOf(row, column)} as ${type}: it is ${textOf(value).slice(0, 100)}`,
        'Use -o jsonl or csv, or leave the column out with --columns',
      )
    }
    return type === 'integer' && typeof cell === 'number' ? BigInt(cell) : cell
  })
}
