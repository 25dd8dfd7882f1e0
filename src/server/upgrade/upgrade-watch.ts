/** How far the upgrade of an academy is. */
export interface UpgradeProgress {
  /** From 1 on. */
  readonly step: number
  readonly steps: number
  /** Since it began. */
  readonly elapsedMs: number
}

/** Who is told of the upgrade of a large academy, and can end it. */
export interface UpgradeWatch {
  /** At the beginning of each step, and every ten seconds. */
  readonly onProgress: (progress: UpgradeProgress) => Promise<void>
  /** What was done of a step is lost, that of the steps before it is not. */
  readonly signal: AbortSignal
  /** From which size of its file on; smaller academies are upgraded before anybody would have read of it. */
  readonly largeBytes?: number
  readonly everyMs?: number
}

/** What the process of an upgrade tells. */
export type FromUpgrade =
  | { readonly kind: 'step'; readonly step: number; readonly steps: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly hint?: string | undefined }
