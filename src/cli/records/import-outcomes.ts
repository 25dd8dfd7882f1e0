/** Outcomes of a row; `failed` rows were refused and changed nothing. */
const outcomeKinds = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const
type OutcomeKind = (typeof outcomeKinds)[number]

export type Counts = Readonly<Record<OutcomeKind, number>>

export type RowOutcome =
  | { readonly line: number; readonly kind: Exclude<OutcomeKind, 'failed'> }
  | {
      readonly line: number
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      /** The reason without values of people. */
      readonly shown: string
    }

export type Rejection = Extract<RowOutcome, { kind: 'failed' }>

const zeroCounts: Counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }

export function sumOf(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    updated: one.updated + other.updated,
    unchanged: one.unchanged + other.unchanged,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}

export function countsOf(outcomes: readonly RowOutcome[]): Counts {
  const counts = { ...zeroCounts }
  for (const { kind } of outcomes) counts[kind] += 1
  return counts
}

export function totalOf(counts: Counts): number {
  return outcomeKinds.reduce((total, kind) => total + counts[kind], 0)
}
