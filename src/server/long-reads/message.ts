import type { Principal } from '../access/principal.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'

/** Text, although it is copied: transferred bytes stay in memory until a full garbage collection. */
export type Piece = string | Uint8Array

export interface ThreadData {
  readonly path: string
  /** To read instead of the file. */
  readonly postgres?: PostgresOptions | undefined
  readonly publicUrl: string | undefined
  /** If the server's clock is fixed. */
  readonly fixedTime?: string | undefined
}

/** A request, one more piece was read, or the reader is gone. */
export type ToThread =
  | {
      readonly kind: 'request'
      readonly id: number
      readonly request: RequestContext
      /** Undefined for pages, which authenticate by themselves. */
      readonly principal: Principal | undefined
    }
  | { readonly kind: 'read' | 'gone'; readonly id: number }

/** The reply, pieces of its body, and its end. */
export type FromThread =
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly reply: Omit<Reply, 'body'> & { readonly body: string | null }
      /** The body follows in pieces. */
      readonly streamed: boolean
    }
  | { readonly kind: 'piece'; readonly id: number; readonly piece: Piece }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'broken'; readonly id: number; readonly cause: unknown }

/** Sent before the reader takes them. */
export const maxPiecesAhead = 8
