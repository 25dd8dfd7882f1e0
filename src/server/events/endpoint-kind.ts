import type { Database } from '../database/database.ts'
import type { Claimed } from './claim.ts'
import type { EndpointRow } from './endpoint-row.ts'
import type { Outcome } from './outcome.ts'
import type { OutgoingRequest, Received } from './sender.ts'

export interface EndpointDelivery {
  readonly maxMessages: number
  /** By a server to one endpoint, so that a receiver that hangs blocks no other one; 1 if a delivery has several messages. */
  readonly maxConcurrent: number
  /** Minimum time from one delivery to the next, of all servers together; 0 for none. */
  readonly intervalMs: number
  /**
   * Sends messages, in the order of their creation. Returns the outcome of each, or one for all. If it throws, all
   * have failed without a response.
   */
  readonly deliver: (
    messages: readonly Claimed[],
    delivery: Delivery,
  ) => Promise<Outcome | readonly Outcome[]>
}

export interface Delivery {
  readonly endpoint: EndpointRow
  /** To read names of courses and people. */
  readonly database: Database
  /** URL of the dashboard; null if the server does not know its own address. */
  readonly dashboardUrl: string | null
  readonly now: Date
  /** Time of signatures, which receivers compare with their own. */
  readonly signedAt: Date
  /** Sealed for `secretPlace`. */
  readonly open: (sealed: string) => string
  /** Within the timeout of the delivery; throws network errors and RefusedTarget. */
  readonly post: (request: OutgoingRequest) => Promise<Received>
}
