import { setFlagsFromString } from 'node:v8'
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { assertWellFormed, type Cell, fittingType, textOf, toCell } from './cells.ts'
import {
  type ColumnType,
  type EncodedColumn,
  placeOf,
  type Sink,
  type TableEncoder,
  TableError,
} from './column.ts'
import { valueAt } from './paths.ts'

/** Bytes of values in a row group, about: BigQuery recommends 16 MiB and more, and they are held in memory. */
const maxGroupBytes = 16 * 1024 * 1024
const maxGroupRows = 65_536

/**
 * Creates an encoder of Apache Parquet (format 2.12, https://parquet.apache.org/docs/file-format), compressed with Snappy.
 * Holds the rows of one row group. The first group decides which columns are text because a value does not fit their type; a
 * later value that does not fit throws a TableError.
 */
export function parquetEncoder(columns: readonly EncodedColumn[], sink: Sink): TableEncoder {
  boundGarbage()
  const writer = new SinkWriter(sink)
  const isPlain = columns.map(({ path }) => !path.includes('.'))
  const held = columns.map(() => new HeldColumn())
  let count = 0
  let heldBytes = 0
  let written = 0
  let types: readonly ColumnType[] | null = null
  let parquet: ParquetWriter | null = null

  async function flush(): Promise<void> {
    types ??= columns.map(({ type }, index) => fittingType(held[index]?.values() ?? [], type))
    parquet ??= new ParquetWriter({
      writer,
      schema: schemaOf(columns, types),
      createdBy: 'learnctl',
    })
    if (count === 0) return
    const columnData = columns.map((column, index) => ({
      name: column.name,
      // The writer reads one column after another: only one has its values in memory.
      get data() {
        return dataOf(held[index]?.values() ?? [], column, types?.[index] ?? 'string', written)
      },
    }))
    await parquet.write({ columnData, rowGroupSize: count })
    written += count
    count = 0
    heldBytes = 0
    for (const column of held) column.clear()
  }

  return {
    rows: async (records) => {
      for (const record of records) {
        for (const [index, column] of columns.entries()) {
          const { path } = column
          const value = isPlain[index]
            ? (record as Readonly<Record<string, unknown>>)[path]
            : valueAt(record, path)
          if (typeof value === 'string') assertWellFormed(value, written + count + 1, column, 'Parquet')
          heldBytes += held[index]?.push(value) ?? 0
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

/**
 * Makes V8 collect garbage early in the rest of this process. A long export keeps 30 MiB alive, but the young generation grows
 * to 128 MiB, and the old one to several times of what is alive. Both flags are read at each collection.
 */
function boundGarbage(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=100')
}

/** Bytes of a value's kind and end. */
const entryBytes = 5
const kinds = { null: 0, false: 1, true: 2, number: 3, bigint: 4, text: 5 } as const

/**
 * Values of a column until their row group is full, as bytes outside of the heap. Values on the heap would live just long
 * enough to be moved to its old space, where they stay as garbage until the heap has grown several times.
 */
class HeldColumn {
  // A gradebook has thousands of columns: each begins small.
  #bytes = Buffer.allocUnsafeSlow(512)
  #end = 0
  #count = 0
  #kinds = new Uint8Array(64)
  #ends = new Uint32Array(64)

  /** Adds a value, and returns the bytes that it takes. Lists and objects are held as JSON. */
  push(value: unknown): number {
    const start = this.#end
    const kind = this.#append(value)
    if (this.#count === this.#kinds.length) {
      const [earlierKinds, earlierEnds] = [this.#kinds, this.#ends]
      this.#kinds = new Uint8Array(this.#count * 2)
      this.#kinds.set(earlierKinds)
      this.#ends = new Uint32Array(this.#count * 2)
      this.#ends.set(earlierEnds)
    }
    this.#kinds[this.#count] = kind
    this.#ends[this.#count] = this.#end
    this.#count += 1
    return this.#end - start + entryBytes
  }

  #append(value: unknown): number {
    if (value === null || value === undefined) return kinds.null
    if (typeof value === 'boolean') return value ? kinds.true : kinds.false
    if (typeof value === 'number') {
      this.#reserve(8)
      this.#end = this.#bytes.writeDoubleLE(value, this.#end)
      return kinds.number
    }
    const text = textOf(value)
    // UTF-8 has at most three bytes for a UTF-16 unit.
    this.#reserve(text.length * 3)
    this.#end += this.#bytes.write(text, this.#end)
    return typeof value === 'bigint' ? kinds.bigint : kinds.text
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + size))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }

  values(): unknown[] {
    const values = new Array<unknown>(this.#count)
    let start = 0
    for (let index = 0; index < values.length; index += 1) {
      const end = this.#ends[index] ?? start
      values[index] = this.#value(this.#kinds[index] ?? kinds.null, start, end)
      start = end
    }
    return values
  }

  #value(kind: number, start: number, end: number): unknown {
    switch (kind) {
      case kinds.null:
        return null
      case kinds.number:
        return this.#bytes.readDoubleLE(start)
      case kinds.text:
        return this.#bytes.toString('utf8', start, end)
      case kinds.bigint:
        return BigInt(this.#bytes.toString('latin1', start, end))
      default:
        return kind === kinds.true
    }
  }

  clear(): void {
    this.#end = 0
    this.#count = 0
  }
}

/** Passes bytes on after each row group, and starts the buffer anew. */
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

/** Throws a TableError for a value that does not fit the type of earlier rows. */
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
