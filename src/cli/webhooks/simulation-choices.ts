/** Parts of a delivery that can be changed after signing. */
export const tamperings = ['body', 'id', 'time', 'signature'] as const
export type Tampering = (typeof tamperings)[number]

/** Outcomes of a delivery, as the platform reports them; `refused` if it was not accepted. */
export const outcomes = ['applied', 'duplicate', 'stale', 'ignored', 'unmatched', 'refused'] as const
export type Outcome = (typeof outcomes)[number]
