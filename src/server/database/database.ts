import type { Sql } from 'sql-template-tag'

/** A value as a column holds it. */
export type Cell = string | number | null

/** A row by column name. */
export type Row = Readonly<Record<string, Cell>>

/**
 * The port to the database: the same plain SQL for every driver. It is synchronous, because that makes each
 * transaction one uninterrupted piece of the event loop: no two requests can interleave inside one.
 */
export interface Database {
  /** The first row, or undefined where there is none. */
  one<Shape extends Row = Row>(query: Sql): Shape | undefined
  all<Shape extends Row = Row>(query: Sql): Shape[]
  /** Runs a statement that writes; the number of rows it touched. */
  run(query: Sql): number
  /** Rows as arrays in column order, read one by one while the caller goes on. */
  stream(query: Sql): IterableIterator<Cell[]>
  /** Takes the write lock first; commits what `work` did, or nothing of it when `work` throws. */
  transaction<Result>(work: () => Result): Result
  /**
   * Like `transaction`, for many callers at once: writes of the same turn of the event loop share one commit. While
   * another program holds the write lock they wait for it, and the event loop goes on.
   */
  write<Result>(work: () => Result): Promise<Result>
  /** Undoes what `work` did when it throws, inside a transaction that goes on. */
  savepoint<Result>(work: () => Result): Result
  /** One unchanging view of the data for all reads in `work`. */
  snapshot<Result>(work: () => Result): Result
  /** A second connection, for reading one unchanging view over many turns of the event loop; close it. */
  reader(): Database
  /**
   * Brings all that is committed into the file, and empties the log beside it, in which earlier states of the data are.
   * False while somebody reads one of those, or another program writes.
   */
  emptyLog(): boolean
  /** From now on only `write` waits for the lock of another program; anything else fails at once, SQLITE_BUSY. */
  waitNoMore(): void
  close(): void
}

/** A database file that cannot be used as an academy: what is wrong with it, its path, and what can be done. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly path: string
  readonly hint: string | undefined

  constructor(path: string, message: string, { hint, ...options }: ErrorOptions & { hint?: string } = {}) {
    super(message, options)
    this.path = path
    this.hint = hint
  }
}
