import sql, { raw, type Sql } from 'sql-template-tag'
import type { Found } from './narrow.ts'
import { searchNeedle } from './text-key.ts'

/** The tables that can be searched: each has a column `search_key`. */
export type Searched = 'courses' | 'users'

/** More of a text would find nothing else. */
const mostGrams = 50

/** The rows of a table whose search key contains a text, `key` being that column; undefined for white space alone. */
export function found(table: Searched, key: Sql, text: string): Found | undefined {
  const needle = searchNeedle(text)
  if (needle === undefined) return undefined
  return {
    ids: sql`
      select n.id from ${raw(`${table}_search`)} s join ${raw(`${table}_numbers`)} n on n.number = s.rowid
      where ${raw(`${table}_search`)} match ${gramsOf(needle)}`,
    test: sql`${key} like ${`%${needle.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`,
  }
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
 * The index of every three characters in the search keys of a table, for SQLite, with triggers that keep it. A table's
 * rows have numbers of their own here: SQLite may give a row another rowid. What is deleted leaves no trace.
 */
export function searchIndex(table: Searched): Sql[] {
  const [search, numbers] = [`${table}_search`, `${table}_numbers`]
  const add = `insert into ${search} (rowid, text) select number, new.search_key from ${numbers} where id = new.id;`
  const remove = `insert into ${search} (${search}, rowid, text)
    select 'delete', number, old.search_key from ${numbers} where id = old.id;`
  return [
    `create table ${numbers} (number integer primary key, id text not null unique) strict`,
    `create virtual table ${search} using fts5 (text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
    `insert into ${search} (${search}, rank) values ('secure-delete', 1)`,
    `insert into ${numbers} (id) select id from ${table}`,
    `insert into ${search} (rowid, text) select number, search_key from ${numbers} join ${table} using (id) order by number`,
    `create trigger ${table}_search_insert after insert on ${table} begin
      insert into ${numbers} (id) values (new.id);
      ${add}
    end`,
    `create trigger ${table}_search_update after update of search_key on ${table}
    when old.search_key <> new.search_key begin
      ${remove}
      ${add}
    end`,
    `create trigger ${table}_search_delete after delete on ${table} begin
      ${remove}
      delete from ${numbers} where id = old.id;
    end`,
  ].map((statement) => raw(statement))
}
