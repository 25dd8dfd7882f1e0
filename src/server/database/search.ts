import sql, { raw, type Sql } from 'sql-template-tag'
import type { Dialect } from './database.ts'
import type { Found } from './narrow.ts'
import { searchNeedle } from './text-key.ts'

/** The tables that can be searched: each has a column `search_key`. */
export type Searched = 'courses' | 'users'

/** The tables beside the index that its triggers fill. */
export const searchNumbers: readonly string[] = ['courses_numbers', 'users_numbers']

/** More of a text would find nothing else. */
const mostGrams = 50

/** So many rows are brought into the index together: one by one would cost each of them several times as much. */
const together = 64

/** The rows of a table whose search key contains a text, `key` being that column; undefined for white space alone. */
export function found(dialect: Dialect, table: Searched, key: Sql, text: string): Found | undefined {
  const needle = searchNeedle(text)
  if (needle === undefined) return undefined
  if (dialect.name === 'postgres') {
    return {
      ids: sql`select id from ${raw(table)} where ${contains(sql`search_key`, needle)}`,
      test: contains(key, needle),
      // As every GIN index (PostgreSQL, GIN Implementation).
      atOnce: true,
    }
  }
  const [search, numbers] = [raw(`${table}_search`), raw(`${table}_numbers`)]
  return {
    ids: sql`
      select id from ${numbers} where number > ${raw(indexedUpTo(table))}
      union all
      select n.id from ${search} s join ${numbers} n on n.number = s.rowid where ${search} match ${gramsOf(needle)}`,
    test: contains(key, needle),
  }
}

/** The number of the last row that the index has been brought up to; the few after it are looked at one by one. */
function indexedUpTo(table: Searched): string {
  return `(select seq - seq % ${together} from sqlite_sequence where name = '${table}_numbers')`
}

/** Whether a text contains another, which has no upper case in it. */
export function contains(text: Sql, part: string): Sql {
  return sql`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
}

/** What FTS5 finds all of: every three characters that follow each other (SQLite, FTS5 §3). */
function gramsOf(needle: string): string {
  const characters = [...needle]
  const grams = new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')))
  return [...grams]
    .slice(0, mostGrams)
    .map((gram) => `"${gram.replaceAll('"', '""')}"`)
    .join(' ')
}

/**
 * The index of every three characters in the search keys of a table. SQLite keeps it by triggers, and a table's
 * rows have numbers of their own here, never used twice: SQLite may give a row another rowid. What is deleted leaves no
 * trace.
 */
export function searchIndex(dialect: Dialect, table: Searched): Sql[] {
  if (dialect.name === 'postgres') {
    return [
      sql`create extension if not exists pg_trgm`,
      sql`create index ${raw(`${table}_search`)} on ${raw(table)} using gin (search_key gin_trgm_ops)`,
    ]
  }
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
    `create trigger ${table}_search_gather after insert on ${numbers} when new.number % ${together} = 0 begin
      insert into ${search} (rowid, text)
        ${keys} where n.number > new.number - ${together} and n.number <= new.number order by n.number;
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
