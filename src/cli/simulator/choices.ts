/** What of a delivery can be changed after it was signed. */
export const tamperings = ['body', 'id', 'time', 'signature'] as const
export type Tampering = (typeof tamperings)[number]

/** What became of a delivery, as the platform tells, or `refused` where it did not take it. */
export const outcomes = ['applied', 'duplicate', 'stale', 'ignored', 'unmatched', 'refused'] as const
export type Outcome = (typeof outcomes)[number]
