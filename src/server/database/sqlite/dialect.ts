import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Dialect, Searched, SearchHits } from '../database.ts'

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
  // Rows arrive in the order of their keys but change pages in all indexes: a larger cache makes a large copy several
  // times faster.
  copySettings: [sql`pragma cache_size = -200000`],
  // In JSON it is the escape \u0000, unless a further backslash escapes that backslash.
  hasNul: (text) => sql`(instr(${text}, char(0)) > 0 or instr(replace(${text}, '\\\\', ''), '\\u0000') > 0)`,
  // SQLite compares values of any types.
  isUnfitValue: () => false,
  // With FTS5, maintained by triggers. Rows have separate numbers that are never reused, since SQLite may change a rowid.
  // Deleted text leaves no trace in the index.
  search: { create, find },
}

/** The triggers of the index fill them. */
export const searchNumbers: readonly string[] = ['courses_numbers', 'users_numbers', 'groups_numbers']

/** More would not narrow the result. */
const maxGrams = 50

/** One by one each row would cost several times as much. */
const indexedAtOnce = 64

function find(table: Searched, text: string): SearchHits {
  const [search, numbers] = [raw(`${table}_search`), raw(`${table}_numbers`)]
  const grams = gramsOf(text).map(quoteGram).join(' ')
  const unindexed = sql`from ${numbers} where number > ${raw(indexedUpTo(table))}`
  return {
    ids: sql`
      select id ${unindexed}
      union all
      select n.id from ${search} s join ${numbers} n on n.number = s.rowid where ${search} match ${grams}`,
    each: sql`select 1 ${unindexed} union all select 1 from ${search} where ${search} match ${grams}`,
  }
}

/** The few rows after the last indexed one are scanned. */
function indexedUpTo(table: Searched): string {
  return `(select seq - seq % ${indexedAtOnce} from sqlite_sequence where name = '${table}_numbers')`
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

function create(table: Searched): Sql[] {
  const [search, numbers] = [`${table}_search`, `${table}_numbers`]
  const keys = `select n.number, t.search_key from ${numbers} n join ${table} t on t.id = n.id`
  const last = indexedUpTo(table)
  const remove = `insert into ${search} (${search}, rowid, text)
    select 'delete', number, old.search_key from ${numbers} where id = old.id and number <= ${last};`
  return [
    `create table ${numbers} (number integer primary key autoincrement, id text not null unique) strict`,
    `create virtual table ${search} using fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
    `insert into ${search} (${search}, rank) values ('secure-delete', 1)`,
    `insert into ${numbers} (id) select id from ${table}`,
    `insert into ${search} (rowid, text) ${keys} where n.number <= ${last} order by n.number`,
    `create trigger ${table}_search_insert after insert on ${table} begin
      insert into ${numbers} (id) values (new.id);
    end`,
    `create trigger ${table}_search_gather after insert on ${numbers} when new.number % ${indexedAtOnce} = 0 begin
      insert into ${search} (rowid, text)
        ${keys} where n.number > new.number - ${indexedAtOnce} and n.number <= new.number order by n.number;
    end`,
    `create trigger ${table}_search_update after update of search_key on ${table}
    when old.search_key <> new.search_key begin
      ${remove}
      insert into ${search} (rowid, text)
        select number, new.search_key from ${numbers} where id = new.id and number <= ${last};
    end`,
    `create trigger ${table}_search_delete after delete on ${table} begin
      ${remove}
      delete from ${numbers} where id = old.id;
    end`,
  ].map((statement) => raw(statement))
}
