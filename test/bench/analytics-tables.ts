import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exported } from './export.ts'
import { median, serveAcademy, type Watched } from './measure.ts'
import { atLeast, atMost, type BenchRow } from './row.ts'
import { fillEnrollments, makeEmptyAcademy } from './seed.ts'

/** Rounds of Parquet, and of XLSX: each is a process of its own, which needs no warming up. */
const rounds = 2
const parquetRows = 1_000_000
const xlsxRows = 50_000

/** Measures files of tables: Parquet against hyparquet-writer alone on the same columns, and XLSX, with their memory, and the memory of the command. */
export async function benchTables(bin: string, directory: string): Promise<BenchRow[]> {
  const pairs: (readonly [ours: Written, bare: Written])[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push([
      await write('parquet', parquetRows, join(directory, 'ours.parquet')),
      await write('bare', parquetRows, join(directory, 'bare.parquet')),
    ])
  }
  const books: Written[] = []
  for (let round = 0; round < rounds; round += 1) {
    books.push(await write('xlsx', xlsxRows, join(directory, 'ours.xlsx')))
  }
  const oursMs = median(pairs.map(([ours]) => ours.ms))
  const bareMs = median(pairs.map(([, bare]) => bare.ms))
  const bookMs = median(books.map(({ ms }) => ms))
  const command = await exportParquet(bin, directory)
  return [
    {
      figure: `analytics: ${parquetRows} rows to Parquet`,
      value: median(pairs.map(([ours, bare]) => bare.ms / ours.ms)),
      ...atLeast(0.5),
      from: `${oursMs} ms, hyparquet-writer ${bareMs} ms`,
    },
    {
      figure: 'analytics: memory for Parquet',
      value: Math.max(...pairs.map(([ours]) => ours.peakMiB)),
      ...atMost(300, 'MiB'),
      from: `hyparquet-writer ${Math.max(...pairs.map(([, bare]) => bare.peakMiB))} MiB`,
    },
    {
      figure: 'analytics: memory of analytics export -o parquet',
      value: command.peak,
      ...atMost(300, 'MiB'),
      from: `${parquetRows} rows from a server in ${Math.round(command.ms)} ms`,
    },
    {
      figure: `analytics: ${xlsxRows} rows to XLSX`,
      value: xlsxRows / (bookMs / 1000),
      ...atLeast(5000, 'rows/s'),
      from: `${bookMs} ms, ${Math.max(...books.map(({ peakMiB }) => peakMiB))} MiB`,
    },
  ]
}

/** Exports the learners of a server to Parquet. */
async function exportParquet(bin: string, directory: string): Promise<Watched> {
  const database = join(directory, 'tables.db')
  const key = await makeEmptyAcademy(database)
  fillEnrollments(database, parquetRows)
  const server = await serveAcademy(bin, database, directory, '0')
  try {
    return await exported(bin, server.url, key, join(directory, 'learners.parquet'))
  } finally {
    await server.stop()
  }
}

/** A file that was written by a process of its own. */
interface Written {
  readonly ms: number
  readonly peakMiB: number
}

async function write(how: 'parquet' | 'bare' | 'xlsx', rows: number, path: string): Promise<Written> {
  const module = join(import.meta.dirname, 'bare-tables.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    module,
    how,
    String(rows),
    path,
  ])
  const [ms = Number.NaN, peakMiB = Number.NaN] = stdout.split(' ').map(Number)
  return { ms, peakMiB }
}
