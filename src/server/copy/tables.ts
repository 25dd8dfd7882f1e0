import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { searchNumbers } from '../database/sqlite/search.ts'

/** A table to copy. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns of type text. */
  readonly texts: readonly string[]
  /** Primary key in order; all columns if there is none. */
  readonly key: readonly string[]
  /** True if equal rows may be repeated. */
  readonly repeats: boolean
}

interface Column extends Row {
  name: string
  type: string
  pk: number
  notnull: number
}

/**
 * Returns all tables except derived ones, each after those that it references. They are those of `model`, an
 * academy of this version in SQLite, for any kind of source.
 */
export async function listCopiedTables(model: Database): Promise<CopiedTable[]> {
  const found = await model.all<Row & { name: string }>(
    sql`select name from pragma_table_list where schema = 'main' and type = 'table' order by name`,
  )
  const names = found
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_') && !searchNumbers.includes(name))
  const parents = new Map<string, readonly string[]>()
  for (const name of names) parents.set(name, await parentsOf(model, name))
  const tables: CopiedTable[] = []
  for (const name of inOrder(parents)) tables.push(await tableOf(model, name))
  return tables
}

async function parentsOf(model: Database, name: string): Promise<string[]> {
  const keys = await model.all(sql`select distinct "table" as name from pragma_foreign_key_list(${name})`)
  return keys.map((key) => String(key['name'])).filter((parent) => parent !== name)
}

function inOrder(parents: ReadonlyMap<string, readonly string[]>): string[] {
  const order: string[] = []
  while (order.length < parents.size) {
    const next = [...parents].find(
      ([name, before]) => !order.includes(name) && before.every((parent) => order.includes(parent)),
    )
    if (!next) throw new Error('Tables refer to each other in a circle')
    order.push(next[0])
  }
  return order
}

async function tableOf(model: Database, name: string): Promise<CopiedTable> {
  const all = await model.all<Column>(
    sql`select name, lower(type) as type, pk, "notnull" from pragma_table_info(${name}) order by cid`,
  )
  const columns = all.map((column) => column.name)
  const keyed = all.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
  const repeats = keyed.length === 0
  if (repeats && all.some(({ notnull }) => notnull === 0)) {
    throw new Error(`${name} has neither a primary key nor a value in each column: its rows have no order`)
  }
  return {
    name,
    columns,
    texts: all.filter(({ type }) => type === 'text').map((column) => column.name),
    key: repeats ? columns : keyed.map((column) => column.name),
    repeats,
  }
}
