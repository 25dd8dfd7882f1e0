import type { Cell } from '../database.ts'

/** What a statement answered: the columns by name, rows in their order, and how many rows it returned or changed. */
export interface Answer {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: Cell[][]
  readonly touched: number
}

/**
 * One connection to PostgreSQL. Statements run in the order of the calls; one is sent without waiting for the answers
 * to those before it, and all of one turn of the event loop leave together.
 */
export interface Connection {
  /**
   * @param name the same text is prepared once on this connection under this name; without, it is parsed each time
   */
  query(text: string, values?: Cell[], name?: string): Promise<Answer>
}

/** A connection for one user at a time. */
export interface Lease extends Connection {
  /** Gives it back; one that is broken, or still inside a transaction, is closed instead. */
  release(isBroken?: boolean): void
}

/** Where connections come from. */
export interface Connections {
  /** Throws where none is free in time, and where PostgreSQL takes no other. */
  lease(): Promise<Lease>
  close(): Promise<void>
}
