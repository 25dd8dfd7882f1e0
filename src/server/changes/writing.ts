import type { Origin } from '../access/principal.ts'
import type { Transaction } from '../database/database.ts'
import type { IdPrefix } from '../database/id.ts'
import type { BulkChange } from './bulk-change.ts'

/** Context of a write that is recorded: transaction, time, actor and origin. */
export interface Writing {
  readonly database: Transaction
  /** ISO 8601 in UTC. */
  readonly now: string
  readonly newId: (prefix: IdPrefix) => string
  readonly principal: Actor
  readonly origin: Origin
  /** The change of many records that the write belongs to. */
  readonly change?: BulkChange | undefined
}

/** User and credential that act; null if unknown. */
export interface Actor {
  readonly userId: string | null
  /** Id of a key, grant or application, `local`, or `browser`. */
  readonly credential: string | null
}
