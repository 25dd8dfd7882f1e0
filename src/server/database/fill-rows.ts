import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row } from './database.ts'

/** Rows held in memory at a time. */
const atOnce = 500

/** Runs statements of the schema, as this database has them. */
export async function define(database: Database, statements: readonly Sql[]): Promise<void> {
  for (const statement of statements) await database.run(database.dialect.ddl(statement))
}

/** Calls back for each row of a table in the order of its key, some hundred at a time. */
export async function eachRow<Shape extends Row>(
  database: Database,
  table: string,
  key: string,
  columns: Sql,
  work: (row: Shape) => Promise<unknown>,
): Promise<void> {
  for (let last: string | undefined; ; ) {
    const rows = await database.all<Shape & { row_key: string }>(sql`
      select ${raw(key)} as row_key, ${columns} from ${raw(table)}
      where ${raw(key)} > ${last ?? ''} order by ${raw(key)} limit ${atOnce}`)
    for (const row of rows) await work(row)
    const end = rows.at(-1)
    if (!end) return
    last = end.row_key
  }
}

/** Sets columns of every row of a table. */
export function fillRows<Shape extends Row>(
  database: Database,
  table: string,
  key: string,
  columns: Sql,
  set: (row: Shape) => Sql,
): Promise<void> {
  return eachRow<Shape & { row_key: string }>(database, table, key, columns, (row) =>
    database.run(sql`update ${raw(table)} set ${set(row)} where ${raw(key)} = ${row.row_key}`),
  )
}
