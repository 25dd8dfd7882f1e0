const busyPerSecond = 300
const windowMs = 100

/** Measures how many requests the academy gets. */
export interface RequestLoad {
  /** Counts a request. */
  asked(): void
  /** True if there were more than 300 requests a second recently. */
  isBusy(): boolean
}

/** Measures the requests of the last tenth of a second; `elapsedMs` must be monotonic. */
export function createRequestLoad(elapsedMs: () => number): RequestLoad {
  let requests = 0
  let countedFrom = elapsedMs()
  let isAboveLimit = false
  return {
    asked() {
      requests += 1
      const ms = elapsedMs() - countedFrom
      if (ms < windowMs) return
      isAboveLimit = requests > (busyPerSecond / 1000) * ms
      requests = 0
      countedFrom += ms
    },
    // Busy only until a while after the last request.
    isBusy: () => isAboveLimit && elapsedMs() - countedFrom <= 2 * windowMs,
  }
}
