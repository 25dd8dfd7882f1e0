import type { JsonObject } from '../../codec/json-text.ts'
import type { Dataset } from '../dataset/dataset.ts'

/**
 * Ways to write a record: `put` creates it or changes the existing one, whichever turns out to apply; `create` creates
 * it, or sets it if its dataset is always sent as a whole; `update` changes the fields of the step, in the form of
 * files; `patch` sends them as the body; `delete` deletes it.
 */
export type Deed = 'put' | 'create' | 'update' | 'patch' | 'delete'

/**
 * A write of one record. A planner compares records with those of the platform, makes steps of the differences, and
 * hands them to the executor (`createExecutor`) phase by phase: a phase ends when all its steps are answered, and the
 * planner makes the next one from what is there then. Within a phase, steps are sent side by side, except those that
 * share a lane. `From` is what a planner makes a step of, such as a row, and gets back with the outcome.
 */
export interface Step<From> {
  readonly deed: Deed
  readonly dataset: Dataset
  readonly from: From
  /** Record or fields to send; empty for a deletion. */
  readonly record: JsonObject
  /** Existing record as the API shows it; null for a new one. */
  readonly current?: JsonObject | null
  /** Record whose key finds the one to change, if an earlier phase created it and `current` is null. */
  readonly created?: JsonObject
  /** Changes the record only at this version (If-Match). */
  readonly version?: number | undefined
  /** Sent after earlier steps that share one of these names. */
  readonly lanes?: readonly string[]
  /** Left out if this earlier step was refused; it is in an earlier phase or shares a lane. */
  readonly needs?: Step<From> | null
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
  /** Error that was answered; undefined for an item of a batch. */
  readonly error?: unknown
}

/** Outcome of a step; a refused step changed nothing. */
export type Outcome =
  | {
      readonly kind: 'created' | 'updated' | 'unchanged' | 'skipped' | 'deleted'
      readonly warning?: string | null
      /** The platform's answer; undefined if it was one of several in a batch. */
      readonly shown?: unknown
      /** Id of the record, if it was one of several in a batch. */
      readonly id?: string
    }
  | ({ readonly kind: 'failed' } & Refusal)

/** Steps that are sent and journalled together: a batch, or a single one. */
export interface Unit<From> {
  /** Number over all phases, from 0. The same steps always give the same units. */
  readonly number: number
  readonly steps: readonly Step<From>[]
}

/** State of a unit before it is sent. */
export interface Attempt {
  /** Undefined for a new key. */
  readonly idempotencyKey: string | undefined
  /** Records that the unit is about to be sent; send it only after this resolves. */
  begin(): Promise<void>
}
