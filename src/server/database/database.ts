import type { Sql } from 'sql-template-tag'

/** A value as a column holds it. */
export type Cell = string | number | null

/** A row by column name. */
export type Row = Readonly<Record<string, Cell>>

/** What a column holds: whole numbers of 64 bits, reals of 53, and `json`, which is text that statements look into. */
export type ColumnType = 'text' | 'integer' | 'real' | 'json'

/** What is said differently from one database to the other. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** The types of columns, as `create table` calls them. */
  readonly columnTypes: Readonly<Record<ColumnType, string>>
  /** What follows the columns in `create table`; of a table whose rows are stored in the order of its key. */
  tableOptions(inKeyOrder: boolean): string
  /** A text in lower case, of letters of every script. */
  folded(text: Sql): Sql
  /** A number as text from which the same number is read. */
  exactText(number: Sql): Sql
  /** True where transactions write side by side: what all of them would change is changed in rows of each one's own. */
  readonly hasManyWriters: boolean
  /** Locks the rows that a statement selects of a table, and leaves out those that another transaction has locked. */
  lockedRows(alias: string): Sql
  /** Selects the time of the database in `seconds`; undefined where it is that of this machine. */
  readonly clock: Sql | undefined
  readonly search: SearchIndex
}

/** The tables that can be searched: each has a column `search_key`. */
export type Searched = 'courses' | 'users'

/** An index of every three characters in the search keys of a table. */
export interface SearchIndex {
  /** The statements that make it. */
  create(table: Searched): Sql[]
  /** Looks for a text of three characters or more, which has no upper case in it. */
  find(database: Database, table: Searched, text: string): Promise<SearchHits>
}

/** How the index finds rows. Some of them may not hold the text: each has to be tested. */
export interface SearchHits {
  /** A statement that selects their ids. */
  readonly ids: Sql
  /** A statement of as many rows that costs less. */
  readonly each?: Sql
  /** Set where the index finds all rows before it tells the first one, whatever the limit of the statement. */
  readonly atOnce?: {
    /** True if they are expected to be more than this number, as far as can be told without reading them. */
    isMoreThan(rows: number): Promise<boolean>
  }
}

/**
 * Statements: the same plain SQL for every driver. Those of a transaction see what those before them did, and nobody
 * else does before its end.
 */
export interface Database {
  readonly dialect: Dialect
  /** The first row, or undefined where there is none. */
  one<Shape extends Row = Row>(query: Sql): Promise<Shape | undefined>
  all<Shape extends Row = Row>(query: Sql): Promise<Shape[]>
  /** Rows as arrays in column order. */
  cells(query: Sql): Promise<Cell[][]>
  /** Runs a statement that writes; the number of rows it touched. */
  run(query: Sql): Promise<number>
  /**
   * Rows as arrays, some hundred at a time: from one unchanging view of what is committed, on a connection of their own
   * that `return` gives back.
   */
  stream(query: Sql): AsyncIterableIterator<Cell[][]>
}

/**
 * The statements of one transaction: for whoever was handed it, and no longer than that. They run in the order of the
 * calls; those that do not need each other's answers need not wait for them: on a database at the other end of a network
 * they travel together.
 */
export interface Transaction extends Database {
  /**
   * A statement that writes, and whose answer nobody needs: where it fails, this throws, or whatever comes next, or the
   * end of the transaction.
   */
  later(query: Sql): void
  /**
   * Does nothing of the transaction unless this finds a row: where it finds none, this throws NotMet, or whatever comes
   * next, or the end of the transaction.
   */
  must(query: Sql): void
  /** Undoes what `work` did when it throws, inside a transaction that goes on. */
  savepoint<Result>(work: () => Promise<Result>): Promise<Result>
}

/**
 * The port to the database. Each of its own statements is a transaction of its own; inside `read` and `write` only what
 * `work` is handed may be used: where all share one connection, anything else would wait for the end of that very work.
 */
export interface Store extends Database {
  /** One unchanging view of the data for all reads in `work`. */
  read<Result>(work: (view: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Commits what `work` did, as if nobody else had written meanwhile, or nothing of it when `work` throws. Where another
   * was in the way `work` may be called again: it touches nothing but the database, and waits for nothing else. Throws
   * where the lock of another program is not had in time.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Brings all that is committed into the file, and empties the log beside it, in which earlier states of the data are.
   * False while somebody reads one of those, or another program writes.
   */
  emptyLog(): Promise<boolean>
  /** What is wrong with the database itself; nothing where it is whole. */
  check(): Promise<string[]>
  /** Throws DatabaseError where the files of an open database are not those that it was opened with. */
  requireFiles?(): void
  close(): Promise<void>
}

/** What a transaction was to do only on a condition was not done. */
export class NotMet extends Error {
  override readonly name = 'NotMet'
}

/**
 * Kind of trouble with a database: it cannot be used, it or its academy does not exist, its name is malformed, its server
 * cannot be reached, or refuses the credential.
 */
export type DatabaseTrouble = 'unusable' | 'missing' | 'invalid' | 'unreachable' | 'refused'

/** A database that cannot be used as an academy: what is wrong with it, where it is, and what can be done. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** A path, or a URL without user and password. */
  readonly path: string
  readonly kind: DatabaseTrouble
  readonly hint: string | undefined

  constructor(
    path: string,
    message: string,
    { hint, kind = 'unusable', ...options }: ErrorOptions & { hint?: string; kind?: DatabaseTrouble } = {},
  ) {
    super(message, options)
    this.path = path
    this.kind = kind
    this.hint = hint
  }
}
