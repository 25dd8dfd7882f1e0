import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Database, Dialect, Searched, SearchHits } from '../database.ts'

export const sqliteDialect: Dialect = {
  columnTypes: { text: 'text', integer: 'integer', real: 'real', json: 'text' },
  tableOptions: (inKeyOrder) => (inKeyOrder ? 'strict, without rowid' : 'strict'),
  folded: (text) => sql`lower(${text})`,
  hasStatistics: false,
  hasManyWriters: false,
  // Only one transaction writes at a time.
  commitOrder: {
    own: sql`(select coalesce(max(commit_order), 0) + 1 from row_changes)`,
    finished: undefined,
  },
  lockedRows: () => empty,
  clock: undefined,
  servers: undefined,
  // By other connections (SQLite, PRAGMA data_version) and by this one.
  writeMark: sql`select data_version || '.' || total_changes() as mark from pragma_data_version`,
  // Rows arrive in the order of their keys but change pages in all indexes: a larger cache is several times faster.
  copySettings: [sql`pragma cache_size = -200000`],
  // In JSON it is the escape \u0000, unless a further backslash escapes that backslash.
  hasNul: (text) => sql`(instr(${text}, char(0)) > 0 or instr(replace(${text}, '\\\\', ''), '\\u0000') > 0)`,
  // SQLite compares values of any types.
  isUnfitValue: () => false,
  // With FTS5. Deleted text leaves no trace in the index.
  search: { create, fill, find },
}

/** More would not narrow the result. */
const maxGrams = 50

function find(table: Searched, text: string): SearchHits {
  const [rows, search] = [raw(table), raw(`${table}_search`)]
  const grams = gramsOf(text).map(quoteGram).join(' ')
  return {
    ids: sql`
      select id from ${rows} where search_number is null
      union all
      select t.id from ${search} s join ${rows} t on t.search_number = s.rowid where ${search} match ${grams}`,
    each: sql`
      select 1 from ${rows} where search_number is null
      union all
      select 1 from ${search} where ${search} match ${grams}`,
  }
}

function gramsOf(needle: string): string[] {
  const characters = [...needle]
  const grams = new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')))
  return [...grams].slice(0, maxGrams)
}

/** SQLite, FTS5 §3.1. */
function quoteGram(gram: string): string {
  return `"${gram.replaceAll('"', '""')}"`
}

/** A row has a number once it is in the index. A trigger that indexes it at once would triple the cost of its insert. */
function create(table: Searched): Sql[] {
  const search = `${table}_search`
  const remove = `insert into ${search} (${search}, rowid, text) values ('delete', old.search_number, old.search_key);`
  return [
    `alter table ${table} add column search_number integer`,
    `create unique index ${table}_by_search_number on ${table} (search_number) where search_number is not null`,
    `create index ${table}_unindexed on ${table} (id) where search_number is null`,
    `create virtual table ${search} using fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
    `insert into ${search} (${search}, rank) values ('secure-delete', 1)`,
    `create trigger ${table}_search_update after update of search_key on ${table}
    when old.search_number is not null and old.search_key <> new.search_key begin
      ${remove}
      insert into ${search} (rowid, text) values (new.search_number, new.search_key);
    end`,
    `create trigger ${table}_search_delete after delete on ${table} when old.search_number is not null begin
      ${remove}
    end`,
  ].map((statement) => raw(statement))
}

/** Other writes wait for some 30 ms. */
const filledAtOnce = 500

async function fill(database: Database, table: Searched): Promise<boolean> {
  const [rows, search] = [raw(table), raw(`${table}_search`)]
  const found = await database.one<{ last: number }>(
    sql`select max(search_number) as last from ${rows} where search_number is not null`,
  )
  const last = found?.last ?? 0
  const filled = await database.run(sql`
    update ${rows} set search_number = numbered.number
    from (
      select id, ${last} + row_number() over (order by id) as number
      from (select id from ${rows} where search_number is null limit ${filledAtOnce})
    ) numbered
    where ${rows}.id = numbered.id`)
  await database.run(sql`
    insert into ${search} (rowid, text)
    select search_number, search_key from ${rows} where search_number > ${last} order by search_number`)
  return filled === filledAtOnce
}
