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
}

/** Outcome of a record that was sent; a failed one changed nothing. */
export type Outcome =
  | {
      readonly kind: 'created' | 'updated' | 'unchanged' | 'skipped'
      readonly warning?: string | null
      /** Id of the record; only for one of several in a batch. */
      readonly id?: string
    }
  | ({ readonly kind: 'failed' } & Refusal)

/** A row that was not imported. */
export interface Rejection {
  readonly line: number
  readonly code: string
  readonly message: string
  /** The reason without values of people. */
  readonly shown: string
}
