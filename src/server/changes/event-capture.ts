import type { JsonObject } from '../../codec/json-text.ts'
import type { EventType } from '../../contract/actions.ts'
import type { Store, Transaction } from '../database/database.ts'

/** An event as a receiver of Standard Webhooks gets it. */
export interface CapturedEvent {
  /** Value of the header `webhook-id`. */
  readonly id: string
  readonly type: EventType
  /** Time of the change, ISO 8601 in UTC. */
  readonly timestamp: string
  readonly data: JsonObject
  /** The request body, to the byte: JSON with type, timestamp and data. */
  readonly body: string
}

/** Receives the events of a transaction after its commit, in the order of its changes. */
export type OnEvents = (events: readonly CapturedEvent[]) => void

/** A transaction whose store is captured. */
interface Capturing extends Transaction {
  readonly captured: CapturedEvent[]
}

/**
 * Returns a store that passes on the events of each transaction that it commits, whether an endpoint subscribes to them or
 * not. The reply to a request follows after its events.
 */
export function captureEvents(store: Store, onEvents: OnEvents): Store {
  return {
    ...store,
    async write(work) {
      const { result, events } = await store.write(async (transaction) => {
        // A transaction that is repeated after a conflict begins with none.
        const events: CapturedEvent[] = []
        return { result: await work(captured(transaction, events)), events }
      })
      if (events.length > 0) onEvents(events)
      return result
    },
  }
}

/** Returns the list that collects the events of a transaction; undefined if its store is not captured. */
export function capturedEventsOf(transaction: object): CapturedEvent[] | undefined {
  // Copies of a transaction keep the list.
  return 'captured' in transaction ? (transaction as Capturing).captured : undefined
}

function captured(transaction: Transaction, events: CapturedEvent[]): Capturing {
  return {
    ...transaction,
    captured: events,
    async savepoint(work) {
      const { length } = events
      try {
        return await transaction.savepoint(work)
      } catch (error) {
        // Their changes were rolled back.
        events.length = length
        throw error
      }
    },
  }
}
