import type { Principal } from '../access/principal.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'

/**
 * A piece of a body. Text is copied from one thread to the other: bytes that are handed over need none, but stay in
 * memory until the next full collection of garbage, by which time there are many.
 */
export type Piece = string | Uint8Array

/** What a reader thread is started with. */
export interface ThreadData {
  /** The database file. */
  readonly path: string
  /** The database that is read in its place. */
  readonly postgres?: PostgresOptions | undefined
  readonly publicUrl: string | undefined
  /** The time that it always is, where the server's clock stands still. */
  readonly fixedTime?: string | undefined
}

/** What a reader thread is told: to answer a request, that one more piece was taken, that nobody reads on. */
export type ToThread =
  | {
      readonly kind: 'request'
      readonly id: number
      readonly request: RequestContext
      /** Who asks, where that is known; a page finds it out by itself. */
      readonly principal: Principal | undefined
    }
  | { readonly kind: 'taken' | 'left'; readonly id: number }

/** What it tells: the reply, whose body may follow in pieces, and how that ended. */
export type FromThread =
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly reply: Omit<Reply, 'body'> & { readonly body: string | null }
      /** True where the body follows in pieces. */
      readonly streamed: boolean
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'broken'; readonly id: number; readonly cause: unknown }

/** How many pieces are under way to somebody who has not taken them yet. */
export const piecesAhead = 8
