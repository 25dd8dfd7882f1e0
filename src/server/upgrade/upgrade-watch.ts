/** Progress of an upgrade. */
export interface UpgradeProgress {
  /** From 1. */
  readonly step: number
  readonly steps: number
  /** Time since the start. */
  readonly elapsedMs: number
}

/** Observes and aborts the upgrade of a large academy. */
export interface UpgradeWatch {
  /** Called at the start of each step, and every ten seconds. */
  readonly onProgress: (progress: UpgradeProgress) => Promise<void>
  /** Aborts the upgrade; completed steps are kept. */
  readonly signal: AbortSignal
  /** Minimum file size for a separate process; smaller academies are upgraded at once. */
  readonly largeBytes?: number
  readonly everyMs?: number
}

/** Messages of the upgrade process. */
export type FromUpgrade =
  | { readonly kind: 'step'; readonly step: number; readonly steps: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly hint?: string | undefined }
