/** What became of a row; `failed` rows were refused, and changed nothing. */
export const outcomeKinds = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const
export type OutcomeKind = (typeof outcomeKinds)[number]

/** How many rows came to each. */
export type Counts = Readonly<Record<OutcomeKind, number>>

/** What became of one row. */
export type Outcome =
  | { readonly line: number; readonly kind: Exclude<OutcomeKind, 'failed'> }
  | { readonly line: number; readonly kind: 'failed'; readonly code: string; readonly message: string }

/** A row that was refused, and why. */
export type Rejection = Extract<Outcome, { kind: 'failed' }>

/** Of each kind none. */
export const noCounts: Counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }

/** The counts of both together. */
export function sumOf(one: Counts, other: Counts): Counts {
  return {
    created: one.created + other.created,
    updated: one.updated + other.updated,
    unchanged: one.unchanged + other.unchanged,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}

/** How many outcomes there are of each kind. */
export function countsOf(outcomes: readonly Outcome[]): Counts {
  const counts = { ...noCounts }
  for (const { kind } of outcomes) counts[kind] += 1
  return counts
}

/** How many rows there are in all. */
export function totalOf(counts: Counts): number {
  return outcomeKinds.reduce((total, kind) => total + counts[kind], 0)
}
