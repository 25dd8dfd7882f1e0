import type { Sql } from 'sql-template-tag'

export type Cell = string | number | null

export type Row = Readonly<Record<string, Cell>>

/** 64-bit integers, doubles, text, and `json`, which is text that SQL functions read. */
export type ColumnType = 'text' | 'integer' | 'real' | 'json'

export interface Dialect {
  readonly columnTypes: Readonly<Record<ColumnType, string>>
  /** Options that follow the columns in `create table`; `inKeyOrder` stores rows in the order of the primary key. */
  tableOptions(inKeyOrder: boolean): string
  /** Lower-cases text in every script, not only ASCII. */
  folded(text: Sql): Sql
  /** True if the planner knows how many rows a condition leaves; else it must be led. */
  readonly hasStatistics: boolean
  /** True if transactions write concurrently: each then writes rows of its own instead of updating shared counters. */
  readonly hasManyWriters: boolean
  readonly commitOrder: CommitOrder
  /** Skips rows that another transaction has locked. */
  lockedRows(alias: string): Sql
  /** Selects the database's time as `seconds`; undefined if it runs on this machine. */
  readonly clock: Sql | undefined
  /** Counts the connected servers as `servers`; undefined if only programs on this machine can be connected. */
  readonly servers: Sql | undefined
  /** Selects `mark`, which is another one once a transaction has written. */
  readonly writeMark: Sql
  /** For a connection that copies a whole academy into the database. */
  readonly copySettings: readonly Sql[]
  /** Undefined if the database refuses such text. */
  readonly hasNul: ((text: Sql) => Sql) | undefined
  /** A value is not of the type or range of its column. */
  isUnfitValue(error: unknown): boolean
  readonly search: SearchIndex
}

/** Numbers of transactions: a later number is never committed before an earlier one that `finished` lets through. */
interface CommitOrder {
  /** Number of the transaction that writes to `row_changes`. */
  readonly own: Sql
  /** Number that is greater than those of finished transactions only; undefined if they finish one by one. */
  readonly finished: Sql | undefined
}

/** The newest version, of schema/steps.ts. */
export const schemaVersion = 31

export const searched = ['users', 'courses', 'groups'] as const
export type Searched = (typeof searched)[number]

export interface SearchIndex {
  create(table: Searched): Sql[]
  /** Indexes some more rows; true if there are others. Undefined if the database indexes each row as it is written. */
  readonly fill?: (database: Database, table: Searched) => Promise<boolean>
  /** Finds a text of at least three characters, given in lower case. */
  find(table: Searched, text: string): SearchHits
}

/** The rows are candidates: the caller tests each for the text. */
export interface SearchHits {
  readonly ids: Sql
  /** A cheaper statement with the same number of rows, to count them. */
  readonly each?: Sql
}

/**
 * Statements in SQL that every driver accepts. Within a transaction they see its earlier writes; other connections
 * see them after the commit.
 */
export interface Database {
  readonly dialect: Dialect
  /** Undefined without rows. */
  one<Shape extends Row = Row>(query: Sql): Promise<Shape | undefined>
  all<Shape extends Row = Row>(query: Sql): Promise<Shape[]>
  /** In column order. */
  cells(query: Sql): Promise<Cell[][]>
  run(query: Sql): Promise<number>
  /**
   * Streams rows as arrays, some hundred at a time, from one snapshot of the committed data, on a separate connection
   * that `return` releases.
   */
  stream(query: Sql): AsyncIterableIterator<Cell[][]>
}

/**
 * Valid until it ends. Statements run in the order of the calls. Do not await each of several independent ones: over a
 * network they are sent in one round trip.
 */
export interface Transaction extends Database {
  /** Queues a write whose result is not needed. Its error is thrown here, by a later statement or by the commit. */
  queue(query: Sql): void
  /**
   * Makes the transaction conditional: if this finds no row, NotMet is thrown here, by a later statement or by the
   * commit, and nothing is written.
   */
  requireRow(query: Sql): void
  /** Rolls back if `work` throws; the transaction goes on. */
  savepoint<Result>(work: () => Promise<Result>): Promise<Result>
}

/**
 * The port to the database. Each of its own statements is a transaction. Inside `read` and `write` use only the
 * transaction passed to `work`: on a shared connection any other statement would wait for `work` to end, a deadlock.
 */
export interface Store extends Database {
  /** Runs `work` on one snapshot of the data. */
  read<Result>(work: (view: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` in a serializable transaction; rolls back if it throws. After a conflict `work` is called again, so
   * it must touch and await only the database. Throws if another program's lock is not released in time.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Checkpoints and truncates the write-ahead log, which holds earlier states of the data. False if a reader or
   * another program prevents it.
   */
  emptyLog(): Promise<boolean>
  check(): Promise<string[]>
  /** Throws DatabaseError if the files of an open database have been replaced or removed. */
  requireFiles?(): void
  close(): Promise<void>
}

/** The condition of a transaction was not met, so nothing was written. */
export class NotMet extends Error {
  override readonly name = 'NotMet'
}

type DatabaseTrouble = 'unusable' | 'missing' | 'invalid' | 'unreachable' | 'refused'

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

/** Opens at its first use; after a failure the next use tries again. */
export function createDeferredStore(dialect: Dialect, open: () => Promise<Store>): Store {
  let opened: Promise<Store> | undefined

  function store(): Promise<Store> {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    dialect,
    one: async (query) => (await store()).one(query),
    all: async (query) => (await store()).all(query),
    cells: async (query) => (await store()).cells(query),
    run: async (query) => (await store()).run(query),
    async *stream(query) {
      yield* (await store()).stream(query)
    },
    read: async (work) => (await store()).read(work),
    write: async (work) => (await store()).write(work),
    emptyLog: async () => (await store()).emptyLog(),
    check: async () => (await store()).check(),
    close: async () => {
      await (await opened)?.close()
    },
  }
}
