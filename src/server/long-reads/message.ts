import type { Principal } from '../access/principal.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'

/** A piece of a body. Text, although it is copied: transferred bytes stay in memory until a full garbage collection. */
export type Piece = string | Uint8Array

/** Start parameters of a reader thread. */
export interface ThreadData {
  readonly path: string
  /** PostgreSQL database to read instead. */
  readonly postgres?: PostgresOptions | undefined
  readonly publicUrl: string | undefined
  /** Current time, if the server's clock is fixed. */
  readonly fixedTime?: string | undefined
}

/** Messages to a reader thread: a request, one more piece was read, or the reader is gone. */
export type ToThread =
  | {
      readonly kind: 'request'
      readonly id: number
      readonly request: RequestContext
      /** Undefined for pages, which authenticate by themselves. */
      readonly principal: Principal | undefined
    }
  | { readonly kind: 'read' | 'gone'; readonly id: number }

/** Messages from a reader thread: the reply, pieces of its body, and its end. */
export type FromThread =
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly reply: Omit<Reply, 'body'> & { readonly body: string | null }
      /** True if the body follows in pieces. */
      readonly streamed: boolean
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'broken'; readonly id: number; readonly cause: unknown }

/** Maximum pieces sent ahead of the reader. */
export const maxPiecesAhead = 8
