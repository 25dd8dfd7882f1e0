/** Outcomes of a delivery, as the platform reports them; `refused` if it was not accepted. */
export const outcomes = ['applied', 'duplicate', 'stale', 'ignored', 'unmatched', 'refused'] as const
export type Outcome = (typeof outcomes)[number]
