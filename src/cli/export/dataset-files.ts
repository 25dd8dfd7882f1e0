import { csvText } from '../../codec/csv.ts'
import type { EncodedColumn, Sink, TableEncoder } from '../../tables/column.ts'
import type { DatasetTable } from '../../tables/dataset-tables.ts'
import { openTarget, type TargetFile } from '../terminal/target-file.ts'
import { type DatasetFormat, type RunFile, runPath } from './dataset-folder.ts'

/** Whether a row is there; of an erased user, nothing may be kept. */
type RowState = 'current' | 'removed' | 'erased'

/** A row of the feed: the key of a row, and its fields if it is current. */
export interface ChangedRow {
  readonly table: string
  readonly key: Readonly<Record<string, unknown>>
  readonly state: RowState
  readonly record: Readonly<Record<string, unknown>> | null
}

const changeColumns = [
  {
    name: 'changeNumber',
    path: 'changeNumber',
    type: 'integer',
    meaning:
      'Number of the row over all tables and runs: of rows with the same key, the one with the highest number counts',
  },
  {
    name: 'changeState',
    path: 'changeState',
    type: 'string',
    meaning:
      'current; removed if the row is there no longer; erased if it was a user whose data may not be kept',
  },
] as const satisfies readonly EncodedColumn[]

export function columnsOf({ columns }: DatasetTable): readonly EncodedColumn[] {
  return [...columns, ...changeColumns]
}

export interface RunWriter {
  add(rows: readonly ChangedRow[]): Promise<void>
  rows(): number
  /** Completes the files under their names. */
  finish(): Promise<readonly RunFile[]>
  discard(): Promise<void>
}

interface OpenFile {
  readonly table: string
  readonly path: string
  readonly target: TargetFile
  readonly encoder: TableEncoder
  rows: number
}

/**
 * Opens the files of a run, each with its first row, or all of them at once: each table then has a file with its columns.
 *
 * @param lastChange number of the last row of the run before
 */
export async function openRun(
  directory: string,
  {
    run,
    format,
    lastChange,
    isFull,
    tables,
  }: {
    run: number
    format: DatasetFormat
    lastChange: number
    isFull: boolean
    tables: readonly DatasetTable[]
  },
): Promise<RunWriter> {
  const files = new Map<string, OpenFile>()
  let number = lastChange

  async function open(table: DatasetTable): Promise<OpenFile> {
    const path = runPath(table.name, run, format)
    const target = await openTarget(directory, path, { force: true, mode: 0o600 })
    const encoder = await encoderOf(format, columnsOf(table), (bytes) => target.write(bytes))
    const file = { table: table.name, path, target, encoder, rows: 0 }
    files.set(table.name, file)
    return file
  }

  if (isFull) for (const table of tables) await open(table)
  return {
    async add(rows) {
      for (const [name, own] of Map.groupBy(rows, (row) => row.table)) {
        const table = tables.find((each) => each.name === name)
        // A newer platform may have more tables.
        if (!table) continue
        const file = files.get(name) ?? (await open(table))
        file.rows += own.length
        await file.encoder.rows(
          own.map(({ key, record, state }) => {
            number += 1
            return { ...(record ?? key), changeNumber: number, changeState: state }
          }),
        )
      }
    },
    rows: () => number - lastChange,
    async finish() {
      for (const { encoder } of files.values()) await encoder.end()
      for (const { target } of files.values()) await target.finish()
      return tables.flatMap(({ name }) => {
        const file = files.get(name)
        return file ? [{ table: name, path: file.path, rows: file.rows }] : []
      })
    },
    async discard() {
      for (const { target } of files.values()) await target.discard()
    },
  }
}

async function encoderOf(
  format: DatasetFormat,
  columns: readonly EncodedColumn[],
  sink: Sink,
): Promise<TableEncoder> {
  if (format === 'parquet') return (await import('../../tables/parquet.ts')).parquetEncoder(columns, sink)
  const write = async (text: string) => sink(Buffer.from(text))
  if (format === 'csv') await write(`${columns.map(({ name }) => name).join(',')}\r\n`)
  const line = format === 'csv' ? csvLine : jsonLine
  return {
    rows: (records) => write(records.map((record) => line(columns, record as ChangedRow['key'])).join('')),
    end: async () => {},
  }
}

/** Formats a record of CSV (RFC 4180): null as nothing, empty text as `""`. No text is changed: the files are for programs. */
function csvLine(columns: readonly EncodedColumn[], record: ChangedRow['key']): string {
  const cells = columns.map(({ path }) => {
    const value = record[path] ?? null
    if (value === null) return ''
    if (typeof value !== 'string') return String(value)
    return value === '' ? '""' : csvText(value, true)
  })
  return `${cells.join(',')}\r\n`
}

function jsonLine(columns: readonly EncodedColumn[], record: ChangedRow['key']): string {
  return `${JSON.stringify(Object.fromEntries(columns.map(({ name, path }) => [name, record[path] ?? null])))}\n`
}
