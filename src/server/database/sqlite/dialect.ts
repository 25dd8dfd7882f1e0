import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Database, Dialect, Row, Searched, SearchHits, SearchIndex } from '../database.ts'

/**
 * Search with FTS5, maintained by triggers. Rows have separate numbers that are never reused, since SQLite may change
 * a rowid. Deleted text leaves no trace in the index.
 */
export const sqliteSearch = { create, find } satisfies SearchIndex

export const sqliteDialect: Dialect = {
  columnTypes: { text: 'text', integer: 'integer', real: 'real', json: 'text' },
  tableOptions: (inKeyOrder) => (inKeyOrder ? 'strict, without rowid' : 'strict'),
  folded: (text) => sql`lower(${text})`,
  // `!` lifts SQLite's limit of 16 significant digits; 17 round-trip a double.
  exactText: (number) => sql`printf('%!.17g', ${number})`,
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
  // Rows arrive in the order of their keys but change pages in all indexes: a larger cache and fewer checkpoints make a
  // large copy several times faster.
  copySettings: [sql`pragma cache_size = -200000`, sql`pragma wal_autocheckpoint = 20000`],
  // In JSON it is the escape \u0000, unless a further backslash escapes that backslash.
  hasNul: (text) => sql`(instr(${text}, char(0)) > 0 or instr(replace(${text}, '\\\\', ''), '\\u0000') > 0)`,
  // SQLite compares values of any types.
  isUnfitValue: () => false,
  search: sqliteSearch,
}

/** The triggers of the index fill them. */
export const searchNumbers: readonly string[] = ['courses_numbers', 'users_numbers', 'groups_numbers']

/** More would not narrow the result. */
const maxGrams = 50

/** The rarest are queried; rows to probe are for each trigram. */
const maxQueriedGrams = 3
const maxProbedGrams = 16
const maxProbedRows = 32
/** Below this number of rows, finding the rare trigrams costs more than it saves. */
const minRowsToProbe = 20_000

/** One by one each row would cost several times as much. */
const indexedAtOnce = 64

/** @param small up to this number of rows all trigrams of the text are queried */
async function find(
  database: Database,
  table: Searched,
  text: string,
  small = minRowsToProbe,
): Promise<SearchHits> {
  const [search, numbers] = [raw(`${table}_search`), raw(`${table}_numbers`)]
  const grams = (await rarestOf(database, table, gramsOf(text), small)).map(quoteGram).join(' ')
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
 * Returns the rarest trigrams of a text, by the first rows with each: FTS5 reads all rows of each queried trigram,
 * and most trigrams are frequent. The caller tests the matches for the whole text.
 */
async function rarestOf(
  database: Database,
  table: Searched,
  grams: readonly string[],
  small: number,
): Promise<readonly string[]> {
  if (grams.length <= maxQueriedGrams) return grams
  const { last } = (await database.one<Row & { last: number }>(
    sql`select seq as last from sqlite_sequence where name = ${`${table}_numbers`}`,
  )) ?? { last: 0 }
  if (last < small) return grams
  const step = Math.ceil(grams.length / maxProbedGrams)
  const spacings: { readonly gram: string; readonly spacing: number }[] = []
  for (const gram of grams.filter((_, index) => index % step === 0 || index === grams.length - 1)) {
    const first = await database.one<Row & { rows: number; last: number | null }>(sql`
      select count(*) as rows, max(rowid) as last from (
        select rowid from ${raw(`${table}_search`)} where ${raw(`${table}_search`)} match ${quoteGram(gram)} limit ${maxProbedRows})`)
    const { rows = 0, last: at } = first ?? {}
    // A trigram with fewer rows than were probed is rare enough.
    if (rows < maxProbedRows) return [gram]
    spacings.push({ gram, spacing: (at ?? 0) / rows })
  }
  spacings.sort((one, other) => other.spacing - one.spacing)
  return spacings.slice(0, maxQueriedGrams).map(({ gram }) => gram)
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
