import type { JsonObject } from '../../codec/json-text.ts'

/**
 * A record to create or to change, whichever turns out to apply. `From` is what it is made of, such as a row, and comes back
 * with the outcome.
 */
export interface Step<From> {
  readonly from: From
  readonly record: JsonObject
  /** Sent after earlier steps that share one of these names. */
  readonly lanes: readonly string[]
}

/** Reason why a platform refused a record. */
export interface Refusal {
  readonly code: string
  readonly detail: string
  readonly faults: readonly {
    readonly pointer?: unknown
    readonly parameter?: unknown
    readonly detail?: unknown
  }[]
  /** True if the record may have been written nevertheless. */
  readonly isDoubtful?: boolean
  /** Undefined for an item of a batch. */
  readonly error?: unknown
}

/** A refused step changed nothing. */
export type Outcome =
  | {
      readonly kind: 'created' | 'updated' | 'unchanged' | 'skipped'
      readonly warning?: string | null
      /** Id of the record; only for one of several in a batch. */
      readonly id?: string
    }
  | ({ readonly kind: 'failed' } & Refusal)
