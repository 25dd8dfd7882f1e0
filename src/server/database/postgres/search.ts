import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row, Searched, SearchHits, SearchIndex } from '../database.ts'
import { contains } from '../search.ts'

/** The search by pg_trgm. */
export const postgresSearch: SearchIndex = { create, find }

function create(table: Searched): Sql[] {
  return [
    sql`create extension if not exists pg_trgm`,
    sql`create index ${raw(`${table}_search`)} on ${raw(table)} using gin (search_key gin_trgm_ops)`,
  ]
}

async function find(database: Database, table: Searched, text: string): Promise<SearchHits> {
  const ids = sql`select id from ${raw(table)} where ${contains(sql`search_key`, text)}`
  // As every GIN index does (PostgreSQL, GIN Implementation).
  return { ids, atOnce: { isMoreThan: async (rows) => (await expectedRows(database, ids)) > rows } }
}

/** The number of rows that PostgreSQL expects by what it has gathered about the table: it reads none for that. */
async function expectedRows(database: Database, statement: Sql): Promise<number> {
  const row = await database.one<Row & { 'QUERY PLAN': string }>(sql`explain (format json) ${statement}`)
  // As PostgreSQL writes it (PostgreSQL, EXPLAIN).
  const [top] = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as {
    readonly Plan: { readonly 'Plan Rows': number }
  }[]
  return top?.Plan['Plan Rows'] ?? 0
}
