import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row, Searched, SearchHits, SearchIndex } from '../database.ts'
import { contains } from '../search.ts'

/** Search with pg_trgm. */
export const postgresSearch: SearchIndex = { create, find }

function create(table: Searched): Sql[] {
  return [
    sql`create extension if not exists pg_trgm`,
    sql`create index ${raw(`${table}_search`)} on ${raw(table)} using gin (search_key gin_trgm_ops)`,
  ]
}

async function find(database: Database, table: Searched, text: string): Promise<SearchHits> {
  const ids = sql`select id from ${raw(table)} where ${contains(sql`search_key`, text)}`
  // GIN indexes build a bitmap of all matches first (PostgreSQL, GIN Implementation).
  return { ids, atOnce: { isMoreThan: async (rows) => (await expectedRows(database, ids)) > rows } }
}

/** Returns the planner's estimate of the number of rows, without reading them. */
async function expectedRows(database: Database, statement: Sql): Promise<number> {
  const row = await database.one<Row & { 'QUERY PLAN': string }>(sql`explain (format json) ${statement}`)
  // The format of PostgreSQL, EXPLAIN.
  const [top] = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as {
    readonly Plan: { readonly 'Plan Rows': number }
  }[]
  return top?.Plan['Plan Rows'] ?? 0
}
