import sql, { raw, type Sql } from 'sql-template-tag'
import type { Database, Row, Searched, SearchHits, SearchIndex } from '../database.ts'

/** The tables beside the index that its triggers fill. */
export const searchNumbers: readonly string[] = ['courses_numbers', 'users_numbers']

/** More of a text would find nothing else. */
const mostGrams = 50

/** FTS5 is asked for so many of the rarest; of so many, which are looked at in so many rows each. */
const rarestAsked = 3
const mostProbed = 16
const probedRows = 32
/** In so few rows finding out which are rare takes longer than it saves. */
const fewRows = 20_000

/** So many rows are brought into the index together: one by one would cost each of them several times as much. */
const together = 64

/**
 * The search by FTS5, which triggers keep. A table's rows have numbers of their own here, never used twice: SQLite may give
 * a row another rowid. What is deleted leaves no trace.
 */
export const sqliteSearch = { create, find } satisfies SearchIndex

/** @param small a table of so many rows is searched by all parts of the text */
async function find(database: Database, table: Searched, text: string, small = fewRows): Promise<SearchHits> {
  const [search, numbers] = [raw(`${table}_search`), raw(`${table}_numbers`)]
  const grams = (await rarestOf(database, table, gramsOf(text), small)).map(quoted).join(' ')
  const unindexed = sql`from ${numbers} where number > ${raw(indexedUpTo(table))}`
  return {
    ids: sql`
      select id ${unindexed}
      union all
      select n.id from ${search} s join ${numbers} n on n.number = s.rowid where ${search} match ${grams}`,
    each: sql`select 1 ${unindexed} union all select 1 from ${search} where ${search} match ${grams}`,
  }
}

/**
 * Those that the fewest rows have, as far as the first rows with each of them tell: FTS5 goes through all rows of each
 * that it is asked for, and most of a text's are in very many. What has these is tested for the rest.
 */
async function rarestOf(
  database: Database,
  table: Searched,
  grams: readonly string[],
  small: number,
): Promise<readonly string[]> {
  if (grams.length <= rarestAsked) return grams
  const { last } = (await database.one<Row & { last: number }>(
    sql`select seq as last from sqlite_sequence where name = ${`${table}_numbers`}`,
  )) ?? { last: 0 }
  if (last < small) return grams
  const step = Math.ceil(grams.length / mostProbed)
  const spacings: { readonly gram: string; readonly spacing: number }[] = []
  for (const gram of grams.filter((_, index) => index % step === 0 || index === grams.length - 1)) {
    const first = await database.one<Row & { rows: number; last: number | null }>(sql`
      select count(*) as rows, max(rowid) as last from (
        select rowid from ${raw(`${table}_search`)} where ${raw(`${table}_search`)} match ${quoted(gram)} limit ${probedRows})`)
    const { rows = 0, last: at } = first ?? {}
    // Nothing can be rarer than what few rows have in all.
    if (rows < probedRows) return [gram]
    spacings.push({ gram, spacing: (at ?? 0) / rows })
  }
  spacings.sort((one, other) => other.spacing - one.spacing)
  return spacings.slice(0, rarestAsked).map(({ gram }) => gram)
}

/** The number of the last row that the index has been brought up to; the few after it are looked at one by one. */
function indexedUpTo(table: Searched): string {
  return `(select seq - seq % ${together} from sqlite_sequence where name = '${table}_numbers')`
}

/** Every three characters of a text that follow each other. */
function gramsOf(needle: string): string[] {
  const characters = [...needle]
  const grams = new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')))
  return [...grams].slice(0, mostGrams)
}

/** A text as FTS5 has it in a query (SQLite, FTS5 §3.1). */
function quoted(gram: string): string {
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
