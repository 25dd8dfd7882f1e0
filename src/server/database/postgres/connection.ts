import type { Cell } from '../database.ts'

/** Result of a statement: column names, rows in order, and the number of rows returned or changed. */
export interface Answer {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: Cell[][]
  readonly touched: number
}

/**
 * One connection to PostgreSQL. Statements run in the order of the calls and are pipelined: each is sent without
 * waiting for earlier results, and all of one turn of the event loop leave in one write.
 */
export interface Connection {
  /**
   * @param name the same text is prepared once on this connection under this name; without, it is parsed each time
   */
  query(text: string, values?: Cell[], name?: string): Promise<Answer>
}

/** Exclusive use of a connection until it is released. */
export interface Lease extends Connection {
  /** Returns the connection to the pool; closes it if it is broken or still inside a transaction. */
  release(isBroken?: boolean): void
}

/** A source of connections. */
export interface Connections {
  /** Throws if no connection is free in time or PostgreSQL accepts no more. */
  lease(): Promise<Lease>
  close(): Promise<void>
}
