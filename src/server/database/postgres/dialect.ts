import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dialect, Searched, SearchHits } from '../database.ts'
import { contains } from '../search.ts'
import { sqlStateOf } from './faults.ts'

export const dialect: Dialect = {
  // Text sorts by bytes, as in SQLite, whatever the locale of the database, so cursors stay valid.
  columnTypes: { text: 'text collate "C"', integer: 'bigint', real: 'double precision', json: 'json' },
  tableOptions: () => '',
  // In the collation of the columns lower() folds ASCII only; ICU's is the same on every server.
  folded: (text) => sql`(lower((${text}) collate "und-x-icu") collate "C")`,
  hasStatistics: true,
  hasManyWriters: true,
  // A transaction below xmin has ended, whatever others do (PostgreSQL, Transaction ID and Snapshot Information Functions).
  commitOrder: {
    own: sql`cast(cast(pg_current_xact_id() as text) as bigint)`,
    finished: sql`cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint)`,
  },
  lockedRows: (alias) => raw(`for update of ${alias} skip locked`),
  clock: sql`select extract(epoch from clock_timestamp()) as seconds`,
  servers: sql`
    select count(*) as servers from pg_stat_activity
    where datname = current_database() and application_name = 'learnctl'`,
  // Every transaction that writes changes what is seen.
  writeMark: sql`select pg_current_snapshot()::text as mark`,
  copySettings: [],
  hasNul: undefined,
  // Class 22: data exception (PostgreSQL, Appendix A).
  isUnfitValue: (error) => sqlStateOf(error)?.startsWith('22') ?? false,
  // With pg_trgm.
  search: { create, find },
}

function create(table: Searched): Sql[] {
  return [
    sql`create extension if not exists pg_trgm`,
    sql`create index ${raw(`${table}_search`)} on ${raw(table)} using gin (search_key gin_trgm_ops)`,
  ]
}

function find(table: Searched, text: string): SearchHits {
  return { ids: sql`select id from ${raw(table)} where ${contains(sql`search_key`, text)}` }
}
