import sql, { bulk, join, type RawValue, raw, type Sql } from 'sql-template-tag'
import type { Cell, Database } from '../database/database.ts'
import { tables } from '../database/schema/schema.ts'

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly texts: readonly string[]
  /** In the order of the primary key; all columns if there is none. */
  readonly key: readonly string[]
  readonly repeats: boolean
}

/** Tables that belong to one database: their numbers are those of its transactions. */
const ownTables = ['row_changes']

/** Without those of one database; each after those that it references. */
export const copiedTables: readonly CopiedTable[] = tables
  .filter(({ name }) => !ownTables.includes(name))
  .map(({ name, columns, key }) => {
    const names = Object.keys(columns)
    return {
      name,
      columns: names,
      texts: names.filter((column) => ['text', 'json'].includes(columns[column]?.type ?? '')),
      key: key?.split(', ') ?? names,
      repeats: key === undefined,
    }
  })

interface Batch {
  /** In a table with repeated rows, the last cell is the number of repetitions. */
  readonly rows: readonly Cell[][]
  /** Of the last row; null after the last row of the table. */
  readonly next: readonly Cell[] | null
}

interface TableReader {
  /** The first rows for null. */
  after(key: readonly Cell[] | null): Promise<Batch>
}

const maxRows = 500
const firstRows = 50
const targetLength = 2_000_000
/** In SQLite (SQLite, Limits §9); PostgreSQL allows twice as many. */
const maxParameters = 32_766

export function readTable(database: Database, table: CopiedTable): TableReader {
  let limit = firstRows
  const where = table.key.map((name) => table.columns.indexOf(name))

  return {
    async after(key) {
      const rows = await database.cells(rowsAfter(table, key, limit))
      const last = rows.at(-1)
      const isEnd = !last || rows.length < limit
      const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
      if (rows.length > 0)
        limit = Math.max(1, Math.min(maxRows, Math.floor((targetLength * rows.length) / length)))
      return { rows, next: isEnd ? null : where.map((index) => last[index] ?? null) }
    },
  }
}

function lengthOf(row: readonly Cell[]): number {
  return row.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? cell.length : 8), 0)
}

function rowsAfter(table: CopiedTable, key: readonly Cell[] | null, limit: number): Sql {
  const columns = raw(table.columns.join(', '))
  const order = raw(table.key.join(', '))
  const where = key ? sql`where (${order}) > (${join(key)})` : sql``
  return table.repeats
    ? sql`select ${columns}, count(*) from ${raw(table.name)} ${where} group by ${order} order by ${order} limit ${limit}`
    : sql`select ${columns} from ${raw(table.name)} ${where} order by ${order} limit ${limit}`
}

export function timesOf(table: CopiedTable, row: readonly Cell[]): number {
  return table.repeats ? Number(row[table.columns.length]) : 1
}

/** In as few statements as the database allows. */
export async function insertRows(
  database: Database,
  table: CopiedTable,
  rows: readonly Cell[][],
): Promise<void> {
  const width = table.columns.length
  const maxBatchRows = Math.min(maxRows, Math.floor(maxParameters / width))
  let waiting: RawValue[][] = []
  const write = async () => {
    if (waiting.length === 0) return
    await database.run(
      sql`insert into ${raw(table.name)} (${raw(table.columns.join(', '))}) values ${bulk(waiting)}`,
    )
    waiting = []
  }
  for (const row of rows) {
    const cells = table.repeats ? row.slice(0, width) : row
    for (let time = timesOf(table, row); time > 0; time -= 1) {
      waiting.push(cells)
      if (waiting.length === maxBatchRows) await write()
    }
  }
  await write()
}
